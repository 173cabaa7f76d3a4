#!/usr/bin/env python3
"""Writes the seed corpus of the fuzz targets: make_corpus.py DIR -> DIR/NAME/* for each target NAME,
and a dictionary of words beside each, DIR/NAME.dict.

Right files of many kinds and small lies about each; standard library alone. Inputs that once broke a
reader are kept in testing/fuzz/regressions/ and copied in too.
"""
import json
import pathlib
import shutil
import struct
import sys

import client_corpus

HERE = pathlib.Path(__file__).resolve().parent
U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
PACK = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "?", U64: "Q",
        I64: "q", F64: "d"}


def text(value):
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def value_bytes(kind, value):
    return text(value) if kind == STRING else struct.pack("<" + PACK[kind], value)


def gguf(keys, tensors=(), data=b"", version=3, n_keys=None, n_tensors=None):
    """keys: (name, type, value) or (name, ARRAY, (item type, values)); tensors: (name, dims, type,
    offset)."""
    out = b"GGUF" + struct.pack("<IQQ", version, len(tensors) if n_tensors is None else n_tensors,
                                len(keys) if n_keys is None else n_keys)
    for name, kind, value in keys:
        out += text(name) + struct.pack("<I", kind)
        if kind == ARRAY:
            item, values = value
            out += struct.pack("<IQ", item, len(values))
            out += b"".join(value_bytes(item, v) for v in values)
        else:
            out += value_bytes(kind, value)
    for name, dims, kind, offset in tensors:
        out += text(name) + struct.pack("<I", len(dims))
        out += struct.pack(f"<{len(dims)}Q", *dims) + struct.pack("<IQ", kind, offset)
    if tensors or data:
        out += b"\0" * (-len(out) % 32) + data
    return out


def model_keys(arch, *more, layers=4, heads=8, head_dim=64):
    return [("general.architecture", STRING, arch), (f"{arch}.block_count", U32, layers),
            (f"{arch}.embedding_length", U32, heads * head_dim),
            (f"{arch}.context_length", U32, 8192),
            (f"{arch}.attention.head_count", U32, heads),
            (f"{arch}.attention.head_count_kv", U32, 2),
            (f"{arch}.rope.freq_base", F32, 500000.0)] + [
                (name if name.startswith("general.") or name.startswith("tokenizer.")
                 else f"{arch}.{name}", kind, value) for name, kind, value in more]


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def gguf_files():
    yarn = [("rope.scaling.type", STRING, "yarn"), ("rope.scaling.factor", F32, 4.0),
            ("rope.scaling.original_context_length", U32, 4096)]
    yield "plain", gguf(model_keys("llama"))
    yield "version2", gguf(model_keys("llama"), version=2)
    for version in (0, 1, 4, 0x03000000):
        yield f"version{version}", gguf(model_keys("llama"), version=version)
    yield "yarn", gguf(model_keys("qwen2", *yarn))
    yield "deepseek", gguf(model_keys("deepseek2", *yarn, ("rope.dimension_count", U32, 32),
                                      ("rope.scaling.yarn_log_multiplier", F32, 0.1)))
    yield "linear", gguf(model_keys("gemma3", ("rope.scaling.type", STRING, "linear"),
                                    ("rope.scaling.factor", F32, 8.0),
                                    ("attention.sliding_window", U32, 512), layers=12))
    yield "gemma4", gguf(
        model_keys("gemma4", ("attention.sliding_window", U32, 512),
                   ("attention.key_length_swa", U32, 32), ("rope.freq_base_swa", F32, 10000.0),
                   ("attention.sliding_window_pattern", ARRAY, (BOOL, [True, True, True, False]))),
        [("rope_freqs.weight", [32], 0, 0)], floats(*([1.0] * 8 + [1e30] * 24)))
    yield "rope_freqs", gguf(model_keys("llama"), [("rope_freqs.weight", [32], 0, 0)],
                             floats(*([1.0] * 16 + [8.0] * 16)))
    yield "bad_freqs", gguf(model_keys("llama"), [("rope_freqs.weight", [32], 0, 0)],
                            floats(*([float("nan"), 0.0, -1.0, float("inf")] * 8)))
    yield "longrope", gguf(model_keys("phi3", ("rope.scaling.attn_factor", F32, 1.19)),
                           [("rope_factors_short.weight", [32], 0, 0),
                            ("rope_factors_long.weight", [32], 0, 128)],
                           floats(*([1.0] * 32 + [4.0] * 32)))
    for arch in ("bloom", "mpt", "llama4", "smollm3", "cohere2", "gpt-oss", "openelm", "mamba",
                 "granite", "nothing", "phi2", "olmo2", "qwen2vl"):
        yield arch, gguf(model_keys(arch, ("attention.sliding_window", U32, 128),
                                    ("attention.max_alibi_bias", F32, 8.0),
                                    ("rope.dimension_count", U32, 32),
                                    ("attention.scale", F32, 0.01)))
    yield "arrays", gguf([("general.architecture", STRING, "openelm"), ("openelm.block_count", U32, 3),
                          ("openelm.attention.key_length", U32, 64),
                          ("openelm.attention.head_count", ARRAY, (I32, [12, 16, 12])),
                          ("openelm.attention.head_count_kv", ARRAY, (I32, [3, 0, 3]))])
    yield "vocabulary", gguf(model_keys("llama", ("tokenizer.ggml.tokens", ARRAY,
                                                  (STRING, [f"t{i}" for i in range(200)])),
                                        ("tokenizer.ggml.scores", ARRAY, (F32, [0.5] * 200))))
    yield "types", gguf([(f"k{kind}", kind, 1) for kind in PACK])
    yield "tensors", gguf(model_keys("llama"), [(f"blk.{i}.x", [256, 2], kind, 0)
                                                for i, kind in enumerate((0, 1, 8, 12, 30))],
                          b"\0" * 2048)
    yield "overlap", gguf(model_keys("llama"), [("a", [16], 0, 0), ("b", [16], 0, 32)], b"\0" * 128)
    yield "outside", gguf(model_keys("llama"), [("a", [1 << 40], 0, 1 << 50)], b"\0" * 128)
    yield "overflow", gguf(model_keys("llama"), [("a", [1 << 62, 1 << 62], 0, 0)], b"\0" * 32)
    yield "counts", gguf([], n_keys=1 << 62, n_tensors=1 << 62)
    yield "doubled", gguf([("a", U32, 1), ("a", U32, 2)])
    yield "nested", gguf([("a", ARRAY, (ARRAY, []))])
    yield "cut", gguf(model_keys("llama"))[:100]
    yield "empty", b""
    yield "magic", b"GGUF"


