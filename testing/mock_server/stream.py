"""Server-sent events: the usual stream, its rare but lawful styles, and its faults."""
import json
import time

from . import errors
from .replies import Scribe
from .wire import Wire, encode

UNKNOWN = {"x_unknown": {"deep": [[[[[[1e308, -0.0, 12345678901234567890]]]]]], "nul": None}}


def send_stream(scribe: Scribe, wire: Wire, delay_s: float, over: bool) -> None:
    """The whole answer as events; delay_s is the time to the first byte of the answer."""
    ask, faults = scribe.ask, scribe.config.faults
    mode = style_of(scribe)
    kind = "application/octet-stream" if mode == "plain_type" else \
        "text/event-stream; charset=utf-8"
    pings = faults.find("pings", ask)
    early = mode == "role_first"  # the stream is open before the prompt is read
    if pings is None and not early:
        wire.wait(delay_s)
    wire.start(200, {"Content-Type": kind, "Cache-Control": "no-cache"}, None)
    if pings is not None:
        send_pings(wire, ask, pings, delay_s)
    if mode == "bom":
        wire.write(b"\xef\xbb\xbf")
    huge = faults.find("huge_line", ask)
    if huge is not None and huge.where != "header":
        ask.notes.append("huge_line")
        send_huge(wire, huge)
    events = with_errors(scribe, faults, over)
    burst, pause = faults.find("burst", ask), faults.find("token_delay", ask)
    held = []
    if early:
        if ask.endpoint == "chat":
            wire.write(form(decorated(scribe.chunk("", role="assistant"), faults, ask), mode))
        wire.wait(delay_s)
    for event in events:
        data = event if isinstance(event, bytes) else form(decorated(event, faults, ask), mode)
        if burst is not None:
            held.append(data)
            continue
        wire.write(data)
        if pause is not None:
            time.sleep(pause.ms / 1000)
    if burst is not None:
        wire.wait(burst.ms / 1000)
        wire.write(b"".join(held))
    wire.finish()


def style_of(scribe: Scribe) -> str:
    style = scribe.config.faults.find("sse_style", scribe.ask)
    usual = "role_first" if scribe.config.dialect == "transformers" else ""
    return style.mode if style is not None else usual


def with_errors(scribe: Scribe, faults, over: bool):
    """Events as objects, or as bytes where a fault wants something that is none."""
    ask, n = scribe.ask, 0
    mode = style_of(scribe)
    error, no_final = faults.find("sse_error", ask), faults.find("sse_no_final", ask)
    bad = faults.find("bad_chunk", ask)
    if error is not None and (over or not error.over) and error.after == 0:
        yield from failure(scribe, error)
        return
    for chunk in scribe.chunks():
        if mode in ("no_role", "role_first") and "role" in chunk["choices"][0].get("delta", {}):
            continue
        yield chunk
        n += 1
        if bad is not None and n == 1:
            ask.notes.append(f"bad_chunk {bad.mode}")
            yield broken_event(chunk, bad.mode)
        if no_final is not None and n == no_final.after:
            break
        if error is not None and (over or not error.over) and n >= error.after:
            yield from failure(scribe, error)
            return
    if no_final is not None:
        ask.notes.append("sse_no_final")
        return
    yield from scribe.ending(inline=mode in ("usage_inline", "role_first"))
    if mode not in ("no_done", "role_first"):
        yield {}


def failure(scribe: Scribe, fault):
    yield error_event(scribe, fault)
    if fault.done:
        yield {}


def error_event(scribe: Scribe, fault):
    ask, config = scribe.ask, scribe.config
    ask.notes.append(f"sse_error {fault.where}")
    if config.dialect == "transformers":  # put around the words by hand, nothing escaped
        words = "CUDA error: device-side assert triggered\nSearch for \"assert\"" \
            if fault.where == "words" else "index out of range in self"
        return b'data: {"error": "' + words.encode() + b'"}\n\n'
    _, body = errors.overflow(config.dialect, ask.n_kept, config.window or ask.n_kept,
                              ask.max_tokens or 0, ask.endpoint == "chat")
    if fault.where == "field":
        return b"error: " + encode(body.get("error", body)) + b"\n\n"
    if fault.where == "event":
        return b"event: error\ndata: " + encode(body) + b"\n\n"
    if fault.where == "finish":
        last = scribe.chunk(finish="error")
        last["choices"][0]["error"] = body.get("error", body)
        return last
    return b"data: " + encode(body) + b"\n\n"


