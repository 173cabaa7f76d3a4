"""Compares gyre's logits and greedy tokens with those of transformers on the same weights.

    python testing/peers/logits_parity.py --gyre build/release/gyre --model PATH [--model PATH ...]

PATH: a Hugging Face folder or a GGUF file (transformers dequantises it; needs `gguf`, `accelerate`).
transformers multiplies frequencies and positions in float32, which is 6e-5 of a turn at position 1,000 and
moves logits of Gemma 3 by up to 1e-2 there; gyre computes angles in double. Hence two rows in float32:

fp32   transformers as it is: 64 greedy tokens must be the same, and every logit of every position within
       --limit (1e-3), which Gemma 3 on a long text is not
exact  transformers with the same angles computed in double, within the same limit: tells whose the
       difference is; left out for a model whose positions are scaled
bf16   both in bfloat16, for information
ours,  with --double: how far gyre and transformers in float32, each, are from transformers in float64
peer   (double angles, norms and embedding scale too), for information

A tokenizer that transformers makes from a GGUF file is GPT-2's whatever the file's pre-tokenizer; a prompt
that it cuts in another way is reported as over. --same-tokens gives the peer gyre's tokens instead.
Exit 1 when over. Not part of the default tests: it needs torch and transformers.
"""
import argparse
import dataclasses
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


def with_exact_angles(model):
    """Makes every rotary embedding compute in double, from the base; False when that is not all there is."""
    config = model.config
    rules = config.rope_parameters
    dims = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    kinds = rules if all(isinstance(rule, dict) for rule in rules.values()) else {None: rules}
    if any(rule["rope_type"] != "default" or rule.get("partial_rotary_factor", 1) != 1 for rule in kinds.values()):
        return False

    def forward(x, position_ids, layer_type=None):
        frequency = kinds[layer_type]["rope_theta"] ** (-torch.arange(0, dims, 2, dtype=torch.float64) / dims)
        angles = position_ids[..., None].double() * frequency
        angles = torch.cat((angles, angles), dim=-1)
        return angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    for module in model.modules():
        if type(module).__name__.endswith("RotaryEmbedding"):
            module.forward = forward
    return True


def in_double(model):
    """The model in float64, what transformers computes in float32 whatever the type included."""
    model = model.double()
    if not with_exact_angles(model):
        raise SystemExit("--double: the positions of this model are scaled")
    offset = 1.0 if type(model).__name__.startswith("Gemma") else 0.0

    def norm_of(module):
        eps = module.eps if hasattr(module, "eps") else module.variance_epsilon
        return lambda x: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * (offset + module.weight)
    for module in model.modules():
        if type(module).__name__.endswith("RMSNorm"):
            module.forward = norm_of(module)
        if hasattr(module, "scalar_embed_scale"):
            module.embed_scale = torch.tensor(module.scalar_embed_scale, dtype=torch.float64)
    return model


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


def against_double(peer, answers):
    """Rows that say whose error a difference is; answers: name -> (gyre's, transformers')."""
    peer = in_double(peer)
    for name, (ours, theirs) in answers.items():
        exact, _ = ask_transformers(peer, ours.ids, 0)
        for kind, answer in (("ours", ours), ("peer", theirs)):
            parity.report(name, kind, dataclasses.replace(answer, greedy=[]), exact, [], None)


def check(arguments, path, folder):
    good = True

    def over_limit(worst, _):
        return not worst <= arguments.limit

    print(f"{path}\n{parity.HEADER}", flush=True)
    for dtype in arguments.dtypes.split(","):
        peer, tokenizer = load(path, {"fp32": torch.float32, "bf16": torch.bfloat16}[dtype])
        names = arguments.prompts.split(",")
        ours, theirs_of = {}, {}
        for name in names:
            text = parity.PROMPTS[name]
            ours[name] = parity.ask_gyre(arguments.gyre, path, text, dtype, arguments.tokens, folder)
            ids = ours[name].ids if arguments.same_tokens else tokenizer(text).input_ids
            theirs, margins = ask_transformers(peer, ids, arguments.tokens)
            theirs_of[name] = theirs
            over = over_limit if dtype == "fp32" else None
            good &= parity.report(name, dtype, ours[name], theirs, margins, over)
        if dtype == "fp32" and with_exact_angles(peer):
            for name in names:
                theirs, _ = ask_transformers(peer, ours[name].ids, 0)
                good &= parity.report(name, "exact", dataclasses.replace(ours[name], greedy=[]), theirs, [],
                                      over_limit)
        if dtype == "fp32" and arguments.double:
            against_double(peer, {name: (ours[name], theirs_of[name]) for name in names
                                  if ours[name].ids == theirs_of[name].ids})
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gyre", required=True, help="the program")
    parser.add_argument("--model", required=True, action="append", type=pathlib.Path)
    parser.add_argument("--limit", type=float, default=1e-3, help="largest difference of a logit in float32")
    parser.add_argument("--tokens", type=int, default=64, help="greedy tokens")
    parser.add_argument("--prompts", default=",".join(parity.PROMPTS))
    parser.add_argument("--dtypes", default="fp32,bf16")
    parser.add_argument("--same-tokens", action="store_true", help="transformers gets gyre's tokens")
    parser.add_argument("--double", action="store_true", help="both against float64: whose error it is")
    arguments = parser.parse_args()
    print(f"transformers {transformers.__version__}, torch {torch.__version__}")
    with tempfile.TemporaryDirectory() as folder:
        good = [check(arguments, path, folder) for path in arguments.model]
    print("within the limits" if all(good) else "OVER the limits")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
