"""Makes src/gyre/model/load/testdata/*.json: tiny models of every family with the logits that
transformers gives. Weights are a formula (below) that load_testing.h repeats, so no weights are kept.

usage: tiny_models.py FOLDER        needs torch and transformers

A weight: seed = FNV-1a (64 bits) of the tensor's name; item i (row by row) is u = (z >> 40) / 2^23 - 1,
z = splitmix64's output i + 1 from that seed, scaled: norm weights offset + u / 4, biases u / 3, the
embedding u, matrices 2 u / sqrt(columns), all in float32.
"""
import json
import math
import pathlib
import sys

import numpy as np
import torch
import transformers

T = 24  # tokens
KEPT = [0, 7, 15, 23]  # positions whose logits are kept
VOCAB = 96


def fnv1a(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2 ** 64
    return value


def uniform(name, count):
    with np.errstate(over="ignore"):
        z = np.uint64(fnv1a(name)) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(
            0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return ((z >> np.uint64(40)).astype(np.float64) / 2 ** 23 - 1).astype(np.float32)


def weight(name, shape, norm_offset):
    u = uniform(name, math.prod(shape))
    if name.endswith("norm.weight"):
        scaled = np.float32(norm_offset) + u * np.float32(0.25)
    elif name.endswith(".bias"):
        scaled = u * np.float32(1 / 3)
    elif name.endswith("embed_tokens.weight"):
        scaled = u
    else:
        scaled = u * np.float32(2 / math.sqrt(shape[-1]))
    return torch.from_numpy(scaled.reshape(shape))


BASE = dict(vocab_size=VOCAB, hidden_size=48, intermediate_size=56, num_hidden_layers=3,
            num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64,
            pad_token_id=None, bos_token_id=1, eos_token_id=2)
GEMMA = dict(BASE, head_dim=16, pad_token_id=0)
ROPE = dict(rope_theta=10000.0)
CASES = {
    "llama": ("Llama", dict(BASE)),
    "llama_biases": ("Llama", dict(BASE, attention_bias=True, mlp_bias=True, num_key_value_heads=4)),
    "llama_attention_biases": ("Llama", dict(BASE, attention_bias=True, tie_word_embeddings=True)),
    "llama_bands": ("Llama", dict(BASE, rope_parameters=dict(
        ROPE, rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
        original_max_position_embeddings=16))),
    "llama_yarn": ("Llama", dict(BASE, rope_parameters=dict(
        ROPE, rope_type="yarn", factor=4.0, original_max_position_embeddings=16))),
    "llama_by_length": ("Llama", dict(BASE, max_position_embeddings=16, rope_parameters=dict(
        ROPE, rope_type="dynamic", factor=4.0))),
    "mistral": ("Mistral", dict(BASE, sliding_window=8, head_dim=16)),
    "qwen2": ("Qwen2", dict(BASE, tie_word_embeddings=True)),
    "qwen2_windows": ("Qwen2", dict(BASE, use_sliding_window=True, sliding_window=6,
                                    max_window_layers=1)),
    "qwen3": ("Qwen3", dict(BASE, head_dim=20)),
    "gemma": ("Gemma", dict(GEMMA)),
    "gemma2": ("Gemma2", dict(GEMMA, query_pre_attn_scalar=24, sliding_window=8,
                              attn_logit_softcapping=2.0, final_logit_softcapping=3.0)),
    "gemma3": ("Gemma3", dict(GEMMA, query_pre_attn_scalar=24, sliding_window=8, rope_parameters={
        "sliding_attention": dict(rope_type="default", rope_theta=100.0),
        "full_attention": dict(rope_type="linear", factor=4.0, rope_theta=1000.0)},
        layer_types=["sliding_attention", "sliding_attention", "full_attention"])),
    "phi3": ("Phi3", dict(BASE, sliding_window=8)),
    "phi3_by_length": ("Phi3", dict(BASE, original_max_position_embeddings=16, hidden_size=64,
                                    rope_parameters=dict(
        ROPE, rope_type="longrope", partial_rotary_factor=0.75,
        original_max_position_embeddings=16,
        short_factor=[1.0, 1.1, 1.2, 1.5, 2.0, 3.0], long_factor=[1.0, 1.5, 2.0, 4.0, 6.0, 8.0]))),
    "smollm3": ("SmolLM3", dict(BASE, no_rope_layer_interval=2)),
    # The interval of the class, 4: GGUF has no key for another.
    "smollm3_by_rule": ("SmolLM3", dict(BASE, num_hidden_layers=5, rope_parameters=dict(
        rope_type="default", rope_theta=50000.0))),
}
CONFIG_CLASS = {"Gemma3": "Gemma3TextConfig"}


def make(family, keys):
    config = getattr(transformers, CONFIG_CLASS.get(family, family + "Config"))(**keys)
    config._attn_implementation = "eager"
    model = getattr(transformers, family + "ForCausalLM")(config).eval().to(torch.float32)
    offset = 0 if family.startswith("Gemma") else 1
    tensors = {}
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(weight(name, tuple(parameter.shape), offset))
            tensors[name] = list(parameter.shape)
        tokens = [int(t) for t in np.random.default_rng(24).integers(3, VOCAB, T)]
        logits = model(torch.tensor([tokens]), use_cache=False).logits[0]
    settings = json.loads(model.config.to_json_string(use_diff=True))
    settings.pop("transformers_version", None)
    return {"source": f"transformers {transformers.__version__}, torch {torch.__version__}, float32, "
                      "eager attention, by testing/peers/tiny_models.py",
            "config": settings, "norm_offset": offset, "tensors": tensors, "tokens": tokens,
            "positions": KEPT,
            "logits": [[float(f"{x:.9g}") for x in logits[p].tolist()] for p in KEPT]}


def main(folder):
    for name, (family, keys) in CASES.items():
        case = make(family, keys)
        lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in case.items()]
        pathlib.Path(folder, name + ".json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1])
