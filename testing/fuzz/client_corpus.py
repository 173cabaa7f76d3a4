"""Seeds for the fuzz targets of the HTTP client: streams, answers, errors and facts as servers send
them. The mock server of the tests writes most of them, so they keep step with it."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from mock_server import errors  # noqa: E402

CHAT = {"id": "x", "object": "chat.completion", "model": "m", "choices": [{
    "index": 0, "message": {"role": "assistant", "content": "KX7-3QD", "reasoning_content": "hm"},
    "finish_reason": "stop", "logprobs": {"content": [{
        "token": "KX", "logprob": -0.5, "bytes": [75, 88],
        "top_logprobs": [{"token": "KX", "logprob": -0.5}, {"token": "\u2581 7", "logprob": -3}]}]}}],
    "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15,
              "prompt_tokens_details": {"cached_tokens": 4}}}
CLASSIC = {"choices": [{"index": 0, "text": "one 7", "finish_reason": "length", "logprobs": {
    "tokens": ["one", " 7"], "token_logprobs": [None, -1.5], "text_offset": [0, 3],
    "top_logprobs": [None, {" 7": -1.5, "8": -2}]}}], "usage": {"prompt_tokens": "1"}}
CHUNKS = [{"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]},
          {"choices": [{"index": 0, "delta": {"content": "KX\u00e9"}, "finish_reason": None}]},
          {"choices": [{"index": 0, "delta": {"reasoning": "\u65e5"}}], "usage": {"prompt_tokens": 9}},
          {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
          {"choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 2}}]


def stream(end=b"\n", mark=b"", done=True):
    out = mark + b": ping" + end + end
    for chunk in CHUNKS:
        out += b"data: " + json.dumps(chunk).encode() + end + end
    return out + (b"data: [DONE]" + end + end if done else b"")


def bodies():
    yield "chat", json.dumps(CHAT).encode()
    yield "classic", json.dumps(CLASSIC).encode()
    yield "no_choice", b'{"choices": []}'
    yield "parts", json.dumps({"choices": [{"message": {"content": [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "a"}]}, "finish_reason": "stop"}]}).encode()
    yield "stream", stream()
    yield "stream_crlf", stream(b"\r\n", b"\xef\xbb\xbf")
    yield "stream_cr", stream(b"\r", done=False)
    yield "fields", (b"event: error\nid: 7\nretry: 9\ndata: {\"code\": 400,\ndata: \"message\": \"x\"}"
                     b"\n\nerror: {\"code\":500}\n\n<html>bad</html>\n\n")
    yield "surrogate", b'data: {"x": "\\ud83d"}\n\n'
    yield "not_utf8", b'data: {"x": "\xff\xed\xa0\x80"}\n\n'
    yield "nan", b'{"choices": [{"index": NaN}]}'
    yield "deep", b"[" * 300
    yield "html", b"<html><body><h1>502 Bad Gateway</h1></body></html>"
    yield "empty", b""
    for dialect in errors.DIALECTS:
        for n, name in ((5000, "prompt"), (4000, "both")):
            error = errors.overflow(dialect, n, 4096, 200, True)[1]
            error = error if isinstance(error, bytes) else json.dumps(error).encode()
            yield f"over_{dialect}_{name}", error
    for style in errors.ELSEWHERE:
        yield f"over_{style}", json.dumps(errors.overflow_elsewhere(style, 5000, 4096)[1]).encode()
    yield "rate", json.dumps(errors.rate_unsatisfiable("groq", 9000, 8000, 413)[1]).encode()
    yield "busy", json.dumps(errors.busy("openai", 429, 1.5)[1]).encode()


def sse_files():
    for name, body in bodies():
        yield name, bytes([2]) + body


def reply_files():
    for i, (name, body) in enumerate(bodies()):
        status = 2 + i % 2 if name.startswith(("over", "rate", "busy", "html")) else 0
        yield name, bytes([status | 4 * (name == "classic") | 16 * (i % 16)]) + body


def server_words_files():
    waits = [b"7\n\n", b"Sun, 06 Nov 1994 08:49:37 GMT\n\n", b"\n150\n", b"1e9\nnan\n"]
    for i, (name, body) in enumerate(bodies()):
        yield name, waits[i % len(waits)] + body
    facts = {
        "models": {"data": [{"id": "m", "owned_by": "vllm", "max_model_len": 8192, "meta": {
            "n_ctx_train": 8192, "n_ctx": 4096}, "top_provider": {"context_length": 1}}]},
        "props": {"default_generation_settings": {"n_ctx": 4096}, "total_slots": 4,
                  "data": [{"id": "m", "owned_by": "llamacpp"}], "tokens": [1, 2]},
        "slots": [{"id": 0, "n_ctx": 4096}],
        "ollama": {"version": "1", "data": [{"id": "m", "owned_by": "library"}],
                   "model_info": {"llama.context_length": 8192}, "parameters": "num_ctx 4096",
                   "models": [{"name": "m", "context_length": 4096, "size_vram": 3e8}]},
        "sglang": {"model_path": "m", "max_total_num_tokens": 8192},
        "tgi": {"model_id": "m", "max_total_tokens": 8192, "max_input_tokens": 8191},
        "vllm": {"count": 2, "max_model_len": 8192, "tokens": [1, 2]}}
    for name, value in facts.items():
        yield f"facts_{name}", b"\n\n" + json.dumps(value).encode()
    yield "metrics", b"\n\nprocess_resident_memory_bytes 3e8\n"


WORDS = {"choices", "delta", "message", "content", "reasoning_content", "finish_reason", "usage",
         "prompt_tokens", "logprobs", "top_logprobs", "token_logprobs", "tokens", "error", "detail",
         "data: ", "event: ", "error: ", "[DONE]", "try again in ", "ms", "m0s", " tokens",
         "maximum context length is ", "Limit ", "Requested ", "per min", "null", "1e999"}
