"""Keep rules: which tokens of the prompt reach the model. Each rule is a function of the length n.

A rule returns the ranges of tokens that stay, in order; None means that it lets the prompt alone.
"""
from .ask import Ask


def keep_tail(fault, n):
    """Early Ollama, LM Studio's rolling window: the beginning goes; `head` tokens may stay."""
    if n <= fault.window:
        return None
    head = min(fault.head, fault.window)
    return [(0, head), (n - (fault.window - head), n)]


def keep_head(fault, n):
    return None if n <= fault.window else [(0, fault.window)]


def keep_half(fault, n):
    """Ollama 2026: over the window, a few first tokens and the last half stay (65535 -> 32770)."""
    if n <= fault.window:
        return None
    return [(0, fault.head), (n - (fault.window - fault.head) // 2, n)]


def keep_blocks(fault, n):
    """llama.cpp's server with context shift: whole blocks of half a window go after the head."""
    if n < fault.window:
        return None
    block = (fault.window - fault.head) // 2
    erased = (n - fault.head - block) // block * block
    return [(0, fault.head), (fault.head + erased, n)]


def keep_ends(fault, n):
    """The middle goes: OpenAI-style `truncation: auto`, and many gateways."""
    if n <= fault.window:
        return None
    head = int(fault.window * fault.head_share)
    return [(0, head), (n - (fault.window - head), n)]


def band(fault, n):
    """Only lengths in a band lose their end (or beginning): a bug of chunked prefill."""
    if n < fault.period or n % fault.period >= fault.width:
        return None
    gone = int(n * fault.lose)
    return [(0, n - gone)] if fault.side == "tail" else [(gone, n)]


def hole(fault, n):
    """One chunk of a chunked prefill never reaches the cache; the count knows nothing of it."""
    if n <= fault.at + fault.size:
        return None
    return [(0, fault.at), (fault.at + fault.size, n)]


def keep_share(fault, n):
    """Keeps a share of a prompt over the limit: a history that is trimmed by proportion."""
    return None if n <= fault.limit else [(n - int(n * fault.keep), n)]


RULES = {rule.__name__: rule for rule in (keep_tail, keep_head, keep_half, keep_blocks, keep_ends,
                                          band, hole, keep_share)}


def apply(ask: Ask, config) -> None:
    """Fills ask.kept and ask.n_kept."""
    ask.kept, ask.n_kept = ask.data, ask.n_tokens
    for fault in config.faults.all:
        rule = RULES.get(fault.name)
        if rule is None or not fault.applies(ask):
            continue
        ranges = rule(fault, ask.n_kept)
        if ranges is None:
            continue
        bos = ask.n_tokens - config.tokenizer.count(len(ask.data))
        marker = fault.values.get("marker", "").replace("_", " ").encode()
        parts = [config.tokenizer.cut(ask.kept, first - bos, last - bos)
                 for first, last in ranges if last > first]
        ask.kept = marker.join(parts)
        if fault.name != "hole":  # its prompt was processed; only its cache is wrong
            ask.n_kept = sum(last - first for first, last in ranges)
        ask.cut = True
        ask.notes.append(f"{fault.name} kept {ask.n_kept}")
