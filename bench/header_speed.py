#!/usr/bin/env python3
"""Time and peak memory of `gyre inspect` on headers of a 70B-class model.

Writes sparse files with a real-size header, 723 tensors each: a Q4_K GGUF of 40 GB with a vocabulary
of 128256 texts and 280147 merges, and a BF16 safetensors file of 141 GB; a few MB on disk. Needs a
file system with sparse files. Run:  python3 bench/header_speed.py [PROGRAM inspect] [--runs N]

Standard library alone; the GGUF is written here independently of gyre's reader.
"""
import argparse
import json
import os
import pathlib
import statistics
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYERS, WIDTH, KV, HIDDEN, VOCAB, MERGES = 80, 8192, 1024, 28672, 128256, 280147


def text(value):
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def gguf_key(name, kind, value):
    return text(name) + struct.pack("<I", kind) + value


def texts(values):
    return struct.pack("<IQ", 8, len(values)) + b"".join(map(text, values))


def numbers(item, letter, values):
    return struct.pack("<IQ", item, len(values)) + struct.pack(f"<{len(values)}{letter}", *values)


def gguf_keys():
    u32 = lambda value: struct.pack("<I", value)
    f32 = lambda value: struct.pack("<f", value)
    return [gguf_key("general.architecture", 8, text("llama")),
            gguf_key("llama.block_count", 4, u32(LAYERS)),
            gguf_key("llama.context_length", 4, u32(131072)),
            gguf_key("llama.embedding_length", 4, u32(WIDTH)),
            gguf_key("llama.attention.head_count", 4, u32(64)),
            gguf_key("llama.attention.head_count_kv", 4, u32(8)),
            gguf_key("llama.rope.freq_base", 6, f32(500000.0)),
            gguf_key("llama.rope.dimension_count", 4, u32(128)),
            gguf_key("tokenizer.ggml.tokens", 9, texts([f"token{i:06}" for i in range(VOCAB)])),
            gguf_key("tokenizer.ggml.token_type", 9, numbers(5, "i", [1] * VOCAB)),
            gguf_key("tokenizer.ggml.merges", 9, texts([f"left{i} right" for i in range(MERGES)])),
            gguf_key("tokenizer.chat_template", 8, text("{{ messages }}" * 1000))]


def gguf_tensors():
    """(name, dims, type): type 12 is Q4_K, 144 bytes for 256 items; 0 is F32."""
    yield "token_embd.weight", [WIDTH, VOCAB], 12
    for n in range(LAYERS):
        yield f"blk.{n}.attn_norm.weight", [WIDTH], 0
        yield f"blk.{n}.attn_q.weight", [WIDTH, WIDTH], 12
        yield f"blk.{n}.attn_k.weight", [WIDTH, KV], 12
        yield f"blk.{n}.attn_v.weight", [WIDTH, KV], 12
        yield f"blk.{n}.attn_output.weight", [WIDTH, WIDTH], 12
        yield f"blk.{n}.ffn_norm.weight", [WIDTH], 0
        yield f"blk.{n}.ffn_gate.weight", [WIDTH, HIDDEN], 12
        yield f"blk.{n}.ffn_up.weight", [WIDTH, HIDDEN], 12
        yield f"blk.{n}.ffn_down.weight", [HIDDEN, WIDTH], 12
    yield "output_norm.weight", [WIDTH], 0
    yield "output.weight", [WIDTH, VOCAB], 12


def write_gguf(path):
    keys, tensors = gguf_keys(), list(gguf_tensors())
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys)) + b"".join(keys)
    offset = 0
    for name, dims, kind in tensors:
        header += text(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind, offset)
        items = dims[0] * (dims[1] if len(dims) > 1 else 1)
        offset += -(-(items * 4 if kind == 0 else items // 256 * 144) // 32) * 32
    header += b"\0" * (-len(header) % 32)
    with open(path, "wb") as file:
        file.write(header)
        file.truncate(len(header) + offset)
    return len(tensors), len(header)


def write_safetensors(path):
    shapes = {"model.embed_tokens.weight": [VOCAB, WIDTH], "model.norm.weight": [WIDTH],
              "lm_head.weight": [VOCAB, WIDTH]}
    for n in range(LAYERS):
        layer = f"model.layers.{n}."
        shapes.update({layer + "input_layernorm.weight": [WIDTH],
                       layer + "post_attention_layernorm.weight": [WIDTH],
                       layer + "self_attn.q_proj.weight": [WIDTH, WIDTH],
                       layer + "self_attn.k_proj.weight": [KV, WIDTH],
                       layer + "self_attn.v_proj.weight": [KV, WIDTH],
                       layer + "self_attn.o_proj.weight": [WIDTH, WIDTH],
                       layer + "mlp.gate_proj.weight": [HIDDEN, WIDTH],
                       layer + "mlp.up_proj.weight": [HIDDEN, WIDTH],
                       layer + "mlp.down_proj.weight": [WIDTH, HIDDEN]})
    entries, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, shape in shapes.items():
        size = 2 * shape[0] * (shape[1] if len(shape) > 1 else 1)
        entries[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    header = json.dumps(entries).encode()
    header += b" " * (-len(header) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(8 + len(header) + offset)
    return len(shapes), 8 + len(header)


def run(command):
    """Wall time in ms, peak resident memory in MiB, exit code."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    stderr = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    took = (time.perf_counter() - started) * 1000
    if process.returncode not in (0, 1):  # 1: lint found an error, which is fine here
        sys.exit(f"{' '.join(map(str, command))} failed: {stderr.decode().strip()}")
    return took, usage.ru_maxrss / 1024


def measure(what, command, runs):
    results = [run(command) for _ in range(runs)]
    times, peaks = zip(*results)
    print(f"{what:34} {statistics.median(times):8.1f} ms (least {min(times):.1f})"
          f" {max(peaks):8.1f} MiB peak")


def write_files(folder):
    (folder / "config.json").write_text(json.dumps(
        {"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 1,
         "max_position_embeddings": 64}))
    for what, name, write in (("GGUF, Q4_K", "model.gguf", write_gguf),
                              ("safetensors, BF16", "model.safetensors", write_safetensors)):
        n_tensors, header = write(folder / name)
        stat = (folder / name).stat()
        print(f"{what}: {n_tensors} tensors, header {header / 1e6:.1f} MB, file"
              f" {stat.st_size / 1e9:.0f} GB, {stat.st_blocks * 512 / 1e6:.1f} MB on disk",
              flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="*", default=[str(ROOT / "build/release/gyre"), "inspect"],
                        help="command that takes a file as its last argument")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--write", metavar="DIR", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        write_files(pathlib.Path(options.write))
        return
    with tempfile.TemporaryDirectory(prefix="gyre-headers-") as folder:
        # In a process of its own: a child's peak counts what its parent held when it was started.
        subprocess.run([sys.executable, __file__, "--write", folder], check=True)
        folder = pathlib.Path(folder)
        measure("a small config.json (the program)", options.program + [str(folder / "config.json")], options.runs)
        measure("GGUF, Q4_K", options.program + [str(folder / "model.gguf")], options.runs)
        measure("safetensors, BF16", options.program + [str(folder / "model.safetensors")],
                options.runs)


if __name__ == "__main__":
    main()
