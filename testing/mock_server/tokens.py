"""A tokenizer whose counts anybody can work out: token i is the bytes [floor(i*r), floor((i+1)*r)).

r is bytes per token. A prefix of the text gives a prefix of the tokens, so keep rules cut exactly.
What the model writes is cut into pieces instead (words, digits, symbols), as answers are short.
"""
import math
import re
import zlib

PIECE = re.compile(r" ?[A-Za-z0-9]{1,4}|\s+|[^A-Za-z0-9\s]")


class Tokenizer:
    def __init__(self, bytes_per_token: float = 4.0):
        if not bytes_per_token >= 1:
            raise ValueError(f"bytes per token must be at least 1, got {bytes_per_token}")
        self.bytes_per_token = bytes_per_token

    def start(self, token: int) -> int:
        """The first byte of a token."""
        return math.floor(token * self.bytes_per_token)

    def count(self, n_bytes: int) -> int:
        tokens = math.ceil(n_bytes / self.bytes_per_token)
        while tokens > 0 and self.start(tokens - 1) >= n_bytes:
            tokens -= 1
        while self.start(tokens) < n_bytes:
            tokens += 1
        return tokens

    def cut(self, data: bytes, first: int, last: int) -> bytes:
        """The bytes of tokens [first, last)."""
        return data[self.start(max(0, first)):self.start(max(0, last))]

    def split(self, data: bytes) -> list[bytes]:
        return [self.cut(data, i, i + 1) for i in range(self.count(len(data)))]


def text_of(data: bytes) -> str:
    """Bytes as text; a character that a cut halved becomes U+FFFD, as servers do it."""
    return data.decode("utf-8", errors="replace")


def pieces(text: str) -> list[str]:
    return PIECE.findall(text)


def token_id(token: bytes) -> int:
    return zlib.crc32(token) % 50021