def safetensors(header, data=b"", length=None):
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(raw) if length is None else length) + raw + data


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def safetensors_files():
    name = "model.layers.%d.self_attn."
    yield "plain", safetensors({"a": entry("F32", [2], 0, 8), "__metadata__": {"format": "pt"}},
                               b"\0" * 8)
    yield "inv_freq", safetensors(
        {name % 0 + "rotary_emb.inv_freq": entry("F32", [4], 0, 16),
         name % 1 + "rotary_emb.inv_freq": entry("F32", [4], 16, 32)},
        floats(1.0, 0.1, 0.01, 0.001, 1.0, 0.5, 0.25, float("nan")))
    yield "heads", safetensors({name % 0 + "q_proj.weight": entry("BF16", [8, 4], 0, 64),
                                name % 0 + "k_proj.weight": entry("BF16", [4, 4], 64, 96),
                                name % 0 + "q_norm.weight": entry("BF16", [2], 96, 100)},
                               b"\0" * 100)
    for dtype, size in (("F8_E4M3", 1), ("F4", 1), ("U16", 2), ("C64", 8), ("Q9", 3), ("BOOL", 1)):
        yield dtype, safetensors({"a": entry(dtype, [2 if dtype == "F4" else 1], 0, size)},
                                 b"\0" * size)
    yield "overlap", safetensors({"a": entry("U8", [2], 0, 2), "b": entry("U8", [2], 1, 3)}, b"abc")
    yield "gap", safetensors({"a": entry("U8", [1], 1, 2)}, b"ab")
    yield "outside", safetensors({"a": entry("U8", [9], 0, 9)}, b"ab")
    yield "negative", safetensors({"a": entry("U8", [-1], 0, 1)}, b"a")
    yield "overflow", safetensors({"a": entry("F32", [1 << 32, 1 << 32], 0, 1)}, b"a")
    yield "zero", safetensors({"a": entry("F32", [0, 1 << 62, 1 << 62], 0, 0)})
    yield "doubled", safetensors(b'{"a":{"dtype":"U8"},"a":{"dtype":"U8"}}')
    yield "nested", safetensors(b'{"a":' + b"[" * 500)
    yield "nan", safetensors(b'{"a":{"shape":[NaN]}}')
    yield "not_utf8", safetensors(b'{"\xff":{}}')
    yield "long", safetensors({}, length=1 << 62)
    yield "list", safetensors(b"[]")
    yield "short", b"\x01\0"
    yield "empty", b""


LLAMA = {"model_type": "llama", "hidden_size": 512, "num_hidden_layers": 4,
         "num_attention_heads": 8, "num_key_value_heads": 2, "max_position_embeddings": 8192,
         "rope_theta": 500000.0}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}


