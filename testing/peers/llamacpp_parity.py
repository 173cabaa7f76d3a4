"""Compares gyre's logits and greedy tokens with those of llama.cpp on the same GGUF file.

    python testing/peers/llamacpp_parity.py --gyre build/release/gyre --node FOLDER --model FILE.gguf ...

FOLDER: where `npm install node-llama-cpp --ignore-scripts` was run; its prebuilt libllama is asked through
llamacpp_logits.cpp, which is compiled (g++) against the headers of the package's own llama.cpp sources.
Files in F32 (gguf_f32.py makes them) are held to the limits: the same 64 greedy tokens and a mean
KL(gyre || llama.cpp) of at most --limit (1e-3) per position. Other files are shown for information: there
llama.cpp rounds activations too. Exit 1 when over. Not part of the default tests: it needs the package.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import parity

HERE = pathlib.Path(__file__).resolve().parent


def compile_peer(node, folder):
    """The program and the folder of its backends."""
    modules = node / "node_modules"
    libraries = modules / "@node-llama-cpp/linux-x64/bins/linux-x64"
    bundle = modules / "node-llama-cpp/llama/gitRelease.bundle"
    sources, program = folder / "llama.cpp", folder / "llamacpp_logits"
    subprocess.run(["git", "clone", "--quiet", "--no-checkout", bundle, sources], check=True)
    subprocess.run(["git", "-C", sources, "checkout", "--quiet", "HEAD", "--", "include", "ggml/include"],
                   check=True)
    found = [next(libraries.glob(f"{name}*so*")) for name in ("libllama.", "libggml.", "libggml-base.")]
    subprocess.run(["g++", "-std=c++20", "-O1", HERE / "llamacpp_logits.cpp", f"-I{sources}/include",
                    f"-I{sources}/ggml/include", *found, f"-Wl,-rpath,{libraries}", "-o", program], check=True)
    return program, libraries


def is_f32(path):
    import gguf
    kinds = {tensor.tensor_type for tensor in gguf.GGUFReader(str(path)).tensors}
    return kinds == {gguf.GGMLQuantizationType.F32}


def ask_llama(program, backends, path, ids, arguments, folder):
    file = folder / "llama.f32"
    printed = subprocess.run([program, backends, path, str(arguments.tokens), str(arguments.threads), file,
                              *map(str, ids)], check=True, stdout=subprocess.PIPE, text=True).stdout
    pairs = [line.split() for line in printed.splitlines()]
    logits = np.memmap(file, np.float32, "r").reshape(len(ids), -1)
    return parity.Answer(ids, logits, [int(p[0]) for p in pairs]), [float(p[1]) for p in pairs]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gyre", required=True, help="the program")
    parser.add_argument("--node", required=True, type=pathlib.Path, help="where node-llama-cpp is installed")
    parser.add_argument("--model", required=True, action="append", type=pathlib.Path)
    parser.add_argument("--limit", type=float, default=1e-3, help="mean KL per position")
    parser.add_argument("--tokens", type=int, default=64, help="greedy tokens")
    parser.add_argument("--threads", type=int, default=os.cpu_count(),
                        help="of llama.cpp, which wait in loops: fewer on a busy machine [all cores]")
    parser.add_argument("--prompts", default=",".join(parity.PROMPTS))
    arguments = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program, backends = compile_peer(arguments.node, folder)
        for path in arguments.model:
            exact = is_f32(path)
            print(f"{path}{'' if exact else ' (quantised: for information)'}\n{parity.HEADER}")
            for name in arguments.prompts.split(","):
                ours = parity.ask_gyre(arguments.gyre, path, parity.PROMPTS[name], "fp32", arguments.tokens, folder)
                theirs, margins = ask_llama(program, backends, path, ours.ids, arguments, folder)
                over = (lambda _, mean: not mean <= arguments.limit) if exact else None
                good &= parity.report(name, "fp32", ours, theirs, margins, over)
    print("within the limits" if good else "OVER the limits")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
