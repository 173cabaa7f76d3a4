"""Who is let in: rates, full slots, windows. What is refused leaves here as a Refusal."""
import email.utils
import time

from . import errors
from .ask import Ask
from .faults import Fault

COUNTS_OUTPUT = ("vllm", "vllm_old", "sglang", "tgi", "openai", "groq",
                 "llamacpp_python")  # prompt + answer must fit


class Refusal(Exception):
    """No answer of the model: a status with a body, or an action on the connection."""

    def __init__(self, status: int = 0, body=b"", headers=None, action: str = ""):
        super().__init__(f"{status} {action}")
        self.status, self.body, self.headers, self.action = status, body, headers or {}, action


def refuse(answer: tuple[int, dict], headers=None) -> Refusal:
    return Refusal(answer[0], answer[1], headers)


def admit(ask: Ask, config, state) -> None:
    """Everything that refuses a request whatever its text says."""
    faults, dialect = config.faults, config.dialect
    fault = faults.find("loading", ask)
    if fault is not None and time.monotonic() - state.started < fault.ms / 1000:
        raise refuse(errors.wrap(dialect, 503, "Loading model", "unavailable_error"),
                     {"Retry-After": "1"})
    fault = faults.find("busy", ask)
    if fault is not None:
        wait_busy(ask, fault, dialect, state)
    fault = faults.find("rate", ask)
    asked = ask.n_sent + (ask.max_tokens or 0)
    if fault is not None and asked > fault.limit:
        ask.notes.append("rate")
        raise refuse(errors.rate_unsatisfiable(dialect, asked, fault.limit, fault.code),
                     {"Retry-After": "1"} if fault.hint else {})
    fault = faults.find("refuse", ask)
    if fault is not None:
        raise Refusal(action=fault.how)
    fault = faults.find("status", ask)
    if fault is not None:
        ask.notes.append(f"status {fault.code}")
        raise plain_status(fault, dialect)


def wait_busy(ask: Ask, fault: Fault, dialect: str, state) -> None:
    with state.lock:
        key = f"busy {ask.prompt_hash}"
        state.seen[key] = state.seen.get(key, 0) + 1
        over = state.seen[key] > fault.times
        if over:
            state.seen.pop(key)
    if over:
        return
    ask.notes.append("busy")
    wait = f"{fault.wait_s:g}"
    date = email.utils.formatdate(time.time() + max(1.0, fault.wait_s), usegmt=True)
    headers = {"seconds": {"Retry-After": wait}, "date": {"Retry-After": date},
               "ms": {"retry-after-ms": f"{1000 * fault.wait_s:g}"}}.get(fault.form, {})
    if fault.form == "none":
        raise refuse(errors.internal(dialect, fault.code))
    raise refuse(errors.busy(dialect, fault.code, fault.wait_s), headers)


def plain_status(fault: Fault, dialect: str) -> Refusal:
    status, body = errors.internal(dialect, fault.code)
    headers = {"Retry-After": str(fault.retry_after)} if fault.retry_after else {}
    if fault.body == "html":
        page = f"<html><head><title>{status}</title></head><body><h1>{status}</h1></body></html>"
        return Refusal(status, page.encode(), {"Content-Type": "text/html", **headers})
    if fault.body == "text":
        return Refusal(status, b"upstream request timeout",
                       {"Content-Type": "text/plain", **headers})
    return Refusal(status, b"" if fault.body == "empty" else body, headers)


def window_of(ask: Ask, config) -> int | None:
    """The window that this request really has; None without limit."""
    fault = config.faults.find("slots", ask)
    if config.window and fault is not None and fault.mode == "divide":
        return config.window // fault.count
    return config.window


def hold_ms(ask: Ask, config) -> float:
    """Faults of concurrency keep requests long enough for them to meet."""
    waits = [0.0]
    for fault in config.faults.all:
        if fault.name in ("slots", "kv_corrupt", "jitter") and fault.applies(ask):
            crowd = fault.values.get("by", "concurrency") == "concurrency" \
                and fault.values.get("mode") != "divide"
            waits.append((fault.hold_ms or 150) if crowd else 0.0)
    return max(waits)


def fit(ask: Ask, config) -> str:
    """Refuses what does not fit the window; or returns how an over-long prompt is answered."""
    pool = config.faults.find("slots", ask)
    if pool is not None and pool.mode == "pool" and config.window and ask.flight is not None:
        together = ask.flight.peak_requests > 1 and ask.flight.peak_tokens > config.window
        if together and not (pool.who == "late" and ask.flight.alone):
            ask.notes.append("pool full")
            status, body = errors.exceeded(config.dialect)
            raise Refusal(pool.code or status, body)
    window = window_of(ask, config)
    if not window or config.faults.has("shift", ask) and ask.n_kept < window:
        return ""
    n_new = ask.max_tokens or 0
    over = ask.n_kept >= window or (config.dialect in COUNTS_OUTPUT and ask.n_kept + n_new > window)
    if not over or ask.cut and ask.n_kept <= window:
        return ""
    fault = config.faults.find("overflow", ask)
    ask.notes.append(f"over {window}")
    if config.faults.find("sse_error", ask) is not None and ask.stream:
        return "sse_error"
    words = config.faults.find("words", ask)
    if fault is None and words is not None:
        raise refuse(errors.overflow_elsewhere(words.style, ask.n_kept, window))
    if fault is None:
        raise refuse(errors.overflow(config.dialect, ask.n_kept, window, n_new,
                                     ask.endpoint == "chat"))
    if fault.mode in ("guess", "empty", "finish_length"):
        return fault.mode
    if fault.mode in ("hang", "close"):
        raise Refusal(action=fault.mode)
    if fault.mode == "500":
        raise refuse(errors.exceeded(config.dialect))
    if fault.mode == "422":
        raise refuse(errors.wrap("tgi", 422, "Input validation error: `inputs` must have less than "
                                 f"{window} tokens. Given: {ask.n_kept}", "validation"))
    raise plain_status(Fault("status", {"code": int(fault.mode), "body": "html", "retry_after": 0}),
                       config.dialect)
