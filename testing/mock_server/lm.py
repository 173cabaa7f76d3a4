"""Log-probabilities: a deterministic function of the text that the model saw.

The next token: the answer's first piece or the candidates of a ranking, over fixed priors, with a
small noise that is a hash of the text. So one changed character changes every value a little, and a
text that was never read changes nothing. Prompt tokens (echo): a language model just good enough to
prefer a sentence to its shuffle, and to copy what it has seen.
"""
import math
import re

from .faults import fraction
from .tokens import token_id

WORDS = [" the", " of", " a", " and", " in", "The", "I", " code", " record", " none", "NONE", "\n",
         ".", ",", " it", " is", " to", " that", " A", " X", " K", " on", " for", " by"]
DIGIT_PRIOR = [0.10, 0.16, 0.14, 0.12, 0.10, 0.09, 0.08, 0.08, 0.07, 0.06]
NOISE = 0.05  # of the text within reach of the last position's attention
FAR_NOISE = 0.002  # of text that only lower layers passed on


def next_token(answer_piece: str, candidates: dict, near: bytes, far: bytes, bias: dict,
               jitter: float = 0.0, salt=0) -> list[tuple[str, float]]:
    """(token, log-probability) in falling order; the tokens are the same for every text."""
    weights = {word: 0.004 * (1 + i % 3) for i, word in enumerate(WORDS)}
    for lead in ("", " "):
        for digit, prior in enumerate(DIGIT_PRIOR):
            weights[f"{lead}{digit}"] = prior * (0.2 if candidates else 0.02)
    for token, weight in candidates.items():
        weights[token] = weights.get(token, 0.0) + weight
    if not candidates:
        weights[answer_piece] = weights.get(answer_piece, 0.0) + 4.0
    near_hash, far_hash = fraction("near", near), fraction("far", far)
    scores = {}
    for token, weight in weights.items():
        noise = (NOISE * (fraction(near_hash, token) - 0.5)
                 + FAR_NOISE * (fraction(far_hash, "far", token) - 0.5)
                 + jitter * (fraction("jitter", salt, token) - 0.5))
        scores[token] = math.log(weight) + noise + bias.get(token_id(token.encode()), 0.0)
    total = math.log(sum(math.exp(score) for score in scores.values()))
    ranked = sorted(((score - total, token) for token, score in scores.items()), reverse=True)
    return [(token, round(value, 6)) for value, token in ranked]


def later_token(piece: str, near: bytes, index: int) -> list[tuple[str, float]]:
    """Tokens after the first: nearly certain."""
    own = -0.01 - 0.02 * fraction("later", near[-64:], index)
    rest = [(word, round(-6 - 0.1 * i, 6)) for i, word in enumerate(WORDS) if word != piece]
    return [(piece, round(own, 6))] + rest


FUNCTION = {"the", "a", "an", "of", "in", "on", "at", "to", "for", "with", "by", "is", "was",
            "were", "are", "and", "from"}
ARTICLES = {"the", "a", "an"}
COMMON = FUNCTION | {"he", "she", "it", "they", "cat", "dog", "sat", "mat", "man", "woman", "day",
                     "when", "this", "that", "there", "his", "her", "one"}
WORD_AT = re.compile(r"[A-Za-z]+")
COPY = 12  # characters that must agree for a copy


def prompt_logprobs(text: str, bounds: list[int]) -> list[float | None]:
    """One value a token, the first None; bounds[i] is the character at which token i starts."""
    penalty = word_penalties(text)
    seen: dict[str, int] = {}
    values: list[float | None] = []
    added = 0
    for i, start in enumerate(bounds):
        end = bounds[i + 1] if i + 1 < len(bounds) else len(text)
        if i == 0:
            values.append(None)
            continue
        while added + COPY < start:  # contexts that end before this token
            seen[text[added:added + COPY]] = added + COPY
            added += 1
        before = seen.get(text[start - COPY:start]) if start >= COPY else None
        if before is not None and text[before:before + end - start] == text[start:end]:
            values.append(-0.05)
            continue
        worse = sum(penalty[j] for j in range(start, end) if j in penalty)
        values.append(round(-2.5 - worse - 0.2 * fraction(text[start:end]), 6))
    return values


def word_penalties(text: str) -> dict[int, float]:
    """By the character at which a word starts: what no English sentence does."""
    penalty: dict[int, float] = {}
    before, end = "", 0
    for match in WORD_AT.finditer(text):
        word, gap = match.group(), text[end:match.start()]
        opens = end == 0 or any(mark in gap for mark in ".!?\n")
        worse = 0.0
        if opens and word[0].islower():
            worse += 2.0
        if not opens and word[0].isupper() and word.lower() in COMMON and word != "I":
            worse += 2.0
        natural = word.lower() in ARTICLES and before not in ARTICLES  # of the, is a
        if not opens and before in FUNCTION and word.lower() in FUNCTION and not natural:
            worse += 1.5
        if opens and before in FUNCTION and end:
            worse += 2.0  # a sentence that ended on an article or a preposition
        if re.search(r"[^aeiouyAEIOUY]{6}", word):
            worse += 2.0
        if worse:
            penalty[match.start()] = worse
        before, end = word.lower(), match.end()
    return penalty
