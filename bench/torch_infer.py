#!/usr/bin/env python3
"""transformers' side of `gyre bench infer`: prefill and decoding of one checkpoint, batch 1.

  python3 bench/torch_infer.py --model DIR_OR_GGUF --dtype bf16 --cases prefill:512,decode:512

prefill:T is one pass over T random tokens that fills a new cache and computes the last logits;
decode:T is one more token after T tokens, greedy, the mean of --new tokens. Needs transformers,
for GGUF files also accelerate and gguf. --serve: see torch_peer.py.
"""
import argparse
import os
import statistics
import sys
import time
import warnings

sys.dont_write_bytecode = True
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
os.environ.setdefault("TQDM_DISABLE", "1")

warnings.filterwarnings("ignore", category=FutureWarning)  # past_key_values: renamed, both work

import torch

import torch_peer

WARM_UP = 2


def load(path, dtype):
    from transformers import AutoModelForCausalLM
    where = {"pretrained_model_name_or_path": path}
    if path.endswith(".gguf"):
        folder, name = os.path.split(os.path.abspath(path))
        where = {"pretrained_model_name_or_path": folder, "gguf_file": name}
    return AutoModelForCausalLM.from_pretrained(**where, dtype=dtype).eval()


class Inference:
    def __init__(self, options):
        self.options = options
        dtype = torch.bfloat16 if options.dtype == "bf16" else torch.float32
        self.model = load(options.model, dtype)
        self.vocab = self.model.get_input_embeddings().weight.size(0)
        self.caches = {}

    def tokens(self, n):
        return torch.randint(self.vocab, (1, n), generator=torch.Generator().manual_seed(n))

    def forward(self, tokens, cache):
        return self.model(tokens, past_key_values=cache, use_cache=True, logits_to_keep=1)

    @torch.inference_mode()
    def prefill(self, n):
        tokens = self.tokens(n)
        start = time.perf_counter()
        out = self.forward(tokens, None)
        out.logits[0, -1].argmax().item()
        return 1e3 * (time.perf_counter() - start), out

    @torch.inference_mode()
    def decode(self, n):
        """A new cache each time: cropping one is not what every kind of cache can do."""
        _, out = self.prefill(n)
        cache, token = out.past_key_values, out.logits[:, -1:].argmax(-1)
        start = time.perf_counter()
        for _ in range(self.options.new):
            token = self.forward(token, cache).logits[:, -1:].argmax(-1)
        return 1e3 * (time.perf_counter() - start) / self.options.new

    def timed_ms(self, kind, length):
        n = int(length)
        if kind not in ("prefill", "decode") or n < 1:
            raise ValueError(f"no case '{kind} {length}'; known: prefill T, decode T")
        return self.prefill(n)[0] if kind == "prefill" else self.decode(n)


def parsed():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="folder with config.json, or a .gguf file")
    parser.add_argument("--dtype", choices=("bf16", "fp32"), default="bf16")
    parser.add_argument("--cases", default="prefill:512,decode:512")
    parser.add_argument("--new", type=int, default=32, help="tokens of one decoding step")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--serve", action="store_true",
                        help="answer gyre bench on stdin and stdout")
    return parser.parse_args()


def main():
    options = parsed()
    torch_peer.set_threads(torch, options.threads)
    inference = Inference(options)
    if not options.serve:
        for case in options.cases.split(","):
            times = [inference.timed_ms(*case.split(":")) for _ in range(WARM_UP + options.steps)]
            times = times[WARM_UP:]
            torch_peer.print_case(torch, case=case, dtype=options.dtype,
                                  median_ms=statistics.median(times),
                                  step_ms=[round(t, 3) for t in times],
                                  peak_rss_mib=torch_peer.peak_rss_mib())
        return
    known = set()

    def step(case):
        if tuple(case) not in known:
            for _ in range(WARM_UP):
                inference.timed_ms(*case)
            known.add(tuple(case))
        return inference.timed_ms(*case)

    torch_peer.serve(torch, step)


if __name__ == "__main__":
    main()
