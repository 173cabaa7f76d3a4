"""One request as the mock understands it: what was sent, and what of it reaches the model.

Here are the faults that lie before the tokens: chat templates that lose messages, bytes that end or
change the text, gateways that cut by characters.
"""
import hashlib
import re
from dataclasses import dataclass, field

from .tokens import text_of


class BadRequest(Exception):
    """The request is malformed; the message goes to the client with HTTP 400."""


@dataclass
class Ask:
    endpoint: str  # chat or completions
    body: dict
    serial: int  # number of this request since the start, from 1
    messages: list[tuple[str, str]]  # role and text; completions: one of role "prompt"
    stream: bool
    max_tokens: int | None
    n_sent: int = 0  # tokens of the prompt as sent, whatever happens to it after
    n_messages: int = 1
    prompt_hash: str = ""
    data: bytes = b""  # what is left of it after the faults of this file
    n_tokens: int = 0  # its tokens
    kept: bytes = b""  # what is left after the keep rules
    n_kept: int = 0
    cached: int = 0  # tokens found in the prefix cache
    flight: object = None  # see state.py
    accepts: str = ""  # encodings the client takes
    cut: bool = False  # a keep rule acted: what is left fits by force
    unbounded: bool = False  # the answer has begun to ignore max_tokens
    notes: list[str] = field(default_factory=list)  # which faults acted; for the log

    def option(self, name: str, default):
        value = self.body.get(name)
        return default if value is None else value


def content_text(content) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text", "") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    if content is None:
        return ""
    raise BadRequest("'content' must be a string or a list of parts")


def read_messages(endpoint: str, body: dict) -> list[tuple[str, str]]:
    if endpoint == "completions":
        prompt = body.get("prompt", "")
        if isinstance(prompt, list) and len(prompt) == 1:
            prompt = prompt[0]
        if not isinstance(prompt, str):
            raise BadRequest("'prompt' must be one string")
        return [("prompt", prompt)]
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise BadRequest("'messages' must be a list with at least one message")
    if not all(isinstance(message, dict) and message.get("role") for message in messages):
        raise BadRequest("each message needs a 'role'")
    return [(message["role"], content_text(message.get("content"))) for message in messages]


def read_limit(body: dict) -> int | None:
    value = body.get("max_completion_tokens", body.get("max_tokens"))
    if value is None or value == -1:  # -1 is llama.cpp's word for no limit
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise BadRequest(f"'max_tokens' must be a whole number, got {value!r}")
    return value


def render(endpoint: str, messages: list[tuple[str, str]]) -> bytes:
    """The chat template (ChatML); completions are sent as they are."""
    if endpoint == "completions":
        text = "".join(text for _, text in messages)
    else:
        text = "".join(f"<|im_start|>{role}\n{text}<|im_end|>\n" for role, text in messages)
        text += "<|im_start|>assistant\n"
    return text.encode("utf-8", errors="surrogatepass")


def read_ask(endpoint: str, body: dict, serial: int, config) -> Ask:
    messages = read_messages(endpoint, body)
    ask = Ask(endpoint, body, serial, messages, bool(body.get("stream")), read_limit(body))
    sent = render(endpoint, messages)
    ask.n_messages = len(messages)
    ask.prompt_hash = hashlib.blake2b(sent, digest_size=8).hexdigest()
    ask.n_sent = config.bos + config.tokenizer.count(len(sent))
    template_faults(ask, config)
    ask.data = render(endpoint, ask.messages)
    byte_faults(ask, config)
    template = config.faults.find("template", ask)
    double = endpoint == "chat" and template is not None and template.mode == "double_bos"
    ask.n_tokens = config.bos + int(double) + config.tokenizer.count(len(ask.data))
    return ask


def last_user(messages: list[tuple[str, str]]) -> int:
    users = [i for i, (role, _) in enumerate(messages) if role == "user"]
    return users[-1] if users else len(messages) - 1


def template_faults(ask: Ask, config) -> None:
    fault = config.faults.find("template", ask)
    if fault is not None and ask.endpoint == "chat":
        last = last_user(ask.messages)
        if fault.mode == "drop_system":
            ask.messages = [m for m in ask.messages if m[0] != "system"]
        elif fault.mode == "drop_question":
            ask.messages = [m for i, m in enumerate(ask.messages) if i != last]
        elif fault.mode == "only_last":
            ask.messages = [ask.messages[last]]
        elif fault.mode == "first_turn":
            ask.messages = [m for i, m in enumerate(ask.messages) if m[0] == "system" or i <= 1]
        elif fault.mode == "eat_end":
            role, text = ask.messages[last]
            ask.messages[last] = (role, text[:max(0, len(text) - fault.chars)])
        ask.notes.append(f"template {fault.mode}")
    fault = config.faults.find("drop_messages", ask)
    if fault is not None:
        drop_messages(ask, config, fault)


def drop_messages(ask: Ask, config, fault) -> None:
    """A history that is trimmed to fit: the oldest turns go, the system message stays."""
    def size() -> int:
        return config.bos + config.tokenizer.count(len(render(ask.endpoint, ask.messages)))
    while size() > fault.window and len(ask.messages) > 1:
        first = next((i for i, m in enumerate(ask.messages[:-1])
                      if m[0] != "system" or not fault.keep_system), None)
        if first is None:
            break
        del ask.messages[first]
        ask.notes.append("drop_messages")
    excess = size() - fault.window
    if excess > 0:  # one message alone is too long: its beginning goes
        role, text = ask.messages[-1]
        gone = config.tokenizer.start(excess)
        ask.messages[-1] = (role, text_of(text.encode("utf-8", "surrogatepass")[gone:]))
        ask.notes.append("drop_messages")


def byte_faults(ask: Ask, config) -> None:
    fault = config.faults.find("bytes", ask)
    if fault is not None:
        before = ask.data
        ask.data = change_bytes(fault.mode, before, b"<|im_end|>\n<|im_start|>assistant\n"
                                if ask.endpoint == "chat" else b"")
        if ask.data != before:
            ask.notes.append(f"bytes {fault.mode}")
    fault = config.faults.find("cut_chars", ask)
    if fault is not None:
        text = text_of(ask.data)
        if len(text) > fault.limit:
            half, mark = fault.limit // 2, fault.marker.replace("_", " ")
            text = {"head": mark + text[-fault.limit:], "tail": text[:fault.limit] + mark,
                    "middle": text[:half] + mark + text[-half:]}[fault.lose]
            ask.data = text.encode("utf-8")
            ask.notes.append(f"cut_chars {fault.lose}")


def change_bytes(mode: str, data: bytes, end: bytes) -> bytes:
    if mode in ("nul", "special"):
        at = data.find(b"\0" if mode == "nul" else b"<|endoftext|>")
        return data if at < 0 else data[:at] + end
    if mode == "crlf":  # everything after the first CR of a CRLF, as some line readers do it
        at = data.find(b"\r\n")
        return data if at < 0 else data[:at] + end
    if mode == "astral":  # UCS-2 in the middle of the chain: the text ends at the first surrogate
        at = re.search(rb"[\xf0-\xf4]", data)
        return data if at is None else data[:at.start()] + end
    return bytes(byte for byte in data if byte >= 0x20 or byte in b"\n\t\r")  # strip: harmless
