"""Builds what goes back: JSON bodies, stream events, usage, log-probabilities in both shapes."""
import time

from . import lm
from .answer import Result
from .ask import Ask, BadRequest
from .tokens import text_of


class Scribe:
    """Writes the answer to one request."""

    def __init__(self, ask: Ask, config, state, result: Result):
        self.ask, self.config, self.state, self.result = ask, config, state, result
        self.top = wanted_logprobs(ask, config)
        self.shape = logprob_shape(ask, config)
        echo = config.faults.find("echo", ask)
        if echo is not None and echo.mode == "refused" and ask.option("echo", False):
            ask.notes.append("echo refused")
            raise BadRequest("echo is not supported with logprobs")
        think = config.faults.find("think", ask)
        self.thought = "reasoning" if think and think.mode == "reasoning" else "reasoning_content"
        kind = "chat.completion" if ask.endpoint == "chat" else "text_completion"
        self.frame = {"id": f"mock-{ask.serial}", "created": int(time.time()),
                      "model": ask.option("model", config.model), "object": kind}

    def finish(self) -> str:
        fault = self.config.faults.find("finish", self.ask)
        return fault.word if fault is not None and self.result.finish == "stop" \
            else self.result.finish

    # log-probabilities
    def entry(self, index: int, piece: str) -> tuple[str, list]:
        result = self.result
        ranked = result.first if index == 0 else lm.later_token(piece, result.near, index)
        if not any(token == piece for token, _ in ranked):
            ranked = ranked + [(piece, -9.0)]
        return piece, ranked

    def shown(self, entries: list, offset: int = 0) -> dict | None:
        if self.top is None:
            return None
        if self.shape == "content":
            return {"content": [self.chat_entry(piece, ranked) for piece, ranked in entries]}
        offsets = []
        for piece, _ in entries:
            offsets.append(offset)
            offset += len(piece)
        return {"tokens": [piece for piece, _ in entries], "text_offset": offsets,
                "token_logprobs": [value_of(piece, ranked) for piece, ranked in entries],
                "top_logprobs": [dict(ranked[:self.top]) if ranked else None
                                 for _, ranked in entries] if self.top else None}

    def chat_entry(self, piece: str, ranked: list) -> dict:
        top = [token_entry(token, value) for token, value in (ranked or [])[:self.top]]
        return {**token_entry(piece, value_of(piece, ranked)), "top_logprobs": top}

    # whole answers
    def body(self) -> dict:
        pieces = list(self.result.pieces)
        text = "".join(pieces)
        entries = [self.entry(i, piece) for i, piece in enumerate(pieces)] if self.top is not None \
            else []
        head_text, head = self.echo()
        finish = None if self.config.faults.has("sse_no_final", self.ask) else self.finish()
        choice = {"index": 0, "logprobs": self.shown(head + entries), "finish_reason": finish}
        empty = self.config.faults.find("empty", self.ask)
        if empty is not None:
            self.ask.notes.append("empty")
            text = None if empty.mode == "null" else ""
            choice["finish_reason"] = "stop"
        if self.ask.endpoint == "chat":
            choice["message"] = {"role": "assistant", "content": text}
            if self.result.reasoning:
                choice["message"][self.thought] = "".join(self.result.reasoning)
        else:
            choice["text"] = None if text is None else head_text + text
        choices = [] if empty is not None and empty.mode == "no_choice" else [choice]
        body = {**self.frame, "choices": choices}
        usage = self.usage()
        if usage is not MISSING:
            body["usage"] = usage
        return body

    def echo(self) -> tuple[str, list]:
        """The prompt and one entry a token of it, when echo is asked for and works."""
        ask, fault = self.ask, self.config.faults.find("echo", self.ask)
        if ask.endpoint != "completions" or not ask.option("echo", False) or \
                self.config.dialect == "transformers":
            return "", []
        if fault is not None:
            ask.notes.append(f"echo {fault.mode}")
        if fault is not None and fault.mode == "ignored":
            return "", []
        pieces = [text_of(piece) for piece in self.config.tokenizer.split(ask.kept)]
        bounds, at = [], 0
        for piece in pieces:
            bounds.append(at)
            at += len(piece)
        text = "".join(pieces)
        values = lm.prompt_logprobs(text, bounds)
        if self.config.bos and values:
            pieces, values = ["<s>"] + pieces, [None, -3.0] + values[1:]
        if fault is not None and fault.mode == "wrong_row" and len(values) > 2:
            half = len(values) // 2  # each token gets the value of another position
            values = [None] + values[half:] + values[1:half]
        if fault is not None and fault.mode == "short":
            pieces, values = pieces[2:], values[2:]
        entries = [(piece, None if value is None else [(piece, value)])
                   for piece, value in zip(pieces, values)]
        return text, entries if self.top is not None else []

    # usage
    def usage(self, last: bool = True):
        ask, fault = self.ask, self.config.faults.find("usage", self.ask)
        mode = fault.mode if fault is not None else "post"
        n_out = self.result.n_out + self.result.n_hidden + len(self.result.reasoning)
        if mode == "absent" or (mode == "chunked_only" and last):
            return MISSING
        if mode == "null":
            return None
        prompt = {"pre": ask.n_sent, "zero": 0, "estimate": len(text_of(ask.data)) // 4,
                  "cap": min(ask.n_kept, fault.cap if fault else 0)}.get(mode, ask.n_kept)
        if mode.startswith("chunked") and not last:  # what was prefilled so far
            prompt = min(ask.n_kept, 512 * (1 + self.result.n_out))
        if mode == "frozen" and last:
            prompt = self.state.swap_usage(prompt) or prompt
        n_out = 0 if mode == "zero" else n_out
        usage = {"prompt_tokens": prompt, "completion_tokens": n_out,
                 "total_tokens": prompt + n_out}
        if mode == "total_off":
            usage["total_tokens"] += 17
        if mode == "text":
            usage = {key: str(value) for key, value in usage.items()}
        cache = self.config.faults.find("prefix_cache", ask)
        if cache is not None and cache.report:
            usage["prompt_tokens_details"] = {"cached_tokens": ask.cached}
        return usage

    # streams
    def chunk(self, text: str | None = None, finish=None, logprobs=None, **more) -> dict:
        choice = {"index": 0, "logprobs": logprobs, "finish_reason": finish}
        if self.ask.endpoint == "chat":
            choice["delta"] = {**({} if text is None else {"content": text}), **more}
        else:
            choice["text"] = text or ""
        frame = {**self.frame, "choices": [choice]}
        if self.ask.endpoint == "chat":
            frame["object"] = "chat.completion.chunk"
        fault = self.config.faults.find("usage", self.ask)
        if fault is not None and fault.mode.startswith("chunked"):
            frame["usage"] = self.usage(last=False)
        return frame

    def chunks(self):
        """The pieces of the answer, without its end."""
        if self.ask.endpoint == "chat":
            yield self.chunk("", role="assistant")
        elif self.ask.option("echo", False):
            text, entries = self.echo()
            if text:
                yield self.chunk(text, logprobs=self.shown(entries))
        reasoning, offset = self.result.reasoning, 0
        for i in range(0, len(reasoning), 32):
            yield self.chunk(None, **{self.thought: "".join(reasoning[i:i + 32])})
        if self.config.faults.has("empty", self.ask):
            self.ask.notes.append("empty")
            for _ in self.result.pieces:
                pass
            return
        for i, piece in enumerate(self.result.pieces):
            shown = self.shown([self.entry(i, piece)], offset) if self.top is not None else None
            offset += len(piece)
            yield self.chunk(piece, logprobs=shown)

    def ending(self, inline: bool):
        """The last choice and, when it was asked for, the usage."""
        last = self.chunk(finish=self.finish())
        options = self.ask.option("stream_options", {})
        asked = isinstance(options, dict) and options.get("include_usage")
        wanted = asked or self.config.dialect in ("llamacpp", "transformers")
        usage = self.usage() if wanted else MISSING
        if inline and usage is not MISSING:
            last["usage"] = usage
        yield last
        if not inline and usage is not MISSING:
            yield {**last, "choices": [], "usage": usage}


