"""Does the gradient of learned frequencies, as `gyre analyze --spectrum` shows it at a checkpoint, say
where they move next? Trains a run of the tiny preset with learned frequencies, keeps every checkpoint,
analyses each on rows of the corpus, and prints a line a checkpoint (docs/analyze.md has one such table).

    python testing/spectrum_steps.py --gyre build/release/gyre --corpus FOLDER_OF_TEXTS --out WORK

The slope of a row is noisy, so that it is averaged over --rows rows (128 tokens from all over the texts,
bytes); a pair is `clear` when the mean is over two standard errors from 0. alpha = log(theta / start).
WORK keeps what is done: the same command goes on.
"""
import argparse
import json
import math
import pathlib
import random
import shutil
import statistics
import subprocess
import time

TOKENS, BATCH, LENGTH, EVERY = 819200, 8, 128, 100


def train(program, out):
    """Trains; a checkpoint is kept (hard links) as soon as it is there, because gyre keeps the last two."""
    run, kept = out / "run", out / "checkpoints"
    kept.mkdir(parents=True, exist_ok=True)
    if (run / "train.json").exists():
        return
    job = subprocess.Popen([program, "train", "--preset", "tiny", "--scheme", "lerope", "--layout", "halves",
                            "--length", str(LENGTH), "--batch", str(BATCH), "--tokens", str(TOKENS), "--dtype",
                            "fp32", "--threads", "1", "--checkpoint-every", str(EVERY), "--log-every", "5",
                            "--eval-tokens", "8192", "--out", str(run)], stdout=subprocess.DEVNULL)
    while job.poll() is None:
        time.sleep(0.3)
        for step in (run / "checkpoints").glob("[0-9]*"):
            if not (kept / step.name).exists():
                shutil.copytree(step, kept / step.name)
    if job.returncode:
        raise SystemExit("training failed")


def cut_rows(corpus, out, count):
    texts = [p.read_text(errors="replace") for p in sorted(corpus.rglob("*.txt")) if p.stat().st_size > 20000]
    draw = random.Random(1)
    out.mkdir(exist_ok=True)
    for i in range(count):
        text = draw.choice(texts)
        start = text.index("\n", draw.randrange(len(text) // 10, len(text) - 2000)) + 1
        (out / f"{i}.txt").write_text(text[start:start + 1000])


def as_run(out, step):
    """The run as it was at a checkpoint."""
    then = out / "runs" / step
    if not then.exists():
        (then / "checkpoints").mkdir(parents=True)
        shutil.copytree(out / "checkpoints" / step, then / "checkpoints" / step)
        for name in ("config.json", "manifest.json"):
            shutil.copy(out / "run" / name, then / name)
        for name in ("metrics.jsonl", "frequencies.jsonl"):
            lines = (out / "run" / name).read_text().splitlines(keepends=True)
            (then / name).write_text("".join(x for x in lines if json.loads(x)["step"] <= int(step)))
    return then


def gradients(program, out, step, count):
    """dL/d alpha by row and pair."""
    rows = []
    for i in range(count):
        at = out / "spectra" / f"{step}-{i}"
        if not (at / "analyze.json").exists():
            subprocess.run([program, "analyze", str(as_run(out, step)), "--text", str(out / "rows" / f"{i}.txt"),
                            "--no-builtin", "--no-ablation", "--windows", "1", "--random-rows", "1", "--tokens",
                            str(LENGTH), "--spectrum", "--spectrum-tokens", str(LENGTH), "--threads", "1", "--force",
                            "--out", str(at)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        tables = json.loads((at / "analyze.json").read_text())["spectrum"]["tables"]
        rows.append([pair["theta"] * pair["gradient"] for pair in tables[0]["pairs"]])
    return rows


def agreement(push, moved, pairs):
    """`20 of 32`: pairs that went where the loss falls."""
    pairs = [m for m in pairs if moved[m] != 0.0]
    return sum(push[m] * moved[m] > 0 for m in pairs), len(pairs)


def ranks(values):
    order = sorted(range(len(values)), key=lambda i: values[i])
    return sorted(range(len(values)), key=lambda i: order[i])


def chance(hits, n):
    """Two-sided sign test."""
    tail = sum(math.comb(n, i) for i in range(max(hits, n - hits), n + 1)) / 2 ** n
    return min(1.0, 2 * tail)


def line(alpha, step, rows):
    mean = [statistics.fmean(column) for column in zip(*rows)]
    error = [statistics.stdev(column) / math.sqrt(len(rows)) for column in zip(*rows)]
    push = [-m for m in mean]
    clear = [m for m in range(len(push)) if abs(mean[m]) > 2 * error[m]]
    pairs = range(len(push))
    told = []
    for begin, end in ((step, step + EVERY), (step - EVERY, step)):
        moved = [b - a for a, b in zip(alpha[begin], alpha[end])]
        for chosen in (pairs, clear):
            hits, n = agreement(push, moved, chosen)
            told.append(f"{hits} of {n} ({chance(hits, n):.2g})")
        if begin == step:
            told.append(f"{statistics.correlation(ranks(push), ranks(moved)):+.2f}")
    return f"{step:5} | " + " | ".join(f"{x:16}" for x in told)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gyre", required=True, help="the program")
    parser.add_argument("--corpus", required=True, type=pathlib.Path, help="folder of .txt files")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="folder for everything")
    parser.add_argument("--rows", type=int, default=24, help="rows of text for a gradient")
    parser.add_argument("--steps", help="checkpoints to analyse, as 100,200 [all]")
    arguments = parser.parse_args()
    out = arguments.out
    train(arguments.gyre, out)
    cut_rows(arguments.corpus, out / "rows", arguments.rows)
    alpha = {}
    for each in (out / "run/frequencies.jsonl").read_text().splitlines():
        alpha[json.loads(each)["step"]] = json.loads(each)["alpha"]
    print(" step | next, all pairs  | next, clear      | rank correlation | before, all      | before, clear")
    steps = range(EVERY, TOKENS // (BATCH * LENGTH), EVERY)
    for step in map(int, arguments.steps.split(",")) if arguments.steps else steps:
        if (out / "checkpoints" / str(step)).exists():
            print(line(alpha, step, gradients(arguments.gyre, out, str(step), arguments.rows)), flush=True)


if __name__ == "__main__":
    main()
