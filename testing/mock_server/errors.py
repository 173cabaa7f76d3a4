"""Error bodies in the words of each server: llama.cpp, vLLM (old and new), Ollama, SGLang, TGI,
OpenAI, Groq, LM Studio, transformers serve. Each function returns (status, body); a client has to take the numbers
out of the words.
"""
DIALECTS = ("llamacpp", "vllm", "vllm_old", "ollama", "sglang", "tgi", "openai", "groq", "lmstudio",
            "llamacpp_python", "transformers")
# The fields that transformers serve takes without a 422; of some it takes no notice.
TAKEN = {"model", "messages", "prompt", "max_tokens", "max_completion_tokens", "temperature", "top_p",
         "seed", "stop", "stream", "stream_options", "logprobs", "top_logprobs", "echo", "logit_bias",
         "n", "user", "generation_config", "chat_template_kwargs"}
# What others say of a prompt of {n} tokens for a window of {w}: the numbers stand in any order, or
# not at all.
ELSEWHERE = {
    "xai": "This model's maximum prompt length is {w} but the request contains {n} tokens.",
    "mistral": "Prompt contains {n} tokens, too large for model with {w} maximum context length",
    "anthropic": "prompt is too long: {n} tokens > {w} maximum",
    "qwen": "Range of input length should be [1, {w}]",
    "kimi": "Your request exceeded model token limit: {w} (requested: {n})",
    "bedrock": "Input is too long for requested model.",
}


def wrap(dialect: str, status: int, message: str, kind: str, code=None) -> tuple[int, dict]:
    """An error of that message in the dialect's envelope."""
    if dialect == "llamacpp":
        return status, {"error": {"code": status, "message": message, "type": kind}}
    if dialect in ("vllm_old", "sglang"):
        return status, {"object": "error", "message": message, "type": kind, "param": None,
                        "code": status}
    if dialect == "vllm":
        return status, {"error": {"message": message, "type": kind, "param": None, "code": status}}
    if dialect == "ollama":
        return status, {"error": {"message": message, "type": "api_error", "param": None,
                                  "code": None}}
    if dialect == "tgi":
        return status, {"error": message, "error_type": kind}
    if dialect == "lmstudio":
        return status, {"error": message}
    if dialect == "transformers":
        return status, {"detail": message}
    return status, {"error": {"message": message, "type": kind, "param": None, "code": code}}


def overflow(dialect: str, n: int, window: int, max_tokens: int, chat: bool) -> tuple[int, dict]:
    """The prompt (n tokens), or prompt and answer together, do not fit the window."""
    status, kind = (422, "validation") if dialect == "tgi" else (400, "BadRequestError")
    if dialect == "llamacpp":
        status, body = wrap(dialect, 400, f"request ({n} tokens) exceeds the available context size"
                            f" ({window} tokens), try increasing it", "exceed_context_size_error")
        body["error"].update(n_prompt_tokens=n, n_ctx=window)
        return status, body
    if dialect == "transformers":  # an exception: words come inside a stream only
        return 500, b"Internal Server Error"
    if dialect in ("openai", "groq", "llamacpp_python"):
        kind = "invalid_request_error"
    message = overflow_words(dialect, n, window, max_tokens, "messages" if chat else "prompt")
    return wrap(dialect, status, message, kind, "context_length_exceeded")