MISSING = object()


def value_of(piece: str, ranked: list | None) -> float | None:
    if ranked is None:
        return None
    return next((value for token, value in ranked if token == piece), None)


def token_entry(token: str, value: float | None) -> dict:
    return {"token": token, "logprob": value, "bytes": list(token.encode("utf-8", "surrogatepass"))}


def wanted_logprobs(ask: Ask, config) -> int | None:
    """How many alternatives; None without log-probabilities."""
    asked = ask.option("logprobs", None)
    fault = config.faults.find("logprobs", ask)
    if config.dialect == "transformers":
        return None
    if asked is None or asked is False or (fault is not None and fault.mode == "absent"):
        return None
    top = ask.option("top_logprobs", 0 if ask.endpoint == "chat" else 1) if asked is True else asked
    if not isinstance(top, int) or top < 0:
        raise BadRequest(f"'logprobs' must be a whole number, got {top!r}")
    if fault is not None and fault.mode == "refuse" and top > fault.top:
        raise BadRequest(f"logprobs must be at most {fault.top}, got {top}")
    return min(top, fault.top if fault is not None and fault.mode == "limit" else 64)


def logprob_shape(ask: Ask, config) -> str:
    """llama.cpp uses the chat's shape on both endpoints; others the classic one on completions."""
    fault = config.faults.find("logprobs", ask)
    if fault is not None and fault.mode in ("content", "classic"):
        return fault.mode
    return "content" if ask.endpoint == "chat" or config.dialect == "llamacpp" else "classic"
