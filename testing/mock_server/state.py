"""What the server remembers between requests: who is in flight, the prefix cache, the log."""
import hashlib
import threading
import time
from collections import OrderedDict, deque
from dataclasses import dataclass

BLOCK = 256  # bytes; the prefix cache works in whole blocks, as paged caches do


@dataclass(eq=False)
class Flight:
    tokens: int
    serial: int
    text: bytes = b""
    alone: bool = True  # nobody else was there when it came
    peak_requests: int = 1  # the most that were in flight while it was
    peak_tokens: int = 0
    stranger: bytes = b""  # text of another request that was there at the same time


class State:
    def __init__(self, cache_blocks: int = 1 << 18, log_entries: int = 10000):
        self.lock = threading.Lock()
        self.started = time.monotonic()
        self.serial = 0
        self.flights: list[Flight] = []
        self.most_in_flight = 0
        self.blocks: OrderedDict[bytes, bool] = OrderedDict()
        self.cache_blocks = cache_blocks
        self.heads: OrderedDict[bytes, bytes] = OrderedDict()  # first bytes -> whole kept text
        self.last_usage: int | None = None
        self.log = deque(maxlen=log_entries)
        self.counts: dict[str, int] = {}
        self.seen: dict[str, int] = {}  # how often faults met a prompt
        self.dead = False

    def next_serial(self) -> int:
        with self.lock:
            self.serial += 1
            return self.serial

    def count(self, what: str) -> None:
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + 1

    def enter(self, tokens: int, serial: int, text: bytes) -> Flight:
        with self.lock:
            flight = Flight(tokens, serial, text, alone=not self.flights)
            if self.flights:
                flight.stranger = self.flights[-1].text
            self.flights.append(flight)
            self.most_in_flight = max(self.most_in_flight, len(self.flights))
            total = sum(f.tokens for f in self.flights)
            for other in self.flights:
                other.peak_requests = max(other.peak_requests, len(self.flights))
                other.peak_tokens = max(other.peak_tokens, total)
                if other is not flight:
                    other.stranger = text
            return flight

    def leave(self, flight: Flight) -> None:
        """Once the client can know that its answer is whole; a second call changes nothing."""
        with self.lock:
            if flight in self.flights:
                self.flights.remove(flight)

    def cached_bytes(self, data: bytes) -> int:
        """How much of the text's beginning was seen before; remembers the text."""
        digest, n, matching = hashlib.blake2b(digest_size=16), 0, True
        with self.lock:
            for at in range(0, len(data) - BLOCK + 1, BLOCK):
                digest.update(data[at:at + BLOCK])
                key = digest.digest()
                matching = matching and key in self.blocks
                n += BLOCK if matching else 0
                self.blocks[key] = True
                self.blocks.move_to_end(key)
            while len(self.blocks) > self.cache_blocks:
                self.blocks.popitem(last=False)
        return n

    def earlier_text(self, head: bytes, data: bytes) -> bytes | None:
        """The text that an earlier request with the same first bytes had; remembers this one."""
        with self.lock:
            earlier = self.heads.get(head)
            if earlier is None:
                self.heads[head] = data
                while len(self.heads) > 64:
                    self.heads.popitem(last=False)
            return earlier

    def swap_usage(self, n: int) -> int | None:
        with self.lock:
            before, self.last_usage = self.last_usage, n
            return before

    def write_log(self, entry: dict) -> None:
        with self.lock:
            self.log.append(entry)

    def summary(self) -> dict:
        with self.lock:
            return {"requests": self.serial, "in_flight": len(self.flights),
                    "most_in_flight": self.most_in_flight, "counts": dict(self.counts),
                    "log": list(self.log)}
