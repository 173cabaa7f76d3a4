"""Makes a small SmolLM3 of 6 layers (every fourth unrotated) with a real tokenizer, as a Hugging Face
folder and, by llama.cpp's own converter, as the GGUF of that folder, for logits_parity.py and
llamacpp_parity.py: is the converter's order of q and k rows what loading expects?

usage: small_smollm3.py OUT --tokenizer FOLDER --converter .../convert_hf_to_gguf.py

OUT/folder and OUT/smollm3.gguf; FOLDER: any with a tokenizer.json that the converter knows (SmolLM2's own;
one that transformers made of a GGUF lacks the pre-tokenizer, and then the `mixed` prompt differs).
Weights are those of tiny_models.py, by formula. The transformers library does not read GGUF of this
architecture, so that the file is compared with llama.cpp, and with gyre's own reading of the folder
(--gyre PROGRAM), whose logits must be equal.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch
import transformers

import parity
from tiny_models import weight

SHAPE = dict(hidden_size=128, intermediate_size=192, num_hidden_layers=6, num_attention_heads=4,
             num_key_value_heads=2, max_position_embeddings=4096,
             rope_parameters=dict(rope_type="default", rope_theta=5e6))


def make_folder(folder, tokenizer):
    words = transformers.AutoTokenizer.from_pretrained(tokenizer)
    config = transformers.SmolLM3Config(vocab_size=len(words), bos_token_id=words.bos_token_id,
                                        eos_token_id=words.eos_token_id, pad_token_id=words.eos_token_id, **SHAPE)
    model = transformers.SmolLM3ForCausalLM(config).eval().to(torch.float32)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(weight(name, tuple(parameter.shape), 1))
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return config


def convert(converter, folder, file):
    paths = os.pathsep.join([str(converter.parent / "gguf-py"), os.environ.get("PYTHONPATH", "")])
    subprocess.run([sys.executable, converter, folder, "--outtype", "f32", "--outfile", file], check=True,
                   env={**os.environ, "PYTHONPATH": paths}, stderr=subprocess.DEVNULL)


def same(program, folder, file, name):
    """Whether gyre says the same of both, to the bit."""
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        text = parity.PROMPTS[name]
        a = parity.ask_gyre(program, folder, text, "fp32", 64, one)
        b = parity.ask_gyre(program, file, text, "fp32", 64, other)
        equal = a.ids == b.ids and a.greedy == b.greedy and np.array_equal(a.logits, b.logits)
    print(f"{name:9} gyre, folder and GGUF: {'the same to the bit' if equal else 'DIFFERENT'}", flush=True)
    return equal


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--tokenizer", required=True, type=pathlib.Path)
    parser.add_argument("--converter", required=True, type=pathlib.Path)
    parser.add_argument("--gyre", help="the program; compares the two")
    arguments = parser.parse_args()
    folder, file = arguments.out / "folder", arguments.out / "smollm3.gguf"
    folder.mkdir(parents=True, exist_ok=True)
    config = make_folder(folder, arguments.tokenizer)
    print("layers that rotate:", config.no_rope_layers)
    convert(arguments.converter, folder, file)
    if not arguments.gyre:
        return 0
    return 0 if all([same(arguments.gyre, folder, file, name) for name in parity.PROMPTS]) else 1


if __name__ == "__main__":
    sys.exit(main())
