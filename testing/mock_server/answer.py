"""From the text that was kept to what the model writes: sight, garbage, noise, thinking, limits."""
import itertools
from dataclasses import dataclass, field

from . import grammar, lm
from .ask import Ask, BadRequest
from .faults import fraction
from .gate import Refusal, window_of
from .oracle import Answer, Oracle, dress, garbage, invent, sight
from .tokens import pieces, text_of

MOST_PIECES = 200_000  # of an answer that is not streamed


@dataclass
class Result:
    pieces: object  # an iterator over the pieces of the content; may be endless
    reasoning: list[str] = field(default_factory=list)
    n_hidden: int = 0  # tokens of thought that nobody sees
    first: list[tuple[str, float]] = field(default_factory=list)  # next-token distribution
    near: bytes = b""
    finish: str = "stop"  # known when the pieces have been read
    n_out: int = 0  # pieces of content so far


def answer(ask: Ask, config, state, manner: str = "") -> Result:
    """manner: how an over-long prompt is answered, from gate.fit; empty for one that fits."""
    if manner in ("empty", "finish_length"):
        return Result(iter(()), finish="length" if manner == "finish_length" else "stop")
    data = mixed_up(ask, config, state)
    near, far = reach(ask, config, data)
    oracle, full = read(ask, config, near, data)
    found = oracle.answer()
    words = dress(found, config.dials(ask).style, config.seed, ask.prompt_hash) \
        if config.dials(ask) else found.text
    if manner == "guess":
        words = invent("guess", ask.prompt_hash)
    broken = is_broken(ask, config, state, found, full)
    if broken:
        words = garbage(broken, found, full, ask.prompt_hash)
    words = jittered(ask, config, state, words)
    stream = content(ask, config, found, words, oracle, data)
    reasoning, hidden, stream, limit = think(ask, config, stream, words, full)
    result = Result(iter(()), reasoning, hidden, near=near)
    bias = read_bias(ask)
    candidates = {} if broken else found.candidates
    result.first = lm.next_token(next(iter(pieces(words)), "\n"), candidates, near, far, bias,
                                 *logprob_jitter(ask, config, state))
    if found.kind == "stem" and not broken:
        words = result.first[0][0] + "."
        stream = iter([result.first[0][0], "."])
    result.pieces = limited(ask, result, stream, limit)
    return result


def read_bias(ask: Ask) -> dict[int, float]:
    try:
        return {int(token): float(value) for token, value in ask.option("logit_bias", {}).items()}
    except (AttributeError, TypeError, ValueError):
        raise BadRequest("'logit_bias' must map token ids to numbers") from None


