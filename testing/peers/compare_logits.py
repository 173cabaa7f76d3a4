"""Compares `gyre logits` with transformers in float32 on one checkpoint and one list of tokens.

usage: compare_logits.py GYRE MODEL [N]        needs torch and transformers (and gguf for a .gguf file)

MODEL is a folder or a .gguf file; N tokens (32) are drawn with a fixed seed. Prints the largest difference,
the largest logit and how many positions agree on the largest.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import torch
import transformers


def peer(path, tokens):
    if path.suffix == ".gguf":
        model = transformers.AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name,
                                                                  dtype=torch.float32)
    else:
        model = transformers.AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)
    with torch.no_grad():
        return model.eval()(torch.tensor([tokens]), use_cache=False).logits[0], model.config


def main(gyre, path, n):
    path = pathlib.Path(path).resolve()
    torch.manual_seed(6)
    tokens = torch.randint(3, 49000, (n,)).tolist()
    expected, config = peer(path, tokens)
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "logits.json")
        subprocess.run([gyre, "logits", str(path), "--tokens", ",".join(map(str, tokens)), "--all",
                        "--json", str(out)], check=True, stdout=subprocess.DEVNULL)
        actual = torch.tensor(json.loads(out.read_text())["logits"])
    difference = (actual - expected).abs()
    print(json.dumps({"model": path.name, "type": config.model_type, "tokens": n,
                      "max_difference": difference.max().item(), "max_logit": expected.abs().max().item(),
                      "same_largest": (actual.argmax(-1) == expected.argmax(-1)).sum().item()}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 32)
