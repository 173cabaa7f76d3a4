"""Puts an answer on the wire, byte by byte where a fault wants it: splits, cuts, stalls, gzip."""
import http
import json
import socket
import ssl
import struct
import time
import zlib

from .gate import Refusal

SLOW_BYTES = 20_000  # byte-by-byte writing ends after that many


class Gone(Exception):
    """The connection is closed, by the client or by a fault."""


class Wire:
    """One HTTP answer; `ask` may be None for requests that no fault of an answer concerns."""

    def __init__(self, connection: socket.socket, faults, ask=None, close: bool = False):
        self.connection, self.faults, self.ask = connection, faults, ask
        self.chunked = self.closes = self.started = False
        self.want_close = close
        self.n_body = self.n_raw = 0
        self.packer = None
        self.stalled = False
        self.before_end = lambda: None  # called before the bytes that end a stream
        self.split = self.fault("split")
        self.cut = self.fault("drop") or self.fault("stall")

    def fault(self, name: str):
        return self.faults.find(name, self.ask) if self.ask is not None else None

    # raw bytes
    def send(self, data: bytes) -> None:
        try:
            if self.split is None or self.n_raw > SLOW_BYTES:
                self.connection.sendall(data)
            else:
                for at in range(0, len(data), self.split.bytes):
                    self.connection.sendall(data[at:at + self.split.bytes])
        except OSError as error:
            raise Gone(str(error)) from None
        self.n_raw += len(data)

    def close(self, how: str) -> None:
        """Ends the connection: close, reset (RST), half (only the sending side)."""
        try:
            if how == "reset":
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                           struct.pack("ii", 1, 0))
                self.connection.close()
            elif how == "half":
                self.connection.shutdown(socket.SHUT_WR)
                self.connection.settimeout(5)
                while self.connection.recv(65536):
                    pass
            else:
                self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        raise Gone(how)

    # the header
    def start(self, status: int, headers: dict, length: int | None) -> None:
        """length None: a stream."""
        headers = {key: value for key, value in headers.items() if value is not None}
        packing = self.fault("gzip")
        if packing is not None and (packing.always or packing.mode in self.ask.accepts):
            self.packer = zlib.compressobj(6, zlib.DEFLATED, 31 if packing.mode == "gzip" else 15)
            headers["Content-Encoding"] = packing.mode
            length = None
        self.closes = self.want_close or self.fault("close_delimited") is not None
        if self.closes:
            headers["Connection"] = "close"
        if length is None and self.fault("close_delimited") is None:
            self.chunked = True
            headers["Transfer-Encoding"] = "chunked"
        elif length is not None and self.fault("close_delimited") is None:
            short = self.fault("short_body")
            headers["Content-Length"] = str(length + (short.missing if short else 0))
            self.closes = self.closes or short is not None
        huge = self.fault("huge_line")
        if huge is not None and huge.where == "header":
            headers["X-Filler"] = "x" * huge.bytes
        if self.fault("interim") is not None:
            self.send(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n")
        reason = http.HTTPStatus(status).phrase if status in list(http.HTTPStatus) else "Unknown"
        lines = [f"HTTP/1.1 {status} {reason}"] + [f"{k}: {v}" for k, v in headers.items()]
        self.send_header(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
        self.started = True
        if self.fault("half_close") is not None:
            self.close("half")

    def send_header(self, data: bytes) -> None:
        slow = self.fault("slow_header")
        if slow is None:
            self.send(data)
            return
        for i in range(len(data)):
            self.send(data[i:i + 1])
            time.sleep(slow.ms / 1000)

    # the body
    def write(self, data: bytes) -> None:
        if self.packer is not None:
            data = self.packer.compress(data) + self.packer.flush(zlib.Z_SYNC_FLUSH)
        if self.cut is not None and self.n_body + len(data) > self.cut.after and not self.stalled:
            keep = self.cut.after - self.n_body
            self.put(data[:keep])
            self.ask.notes.append(self.cut.name)
            if self.cut.name == "drop":
                self.close(self.cut.how)
            self.wait(self.cut.ms / 1000)
            self.stalled = True
            data = data[keep:]
        self.put(data)

    def wait(self, seconds: float) -> None:
        """Sleeps, but not longer than the client stays."""
        until = time.monotonic() + seconds
        if isinstance(self.connection, ssl.SSLSocket):  # it cannot be peeked into
            time.sleep(seconds)
            return
        while time.monotonic() < until:
            self.connection.settimeout(min(0.2, max(0.001, until - time.monotonic())))
            try:
                if self.connection.recv(1, socket.MSG_PEEK) == b"":
                    raise Gone("client left")
                time.sleep(0.01)  # it sends its next request already
            except TimeoutError:
                pass
            except OSError as error:
                raise Gone(str(error)) from None
            finally:
                self.connection.settimeout(None)

    def put(self, data: bytes) -> None:
        if not data:
            return
        size = self.split.bytes if self.split is not None and self.n_raw < SLOW_BYTES else len(data)
        for at in range(0, len(data), size):
            part = data[at:at + size]
            self.n_body += len(part)
            self.send(b"%x\r\n%s\r\n" % (len(part), part) if self.chunked else part)

    def finish(self) -> None:
        if self.packer is not None:
            packer, self.packer = self.packer, None
            self.put(packer.flush())
        self.before_end()
        if self.chunked:
            self.send(b"0\r\n\r\n")
        if self.closes or self.fault("silent_close") is not None:
            self.close("close")

    # whole answers
    def json(self, status: int, body, headers: dict | None = None) -> None:
        data = body if isinstance(body, bytes) else encode(body)
        self.start(status, {"Content-Type": "application/json", **(headers or {})}, len(data))
        self.write(data)
        self.finish()

    def refuse(self, refusal: Refusal) -> None:
        if refusal.action == "hang":
            self.wait(600)
            self.close("close")
        if refusal.action:
            self.close("reset" if refusal.action == "reset" else "close")
        self.json(refusal.status, refusal.body, refusal.headers)


def encode(body) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")
