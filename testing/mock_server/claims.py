"""What discovery endpoints say: /v1/models, /props, /slots, /api/show, /api/ps, /info, /metrics."""
from . import ask as asks
from .tokens import token_id

LENGTH_FIELD = {"vllm": "max_model_len", "vllm_old": "max_model_len", "sglang": "max_model_len",
                "groq": "context_window", "lmstudio": "max_context_length",
                "llamacpp": "n_ctx_train"}
MODEL_BYTES, TOKEN_BYTES = 300_000_000, 36_864  # what /metrics and /api/ps say of memory


def claimed(config, where: str) -> int | None:
    """The window that this endpoint claims; None when it says nothing."""
    fault = config.faults.always("advertise")
    if fault is None:
        return config.window
    if fault.where in ("all", where):
        return fault.window
    return None if fault.where == "none" else config.window


def per_slot(config, where: str) -> tuple[int | None, int]:
    """(window of a slot, slots): an honest llama.cpp divides; `advertise` is said as it is."""
    slots = config.faults.always("slots")
    window, count = claimed(config, where), slots.count if slots is not None else 1
    if config.faults.always("advertise") is None and slots is not None and slots.mode == "divide":
        window = window and window // count
    return window, count


def models(config) -> dict:
    window, field = claimed(config, "models"), config.claim or LENGTH_FIELD.get(config.dialect)
    entry = {"id": config.model, "object": "model", "created": 1700000000,
             "owned_by": config.dialect}
    if config.dialect == "transformers":
        entry.update(owned_by="local", created=0, status={"value": "loaded"})
    fault = config.faults.always("models")
    if window and field and not (fault is not None and fault.mode == "plain"):
        if field == "n_ctx_train":
            entry["meta"] = {"n_ctx_train": window, "n_vocab": 50021, "n_params": 134515008}
        else:
            entry[field] = window
    data = [] if fault is not None and fault.mode == "empty" else [entry]
    return {"object": "list", "data": data}


def get(path: str, config, state):
    """(status, body) of a discovery request; None if this server has no such path."""
    dialect = config.dialect
    fault = config.faults.always("models")
    if path in ("/v1/models", "/models"):
        if fault is not None and fault.mode == "missing":
            return None
        if fault is not None and fault.mode == "html":
            return 200, b"<html><body>Welcome</body></html>"
        return 200, models(config)
    if path == f"/v1/models/{config.model}":
        return 200, (models(config)["data"] or [{}])[0]
    if path == "/health":
        return 200, {"status": "ok"}
    if dialect == "llamacpp" and path == "/props":
        window, count = per_slot(config, "props")
        return 200, {"default_generation_settings": {"n_ctx": window or 0, "params": {}},
                     "total_slots": count, "model_path": f"/models/{config.model}.gguf",
                     "chat_template": "chatml", "build_info": "b0-mock"}
    if dialect == "llamacpp" and path == "/slots":
        window, count = per_slot(config, "props")
        busy = len(state.flights)
        return 200, [{"id": i, "n_ctx": window or 0, "speculative": False,
                      "is_processing": i < busy} for i in range(count)]
    if dialect == "ollama" and path == "/api/ps":
        window = claimed(config, "props")
        entry = {"name": config.model, "model": config.model, "size_vram": MODEL_BYTES}
        return 200, {"models": [{**entry, "context_length": window} if window else entry]}
    if dialect == "ollama" and path in ("/api/tags", "/api/version"):
        return 200, {"models": [{"name": config.model}]} if path == "/api/tags" else \
            {"version": "0.0.0-mock"}
    if dialect == "sglang" and path in ("/get_model_info", "/get_server_info"):
        return 200, {"model_path": config.model, "is_generation": True,
                     "max_total_num_tokens": claimed(config, "props")}
    if dialect == "tgi" and path == "/info":
        window = claimed(config, "props")
        return 200, {"model_id": config.model, "max_total_tokens": window,
                     "max_input_tokens": window and window - 1}
    if dialect in ("llamacpp", "vllm") and path == "/metrics":
        tokens = sum(flight.tokens for flight in list(state.flights))
        return 200, (f"process_resident_memory_bytes {MODEL_BYTES + TOKEN_BYTES * tokens}\n"
                     f"llamacpp:kv_cache_tokens {tokens}\n").encode()
    return None


def show(config, body: dict):
    """Ollama's POST /api/show: the length the model was trained for, not the one it runs with."""
    window = claimed(config, "show")
    info = {"general.architecture": "llama", "general.parameter_count": 134515008}
    if window:
        info["llama.context_length"] = window
    return 200, {"model_info": info, "parameters": "", "template": "{{ .Prompt }}",
                 "details": {"family": "llama", "quantization_level": "Q4_0"}}


def tokenize(config, body: dict):
    """llama.cpp takes {content}, vLLM {prompt} or {messages}; the counts are the server's own."""
    if "messages" in body:
        data = asks.render("chat", asks.read_messages("chat", body))
    else:
        data = str(body.get("content", body.get("prompt", ""))).encode("utf-8", "surrogatepass")
    ids = [token_id(piece) for piece in config.tokenizer.split(data)]
    special = body.get("add_special", body.get("add_special_tokens", config.dialect != "llamacpp"))
    ids = [1] * (config.bos if special else 0) + ids
    if config.dialect == "llamacpp":
        return 200, {"tokens": ids}
    return 200, {"count": len(ids), "max_model_len": claimed(config, "models"), "tokens": ids}
