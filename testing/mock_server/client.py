"""A small client for the tests of the mock itself: requests, streams, raw bytes, prompts."""
import http.client
import json
import pathlib
import random
import socket
import sys
import time
from dataclasses import dataclass

if __package__ in (None, ""):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from mock_server import grammar
from mock_server.config import Config
from mock_server.faults import Faults
from mock_server.server import MockServer

NOUNS = ("harbour", "orchard", "tower", "mill", "river", "garden", "bridge", "market")
VERBS = ("stood", "waited", "lay", "rested", "shone", "slept")
ENDS = ("in the morning", "under rain", "near the wall", "after the feast", "without a sound")
KEY = ("ledger", "Oslo", "kettle", "Ada", "May")


def start(*faults: str, **options) -> MockServer:
    return MockServer(Config(faults=Faults(list(faults)), **options))


def code(*seed) -> str:
    rng = random.Random(repr(seed))
    symbols = "".join(rng.choice(grammar.ALPHABET) for _ in range(6))
    return symbols[:3] + "-" + symbols[3:]


def filler(n_bytes: int, seed=0) -> str:
    rng, parts, size = random.Random(seed), [f"Salt {seed}."], 0
    while size < n_bytes:
        parts.append(f"The {rng.choice(NOUNS)} {rng.choice(VERBS)} {rng.choice(ENDS)}.")
        size += len(parts[-1]) + 1
    return " ".join(parts)[:n_bytes]


def roll_call(n_tokens: int, stripes: int = 16, seed=0, both_ends: bool = True) -> tuple[str, list]:
    """A text of about n_tokens (4 bytes each) with a checkpoint in each stripe, and the codes."""
    question = f"List the codes of checkpoints 1 to {stripes} in order."
    codes = [code(seed, i) for i in range(1, stripes + 1)]
    stripe = max(0, (4 * n_tokens - 2 * len(question)) // stripes - 24)
    body = "\n".join(filler(stripe, f"{seed}-{i}") + "\n" + grammar.checkpoint(i + 1, codes[i])
                     for i in range(stripes))
    return (question + "\n" if both_ends else "") + body + "\n" + question, codes


def needle(n_tokens: int, depth: float = 0.5, value: str = "KX7-3QD", seed=0) -> str:
    size = 4 * n_tokens
    return (filler(int(size * depth), f"{seed}a") + "\n" + grammar.record(KEY, value) + "\n"
            + filler(int(size * (1 - depth)), f"{seed}b") + "\n" + grammar.ask_record(KEY))


@dataclass
class Reply:
    status: int
    headers: dict
    data: bytes

    @property
    def json(self) -> dict:
        return json.loads(self.data)

    @property
    def text(self) -> str:
        choice = self.json["choices"][0]
        return choice["message"]["content"] if "message" in choice else choice["text"]

    @property
    def usage(self) -> dict:
        return self.json["usage"]

    @property
    def events(self) -> list:
        """The data of each event; bytes where it is not JSON."""
        found = []
        for block in self.data.decode("utf-8", "replace").split("\n\n"):
            for line in block.split("\n"):
                if line.startswith("data: ") and line != "data: [DONE]":
                    found.append(json.loads(line[6:]))
        return found

    @property
    def streamed(self) -> str:
        deltas = [event["choices"][0] for event in self.events if event.get("choices")]
        return "".join(choice.get("text") or choice.get("delta", {}).get("content") or ""
                       for choice in deltas)


def call(server: MockServer, method: str, path: str, body=None, headers=None, timeout=10) -> Reply:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=timeout)
    try:
        connection.request(method, path, None if body is None else json.dumps(body),
                           {"Content-Type": "application/json", **(headers or {})})
        answer = connection.getresponse()
        return Reply(answer.status, dict(answer.getheaders()), answer.read())
    finally:
        connection.close()


def chat(server: MockServer, text, **more) -> Reply:
    messages = text if isinstance(text, list) else [{"role": "user", "content": text}]
    return call(server, "POST", "/v1/chat/completions", {"messages": messages, **more})


def complete(server: MockServer, text: str, **more) -> Reply:
    return call(server, "POST", "/v1/completions", {"prompt": text, **more})


def raw(server: MockServer, body: dict, path: str = "/v1/chat/completions", timeout=5.0,
        most: int = 1 << 22) -> tuple[bytes, str]:
    """All bytes of the answer, and how it ended: closed, reset or timeout."""
    data = json.dumps(body).encode()
    with socket.create_connection(("127.0.0.1", server.port), timeout=timeout) as connection:
        connection.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                           f"Content-Length: {len(data)}\r\n\r\n".encode() + data)
        got = bytearray()
        try:
            while len(got) < most:
                part = connection.recv(65536)
                if not part:
                    return bytes(got), "closed"
                got += part
        except ConnectionResetError:
            return bytes(got), "reset"
        except TimeoutError:
            return bytes(got), "timeout"
        return bytes(got), "enough"


def idle(server: MockServer, seconds: float = 5.0) -> bool:
    """Whether the server has given up every request by then."""
    until = time.monotonic() + seconds
    while log(server)["in_flight"]:
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def log(server: MockServer) -> dict:
    return call(server, "GET", "/mock/log").json