def config_files():
    yield "plain", LLAMA
    for kind in ("default", "linear", "dynamic", "yarn", "longrope", "su", "llama3", "proportional",
                 "yarm"):
        yield "rope_" + kind, {**LLAMA, "rope_scaling": {
            "rope_type": kind, "factor": 4.0, "original_max_position_embeddings": 2048,
            "low_freq_factor": 1.0, "high_freq_factor": 4.0, "short_factor": [1.0] * 32,
            "long_factor": [2.0] * 32, "beta_fast": 32, "beta_slow": 1, "truncate": False,
            "mscale": 1.0, "mscale_all_dim": 1.0, "attention_factor": 1.0}}
    yield "v5", {**LLAMA, "rope_parameters": {**YARN, "rope_theta": 1e6,
                                              "partial_rotary_factor": 0.5}}
    yield "kinds", {**LLAMA, "model_type": "gemma3_text", "sliding_window": 512,
                    "layer_types": ["sliding_attention", "full_attention"] * 2,
                    "rope_parameters": {"full_attention": YARN,
                                        "sliding_attention": {"rope_type": "default",
                                                              "rope_theta": 1e4}}}
    yield "text_config", {"model_type": "gemma3", "text_config": {**LLAMA, "head_dim": 128}}
    for kind in ("mistral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text", "gemma4_text", "phi",
                 "phi3", "gpt_neox", "gptj", "glm", "chatglm", "deepseek_v2", "deepseek_v3",
                 "gpt_oss", "smollm3", "llama4_text", "olmo2", "olmo3", "minimax_m2", "bloom", "mpt",
                 "falcon", "cohere2", "gpt2", "nothing"):
        yield "type_" + kind, {**LLAMA, "model_type": kind, "sliding_window": 128,
                               "partial_rotary_factor": 0.5, "no_rope_layers": [1, 1, 1, 0],
                               "qk_rope_head_dim": 32, "n_head": 8, "n_layer": 4, "alibi": True}
    yield "huge", {**LLAMA, "num_hidden_layers": 10**18, "head_dim": 10**15}
    yield "negative", {**LLAMA, "num_attention_heads": -8, "rope_theta": -1}
    yield "zeros", {key: 0 if isinstance(value, int) else value for key, value in LLAMA.items()}
    yield "null", {key: None for key in LLAMA}
    yield "texts", {key: "1" for key in LLAMA}
    yield "raw_nan", b'{"model_type":"llama","hidden_size":NaN,"rope_theta":-Infinity}'
    yield "raw_doubled", b'{"rope_theta":1,"rope_theta":2,"hidden_size":64}'
    yield "raw_nested", b'{"a":' * 100
    yield "raw_lists", b"[" * 1000
    yield "raw_not_utf8", b'{"model_type":"\xff"}'
    yield "raw_cut", json.dumps(LLAMA).encode()[:50]
    yield "raw_empty", b""
    yield "raw_number", b"1e999"


LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
BPE = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "t": 3, "h": 4, "th": 5, "\u0120": 6, "<s>": 7},
       "merges": ["a b", ["t", "h"]]}


