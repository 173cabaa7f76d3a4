"""Compares gyre's logits and greedy tokens with those of transformers on the same weights.

    python testing/peers/logits_parity.py --gyre build/release/gyre --model PATH [--model PATH ...]

PATH: a Hugging Face folder or a GGUF file (transformers dequantises it; needs `gguf`, `accelerate`).
In float32 every logit of every position must be within --limit (1e-3) and 64 greedy tokens the same;
bfloat16 is shown for information, both against its peer in bfloat16 and with it against float32. Exit 1
when over. Not part of the default tests: it needs torch and transformers.
"""
import argparse
import os
import pathlib
import sys
import tempfile
import warnings

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
os.environ.setdefault("TQDM_DISABLE", "1")
warnings.filterwarnings("ignore", category=FutureWarning)
import torch
import transformers

import parity


def load(path, dtype):
    """Model and tokenizer as transformers reads them."""
    transformers.utils.logging.disable_progress_bar()
    where, extra = (path.parent, {"gguf_file": path.name}) if path.suffix == ".gguf" else (path, {})
    model = transformers.AutoModelForCausalLM.from_pretrained(where, dtype=dtype, **extra).eval()
    return model, transformers.AutoTokenizer.from_pretrained(where, **extra)


@torch.no_grad()
def ask_transformers(model, ids, count):
    """Logits of the prompt, greedy tokens, and by how much each was ahead of the next."""
    out = model(torch.tensor([ids]), use_cache=True)
    logits, row, cache = out.logits[0].float().numpy(), out.logits[0, -1], out.past_key_values
    greedy, margins = [], []
    for _ in range(count):
        best = row.float().topk(2)
        greedy.append(int(best.indices[0]))
        margins.append(float(best.values[0] - best.values[1]))
        out = model(torch.tensor([[greedy[-1]]]), past_key_values=cache, use_cache=True)
        row, cache = out.logits[0, -1], out.past_key_values
    return parity.Answer(ids, logits, greedy), margins


def check(arguments, path, folder):
    good = True
    print(f"{path}\n{parity.HEADER}")
    for dtype in arguments.dtypes.split(","):
        peer, tokenizer = load(path, {"fp32": torch.float32, "bf16": torch.bfloat16}[dtype])
        for name in arguments.prompts.split(","):
            ours = parity.ask_gyre(arguments.gyre, path, parity.PROMPTS[name], dtype, arguments.tokens, folder)
            theirs, margins = ask_transformers(peer, tokenizer(parity.PROMPTS[name]).input_ids, arguments.tokens)
            over = (lambda worst, _: not worst <= arguments.limit) if dtype == "fp32" else None
            good &= parity.report(name, dtype, ours, theirs, margins, over)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gyre", required=True, help="the program")
    parser.add_argument("--model", required=True, action="append", type=pathlib.Path)
    parser.add_argument("--limit", type=float, default=1e-3, help="largest difference of a logit in float32")
    parser.add_argument("--tokens", type=int, default=64, help="greedy tokens")
    parser.add_argument("--prompts", default=",".join(parity.PROMPTS))
    parser.add_argument("--dtypes", default="fp32,bf16")
    arguments = parser.parse_args()
    print(f"transformers {transformers.__version__}, torch {torch.__version__}")
    with tempfile.TemporaryDirectory() as folder:
        good = [check(arguments, path, folder) for path in arguments.model]
    print("within the limits" if all(good) else "OVER the limits")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