def broken_event(chunk: dict, mode: str) -> bytes:
    data = encode(chunk)
    return {"cut": b"data: " + data[:len(data) // 2] + b"\n\n",
            "html": b"<html><body>502 Bad Gateway</body></html>\n\n",
            "nan": b"data: " + data.replace(b'"index": 0', b'"index": NaN') + b"\n\n",
            "surrogate": b"data: " + data.replace(b'"index": 0', b'"x": "\\ud83d", "index": 0')
                         + b"\n\n",
            "utf8": b"data: " + data.replace(b'"model": "', b'"model": "\xff\xc3\x28\xed\xa0\x80')
                    + b"\n\n",
            "deep": b"data: " + b"[" * 100_000 + b"]" * 100_000 + b"\n\n"}[mode]


def decorated(event: dict, faults, ask) -> dict:
    return {**event, **UNKNOWN} if event and faults.has("nesting", ask) else event


def form(event: dict, mode: str) -> bytes:
    """One event in a style; the empty event is [DONE]."""
    text = json.dumps(event, ensure_ascii=False) if event else "[DONE]"
    data = text.encode("utf-8", "surrogatepass")
    if mode == "no_space":
        return b"data:" + data + b"\n\n"
    if mode == "crlf":
        return b"data: " + data + b"\r\n\r\n"
    if mode == "cr":
        return b"data: " + data + b"\r\r"
    if mode == "comments":
        return b": keep-alive\n\n: another\ndata: " + data + b"\n\n"
    if mode == "event":
        return b"event: message\nid: 7\nretry: 1000\ndata: " + data + b"\n\n"
    if mode == "multiline" and event:
        lines = json.dumps(event, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass")
        return b"".join(b"data: " + line + b"\n" for line in lines.split(b"\n")) + b"\n"
    return b"data: " + data + b"\n\n"


def send_pings(wire: Wire, ask, fault, delay_s: float) -> None:
    ask.notes.append("pings")
    until = time.monotonic() + max(delay_s, fault.for_ms / 1000)
    block = b": ping\n\n" * (1 if fault.every_ms else 8192)
    while fault.for_ms == 0 or time.monotonic() < until:
        wire.write(block)
        if fault.every_ms:
            wire.wait(fault.every_ms / 1000)


def send_huge(wire: Wire, fault) -> None:
    opening = b": " if fault.where == "comment" else b"data: "
    wire.write(opening)
    block = b"x" * 65536
    for at in range(0, fault.bytes, len(block)):
        wire.write(block[:min(len(block), fault.bytes - at)])
    wire.write(b"\n\n")


def send_body(scribe: Scribe, wire: Wire, delay_s: float) -> None:
    """The whole answer as one JSON body."""
    ask, faults = scribe.ask, scribe.config.faults
    wire.wait(delay_s)
    body = scribe.body()
    data = encode(decorated(body, faults, ask))
    bad, empty, huge = (faults.find(name, ask) for name in ("bad_chunk", "empty", "huge_line"))
    if bad is not None:
        ask.notes.append(f"bad_chunk {bad.mode}")
        data = broken_event(body, bad.mode).removeprefix(b"data: ").rstrip(b"\n")
    if empty is not None and empty.mode == "body":
        data = b""
    if huge is not None and huge.where != "header":  # white space is lawful JSON, and no end of it
        ask.notes.append("huge_line")
        data = b" " * huge.bytes + data
    burst = faults.find("burst", ask)
    if burst is not None:
        wire.wait(burst.ms / 1000)
    wire.json(200, data)
