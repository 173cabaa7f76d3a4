"""What logits_parity.py and llamacpp_parity.py share: prompts, gyre's answers, how answers are compared."""
import dataclasses
import json
import pathlib
import subprocess

import numpy as np

PROSE = ("The ship had been three weeks out of harbour when the cook found the first letter, folded "
         "into the bottom of a flour barrel and written in a hand that none of them knew.")
CODE = """def merge(left, right):
    out = []
    while left and right:
        out.append((left if left[0] <= right[0] else right).pop(0))
    return out + left + right


def sort(items):
    if len(items) < 2:
"""
CHINESE = "北京是中华人民共和国的首都。它的历史可以追溯到三千多年前,今天有两千多万人住在这座城市里。"
DIGITS = "3.14159265358979323846264338327950288419716939937510 + 2.718281828459045 = "
MIXED = "Grüße aus Köln 👩‍🚀! Ελλάδα, Россия, भारत, 日本;\n\n  1) x²  2) ½  3) \"…\"\t"


def long_text():
    """About 1,300 tokens in the tokenizers looked at; no sentence twice, some words far apart."""
    people = ["Anna", "the old miller", "Tomas", "a girl from the coast", "the doctor", "Mrs Hale", "nobody"]
    verbs = ["carried", "sold", "painted", "forgot", "repaired", "counted", "hid"]
    things = ["three red lanterns", "a box of nails", "the smaller boat", "eleven letters", "her own map"]
    places = ["behind the church", "near the river", "on the road to Varn", "in the cellar"]
    lines = []
    for i in range(66):
        lines.append(f"On day {i * 7 % 61 + 1}, {people[i % 7]} {verbs[i * 3 % 7]} {things[i % 5]} "
                     f"{places[i % 4]}, {'and' if i % 3 else 'but'} {people[(i * 2 + 3) % 7]} saw it.")
    return " ".join(lines)


PROMPTS = {"prose": PROSE, "code": CODE, "Chinese": CHINESE, "digits": DIGITS, "mixed": MIXED,
           "one word": "The", "long": long_text()}


@dataclasses.dataclass
class Answer:
    ids: list  # of the prompt
    logits: np.ndarray  # [tokens, vocabulary] float32
    greedy: list  # ids that follow


def ask_gyre(program, model, text, dtype, count, folder):
    """What gyre says to one prompt."""
    file = pathlib.Path(folder) / f"gyre-{dtype}-{abs(hash(text))}.npy"  # kept: the answer is a map of it

    def run(*arguments):
        return json.loads(subprocess.run([program, *arguments, "--dtype", dtype, "--json", "-"], check=True,
                                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
    asked = run("logits", str(model), "--text", text, "--npy", str(file))
    row = run("generate", str(model), "--text", text, "--tokens", str(count), "--keep-on")["rows"][0]
    if row["prompt_tokens"] != asked["tokens"]:
        raise SystemExit(f"gyre's verbs disagree on the tokens of {text!r}")
    return Answer(asked["tokens"], np.load(file, mmap_mode="r"), row["tokens"])


def softmax_parts(rows):
    """log-softmax in double."""
    rows = rows.astype(np.float64)
    rows -= rows.max(axis=1, keepdims=True)
    return rows - np.log(np.exp(rows).sum(axis=1, keepdims=True))


def compare(ours, theirs, block=64):
    """Largest difference of a logit, where; mean and largest KL(ours || theirs) over the positions."""
    worst, where, divergences = 0.0, 0, []
    for start in range(0, len(ours), block):
        a, b = np.asarray(ours[start:start + block]), np.asarray(theirs[start:start + block])
        apart = np.abs(a - b).max(axis=1)
        if not np.all(np.isfinite(apart)):
            return float("nan"), start, float("nan"), float("nan")
        if apart.max() > worst:
            worst, where = float(apart.max()), start + int(apart.argmax())
        log_a, log_b = softmax_parts(a), softmax_parts(b)
        divergences.append((np.exp(log_a) * (log_a - log_b)).sum(axis=1))
    divergences = np.concatenate(divergences)
    return worst, where, float(divergences.mean()), float(divergences.max())


def same_greedy(ours, theirs, margins):
    """`64 of 64`, or where the two part and by how little the peer preferred its own token."""
    if not theirs:
        return True, ""
    equal = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), None)
    if equal is None:
        return len(ours) == len(theirs), f"{len(theirs)} of {len(theirs)}"
    return False, f"{equal}, then {ours[equal]} for {theirs[equal]} (peer's margin {margins[equal]:.2g})"


def report(name, dtype, ours, theirs, margins, over):
    """One line of the table; `over(worst, mean_kl)` says what counts as too far, None = only shown."""
    if ours.ids != theirs.ids:
        print(f"{name:9} {dtype:5} TOKENS DIFFER: {ours.ids[:12]} for {theirs.ids[:12]}", flush=True)
        return False
    worst, where, mean, most = compare(ours.logits, theirs.logits)
    same, greedy = same_greedy(ours.greedy, theirs.greedy, margins)
    good = over is None or (same and not over(worst, mean))
    print(f"{name:9} {dtype:5} {len(ours.ids):6} {worst:10.2e} at {where:4}  {mean:9.1e} {most:9.1e}  {greedy}"
          f"{'' if good else '   <- OVER'}", flush=True)
    return good


HEADER = "prompt    type  tokens  max |diff|   where   KL mean    KL max  greedy tokens equal"