def overflow_words(dialect: str, n: int, window: int, max_tokens: int, where: str) -> str:
    both, maximum = n + max_tokens, f"This model's maximum context length is {window} tokens"
    prompt_alone = n >= window  # else only the answer is too much
    if dialect == "vllm" and prompt_alone:
        return (f"{maximum}. However, your request has {n} input tokens. Please reduce the length"
                " of the input messages.")
    if dialect == "vllm":
        return (f"'max_tokens' or 'max_completion_tokens' is too large: {max_tokens}. {maximum} "
                f"and your request has {n} input tokens ({max_tokens} > {window} - {n}).")
    if dialect == "vllm_old":
        return (f"{maximum}. However, you requested {both} tokens ({n} in the {where}, {max_tokens}"
                " in the completion). Please reduce the length of the messages or completion.")
    if dialect == "ollama":
        return f"prompt too long; exceeded max context length by {n - window + 1} tokens"
    if dialect == "sglang" and prompt_alone:
        return (f"The input ({n} tokens) is longer than the model's context length"
                f" ({window} tokens).")
    if dialect == "sglang":
        return (f"Requested token count exceeds the model's maximum context length of {window} "
                f"tokens. You requested a total of {both} tokens: {n} tokens from the input"
                f" messages and {max_tokens} tokens for the completion.")
    if dialect == "tgi" and prompt_alone:
        return f"Input validation error: `inputs` must have less than {window} tokens. Given: {n}"
    if dialect == "tgi":
        return (f"Input validation error: `inputs` tokens + `max_new_tokens` must be <= {window}. "
                f"Given: {n} `inputs` tokens and {max_tokens} `max_new_tokens`")
    if dialect == "llamacpp_python":
        return (f"{maximum}, however you requested {both} tokens ({n} in your prompt; {max_tokens}"
                " for the completion). Please reduce your prompt; or completion length.")
    if dialect == "lmstudio":
        return (f"Trying to keep the first {n} tokens when context the overflows. However, the"
                f" model is loaded with context length of only {window} tokens, which is not"
                " enough. Try to load the model with a larger context length, or provide a shorter"
                " input")
    if dialect == "groq":
        return "Please reduce the length of the messages or completion."
    return (f"{maximum}. However, your messages resulted in {n} tokens. Please reduce the length of"
            " the messages.")


def overflow_elsewhere(style: str, n: int, window: int) -> tuple[int, dict]:
    return wrap("openai", 400, ELSEWHERE[style].format(n=n, w=window), "invalid_request_error")


def rate_unsatisfiable(dialect: str, n: int, limit: int, status: int) -> tuple[int, dict]:
    """A limit a minute that one request alone exceeds: no waiting helps."""
    tail = ("please reduce your message size and try again." if status == 413 else
            "The input or output tokens must be reduced in order to run successfully.")
    return wrap("openai" if dialect != "groq" else "groq", status,
                "Request too large for model `mock` in organization org-1 on tokens per min (TPM):"
                f" Limit {limit}, Requested {n}. {tail}", "tokens", "rate_limit_exceeded")


def busy(dialect: str, status: int, wait_s: float) -> tuple[int, dict]:
    """Come back later."""
    if dialect == "llamacpp":
        return wrap(dialect, status, "Loading model", "unavailable_error")
    if dialect == "tgi":
        return wrap(dialect, status, "Model is overloaded", "overloaded")
    if dialect == "ollama":
        return wrap(dialect, status, "server busy, please try again. maximum pending requests "
                    "exceeded", "api_error")
    return wrap(dialect, status, "Rate limit reached for mock on requests per min (RPM): Limit 3, "
                f"Used 3, Requested 1. Please try again in {wait_s:g}s.", "requests",
                "rate_limit_exceeded")


def exceeded(dialect: str) -> tuple[int, dict]:
    """The shared cache is full; nothing in the words tells whose fault it was."""
    return wrap(dialect, 500, "Context size has been exceeded.", "server_error")


def unauthorized(dialect: str) -> tuple[int, dict]:
    if dialect == "llamacpp":
        return wrap(dialect, 401, "Invalid API Key", "authentication_error")
    return wrap(dialect, 401, "Incorrect API key provided.", "invalid_request_error",
                "invalid_api_key")


def no_model(dialect: str, name: str) -> tuple[int, dict]:
    if dialect == "transformers":
        return wrap(dialect, 400, f"Server is pinned to 'mock'; requested '{name}'.", "")
    if dialect == "ollama":
        return wrap(dialect, 404, f"model '{name}' not found", "api_error")
    return wrap(dialect, 404, f"The model `{name}` does not exist.", "NotFoundError",
                "model_not_found")


def bad_request(dialect: str, message: str) -> tuple[int, dict]:
    return wrap(dialect, 400, message, "invalid_request_error")


def internal(dialect: str, status: int) -> tuple[int, dict]:
    words = {413: "Request Entity Too Large", 429: "Too Many Requests", 502: "Bad Gateway",
             503: "Service Unavailable", 504: "Gateway Timeout"}
    return wrap(dialect, status, words.get(status, "Internal Server Error"), "server_error")