def tokenizer_files():
    plain = {"added_tokens": [], "normalizer": None, "pre_tokenizer": LEVEL, "post_processor": LEVEL,
             "decoder": LEVEL, "model": BPE}
    special = {"id": 7, "content": "<s>", "special": True, "lstrip": True, "rstrip": True,
               "single_word": False, "normalized": False}
    yield "plain", plain
    yield "added", {**plain, "added_tokens": [special, {"id": 9, "content": "cat", "normalized": True}]}
    yield "template", {**plain, "added_tokens": [special], "post_processor": {
        "type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                                                 {"Sequence": {"id": "A", "type_id": 0}}],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [7], "tokens": ["<s>"]}}}}
    yield "split", {**plain, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": r"\p{L}+|\s+(?!\S)|[^\s\p{L}]+"}, "behavior": "Isolated",
         "invert": False}, {"type": "Digits", "individual_digits": True},
        {**LEVEL, "use_regex": False}]}}
    for name in ("Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"):
        yield name, {**plain, "pre_tokenizer": {"type": "Split", "pattern": {"String": " "},
                                                "behavior": name, "invert": True}}
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": True}
    yield "metaspace", {**plain, "pre_tokenizer": metaspace, "decoder": metaspace, "model": {
        **BPE, "byte_fallback": True, "fuse_unk": True, "unk_token": "<s>",
        "vocab": {**BPE["vocab"], "<0x41>": 8, "\u2581": 9}}}
    steps = [{"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "ByteFallback"},
             {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]
    yield "normal", {**plain, "decoder": {"type": "Sequence", "decoders": steps}, "normalizer": {
        "type": "Sequence", "normalizers": [{"type": "NFKC"}, {"type": "Prepend", "prepend": "\u2581"},
                                            {"type": "Replace", "pattern": {"Regex": " +"}, "content": "_"},
                                            {"type": "Strip", "strip_left": True}]}}
    yield "gap", {**plain, "added_tokens": [{**special, "id": 1 << 23}]}
    yield "cycle", {**plain, "model": {**BPE, "merges": [["ab", "ab"], ["a", "ab"]]}}
    yield "raw_nested", b'{"model":' + b"[" * 1000
    yield "raw_cut", json.dumps(plain).encode()[:80]
    yield "raw_empty", b""


def vocabulary(model, *more, n=40):
    tokens = ["<unk>", "<s>", "</s>", "<0x41>", "\u2581", "t", "h", "th", "he", "\u0120t", "中", "the",
              *(f"x{i}" for i in range(n - 12))]
    return gguf(model_keys("llama", ("tokenizer.ggml.model", STRING, model),
                           ("tokenizer.ggml.tokens", ARRAY, (STRING, tokens)),
                           ("tokenizer.ggml.token_type", ARRAY, (I32, [2, 3, 3, 6] + [1] * (n - 4))),
                           *more))


def vocabulary_files():
    scores = ("tokenizer.ggml.scores", ARRAY, (F32, [-float(i) for i in range(40)]))
    merges = ("tokenizer.ggml.merges", ARRAY, (STRING, ["t h", "h x0", "th x1"]))
    good = ("tokenizer.ggml.merges", ARRAY, (STRING, ["t h"]))
    yield "llama", vocabulary("llama", scores, ("tokenizer.ggml.bos_token_id", U32, 1),
                              ("tokenizer.ggml.eos_token_id", U32, 2),
                              ("tokenizer.ggml.add_bos_token", BOOL, True))
    for pre in ("default", "llama-bpe", "qwen2", "gpt-2", "smollm", "none"):
        yield "gpt2_" + pre, vocabulary("gpt2", good, ("tokenizer.ggml.pre", STRING, pre))
    yield "merges", vocabulary("gpt2", merges)
    yield "gemma4", vocabulary("gemma4", good)
    yield "bert", vocabulary("bert")
    yield "no_scores", vocabulary("llama")
    yield "ids", vocabulary("llama", scores, ("tokenizer.ggml.bos_token_id", U32, 4000))
    yield "none", gguf(model_keys("llama"))
    yield "empty", b""


def dequantize_files():
    for kind in (2, 3, 6, 7, 8, 12, 13, 14, 0, 99):
        yield f"type{kind}", bytes([kind]) + bytes((i * 37 + kind) % 256 for i in range(640))
    yield "short", bytes([12, 1, 2])
    yield "empty", b""


def words(values):
    return "".join('"%s"\n' % "".join(f"\\x{b:02x}" for b in value.encode()) for value in values)


def key_words(value):
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from key_words(item)
    elif isinstance(value, str):
        yield value


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: make_corpus.py DIR")
    out = pathlib.Path(sys.argv[1])
    dictionary = {
        "gguf": {key[0] for key in model_keys("llama")} | {
            "GGUF", "rope.scaling.type", "rope.scaling.factor", "yarn", "linear", "longrope",
            "rope_freqs.weight", "general.alignment", "attention.sliding_window", "rope."},
        "safetensors": {"dtype", "shape", "data_offsets", "__metadata__", "F32", "BF16", "U8",
                        "rotary_emb.inv_freq", "model.layers.0.", "q_proj.weight", "k_proj.weight",
                        "q_norm.weight"},
        "config": {word for _, value in config_files() if isinstance(value, dict)
                   for word in key_words(value)} | {"null", "true", "NaN", "Infinity", "1e308"},
        "tokenizer": {word for _, value in tokenizer_files() if isinstance(value, dict)
                      for word in key_words(value)} | {"null", "true", "id"},
        "vocabulary": {"GGUF", "gpt2", "llama", "gemma4", "tokenizer.ggml.tokens", "llama-bpe",
                       "tokenizer.ggml.merges", "tokenizer.ggml.scores", "tokenizer.ggml.pre"},
        "dequantize": {"\x00", "\x3c"},
        **{name: client_corpus.WORDS for name in ("sse", "reply", "server_words")}}
    for name, files in (("config", config_files), ("gguf", gguf_files),
                        ("safetensors", safetensors_files), ("tokenizer", tokenizer_files),
                        ("vocabulary", vocabulary_files), ("dequantize", dequantize_files),
                        ("sse", client_corpus.sse_files), ("reply", client_corpus.reply_files),
                        ("server_words", client_corpus.server_words_files)):
        folder = out / name
        folder.mkdir(parents=True, exist_ok=True)
        for seed, value in files():
            raw = json.dumps(value).encode() if isinstance(value, dict) else value
            (folder / seed).write_bytes(raw)
        for path in sorted((HERE / "regressions" / name).glob("*")):
            shutil.copyfile(path, folder / f"regression_{path.name}")
        (out / f"{name}.dict").write_text(words(sorted(dictionary[name])))


if __name__ == "__main__":
    main()