def mixed_up(ask: Ask, config, state) -> bytes:
    """Another text than the one that was sent: stale cache entries and cross-talk."""
    fault = config.faults.find("cache_mixup", ask)
    if fault is not None:
        earlier = state.earlier_text(ask.kept[:fault.prefix], ask.kept)
        if earlier is not None and fault.mode == "stale" and earlier != ask.kept:
            ask.notes.append("cache_mixup stale")
            return earlier
        if earlier is not None and fault.mode == "warm" and earlier == ask.kept:
            ask.notes.append("cache_mixup warm")
    fault = config.faults.find("kv_corrupt", ask)
    if fault is not None and ask.flight and ask.flight.peak_requests >= fault.requests:
        ask.notes.append(f"kv_corrupt {fault.mode}")
        if fault.mode == "crosstalk" and ask.flight.stranger:
            return ask.flight.stranger
        if fault.mode == "half":
            return ask.kept[len(ask.kept) // 2:]
    return ask.kept


def reach(ask: Ask, config, data: bytes) -> tuple[bytes, bytes]:
    """What the last position attends to, and what lower layers may have passed on."""
    fault = config.faults.find("swa", ask)
    if fault is None:
        return data, b""
    tokens, n = config.tokenizer, config.tokenizer.count(len(data))
    if n > fault.window:
        ask.notes.append("swa")
    first = max(0, n - fault.window)
    far_first = max(0, n - fault.reach) if fault.reach else 0
    return tokens.cut(data, first, n), tokens.cut(data, min(far_first, first), first)


def read(ask: Ask, config, near: bytes, data: bytes) -> tuple[Oracle, str]:
    text = strip_template(ask, text_of(near))
    dials = config.dials(ask)
    sees = sight(dials, config.seed, ask.n_kept, len(text))
    table = config.faults.find("table", ask)
    if table is not None and table.when == "each":
        def index(evidence) -> float:
            return config.bos + len(text[:evidence.end].encode("utf-8", "surrogatepass")) \
                / config.tokenizer.bytes_per_token
        seen = sees
        sees = lambda evidence: seen(evidence) and index(evidence) < table.limit  # noqa: E731
    return Oracle(text, sees, dials, config.synonyms, config.seed), text


def strip_template(ask: Ask, text: str) -> str:
    """Completions end where their text ends; a chat ends in the assistant's tag."""
    if ask.endpoint != "chat":
        return text
    return text.removesuffix("<|im_end|>\n<|im_start|>assistant\n")


def is_broken(ask: Ask, config, state, found: Answer, text: str) -> str:
    """The kind of garbage that comes instead of an answer, if any does."""
    table = config.faults.find("table", ask)
    if table is not None and table.when != "each":
        ends = [len(text[:e.end].encode("utf-8", "surrogatepass")) for e in found.used]
        last = config.bos + max(ends, default=0) / config.tokenizer.bytes_per_token
        if (ask.n_kept if table.when == "prompt" else last) >= table.limit:
            ask.notes.append("table")
            if table.action != "answer":
                raise Refusal(action=table.action)
            return table.garbage
    fault = config.faults.find("mod", ask)
    if fault is not None and ask.n_kept > fault.above and ask.n_kept % fault.m:
        ask.notes.append("mod")
        return fault.garbage
    fault = config.faults.find("template", ask)
    if fault is not None and fault.mode == "garbage_turns" and ask.n_messages > 1:
        ask.notes.append("template garbage_turns")
        return "gibberish"
    if "kv_corrupt garbage" in ask.notes or "cache_mixup warm" in ask.notes:
        return "wrong"
    return ""


def jitter_strength(ask: Ask, config, state, what: str):
    """The chance of a wrong symbol (or the size of the noise on log-probabilities), now."""
    fault = config.faults.find("jitter", ask)
    if fault is None or fault.what != what:
        return None, 0.0
    if fault.by == "concurrency":
        return fault, fault.p * ((ask.flight.peak_requests if ask.flight else 1) - 1)
    if fault.by == "warm":
        with state.lock:
            key = f"jitter {ask.prompt_hash}"
            state.seen[key] = state.seen.get(key, 0) + 1
            return fault, fault.p if state.seen[key] == 1 else 0.0
    return fault, fault.p


def jittered(ask: Ask, config, state, words: str) -> str:
    fault, p = jitter_strength(ask, config, state, "code")
    if fault is None or fraction("jitter", ask.serial) >= p:
        return words
    places = [i for i, symbol in enumerate(words) if symbol in grammar.ALPHABET]
    if not places:
        return words
    ask.notes.append("jitter")
    at = places[int(fraction("place", ask.serial) * len(places))]
    other = grammar.ALPHABET[(grammar.ALPHABET.index(words[at]) + 1) % len(grammar.ALPHABET)]
    return words[:at] + other + words[at + 1:]


def logprob_jitter(ask: Ask, config, state) -> tuple[float, int]:
    fault, p = jitter_strength(ask, config, state, "logprobs")
    if fault is None or p <= 0:
        return 0.0, 0
    ask.notes.append("jitter")
    return fault.amount, ask.serial


def content(ask: Ask, config, found: Answer, words: str, oracle: Oracle, data: bytes):
    """An iterator over the pieces of the answer, with context shift and endless answers."""
    fault = config.faults.find("endless", ask)
    if fault is not None:
        ask.notes.append("endless")
        ask.unbounded = True
        cycles = {"repeat": ["I", " will", " repeat", " this", "."], "newline": ["\n"],
                  "digits": [" 1", " 2", " 3"]}
        return itertools.cycle(cycles[fault.text])
    if found.count is None or words != found.text:
        return iter(pieces(words))
    return enumeration(ask, config, found, oracle, data)


def enumeration(ask: Ask, config, found: Answer, oracle: Oracle, data: bytes):
    """Counts, then repeats a code; past the window of a shift the oldest half is forgotten."""
    shift = config.faults.find("shift", ask)
    n, gone, code = 0, 0, found.text
    for number in range(found.count[0], found.count[1] + 1):
        for piece in pieces(f"{number}\n"):
            yield piece
            n += 1
        if shift is None or ask.n_kept + n - gone <= shift.window:
            continue
        ask.notes.append("shift")
        if shift.endless:
            ask.unbounded = True
            yield from itertools.cycle(pieces("".join(f"{i}\n" for i in range(number - 9, number))))
        gone += shift.window // 2
        left = text_of(config.tokenizer.cut(data, min(ask.n_kept, gone), ask.n_kept))
        question = f" What is the code of checkpoint {found.asked}?"
        code = Oracle(left + question, dials=oracle.dials, seed=oracle.seed).answer().text
    yield from pieces(code)


def think(ask: Ask, config, stream, words: str, text: str):
    """(reasoning that is shown, tokens that nobody sees, content, its limit)"""
    room = ask.max_tokens if ask.max_tokens is not None else 1 << 40
    window = window_of(ask, config)
    if window and ask.n_kept < window and not ask.cut and not config.faults.has("shift", ask):
        room = min(room, max(0, window - ask.n_kept))
    fault = config.faults.find("think", ask)
    if fault is None:
        return [], 0, stream, room
    ask.notes.append(f"think {fault.mode}")
    thoughts = reasoning_text(fault.budget, words, text)
    if fault.mode in ("in_content", "bare"):
        opening = ["<think>", "\n"] if fault.mode == "in_content" else []
        close = ["\n", "</think>", "\n\n"] if fault.mode == "in_content" else ["\n\n"]
        return [], 0, itertools.chain(opening, thoughts, close, stream), room
    if fault.mode == "field_only":
        return (thoughts[:fault.budget // 8] + list(stream))[:room], 0, iter(()), 0
    cut = thoughts[:room]
    shown = [] if fault.mode == "eat" else cut
    return shown, len(cut) - len(shown), stream, max(0, room - len(cut))


def reasoning_text(budget: int, words: str, text: str) -> list[str]:
    """A chain of thought that names codes of the text and, early, the right one."""
    codes = [e.fields["code"] for e in grammar.read_evidence(text) if e.fields.get("code")][:4]
    thoughts = pieces("Let me see. " + "".join(f"One of them is {code}. " for code in codes)
                      + f"So it could be {words}. But wait. ")
    filler = pieces("I should check the whole text once more before I answer. ")
    return (thoughts + filler * (1 + budget // len(filler)))[:budget]


def limited(ask: Ask, result: Result, stream, limit: int):
    """Passes pieces on up to the limit; says how the answer ended."""
    for piece in stream:
        if result.n_out >= limit and not ask.unbounded:
            result.finish = "length"
            return
        if result.n_out >= MOST_PIECES and not ask.stream:
            return
        result.n_out += 1
        yield piece
