#!/usr/bin/env python3
"""PyTorch's side of `gyre bench attention`: rotary positions and attention, forward and backward.

  python3 bench/torch_attention.py --head-dim 64 --lengths 512,2048 --kinds causal,window:512,alibi

causal: q and k are rotated (half layout), then scaled_dot_product_attention(is_causal=True).
window:W rotates and passes a boolean mask as attn_mask; alibi passes the bias as attn_mask and
rotates nothing: attn_mask is the only way that function offers. Masks, biases, cos and sin are made
once, outside the timed step. Prints one JSON line per case; peak_rss_mib is of the whole process so
far, so compare memory with one case per process. --serve: see torch_peer.py.
"""
import argparse
import statistics
import sys
import time

sys.dont_write_bytecode = True

import torch
import torch.nn.functional as F

import torch_peer


def turn(x_BHTD, cos_TP, sin_TP):
    first, second = x_BHTD.chunk(2, dim=-1)
    return torch.cat((first * cos_TP - second * sin_TP, second * cos_TP + first * sin_TP), dim=-1)


def mask_of(kind, n_heads, length, dtype, device):
    """attn_mask of the kind: None, boolean [T, T] or a bias [1, H, T, T] in the compute type."""
    if kind == "causal":
        return None
    at = torch.arange(length, device=device)
    back_TS = at[:, None] - at[None, :]
    if kind.startswith("window:"):
        return (back_TS >= 0) & (back_TS < int(kind.removeprefix("window:")))
    if kind != "alibi":
        raise ValueError(f"no kind '{kind}'; known: causal, window:W, alibi")
    heads = torch.arange(1, n_heads + 1, device=device)
    slopes_H = 2.0 ** (-8.0 * heads / n_heads)
    bias = torch.empty(1, n_heads, length, length, dtype=dtype, device=device)
    for h in range(n_heads):  # head by head, so that no float32 copy of all of them is in the peak
        row = -slopes_H[h] * back_TS
        bias[0, h] = row.masked_fill_(back_TS < 0, float("-inf"))
    return bias


class Case:
    """Inputs of one shape; step() is one forward and backward."""

    def __init__(self, options, kind, length, head_dim):
        torch.manual_seed(0)
        device, dtype = options.device, getattr(torch, options.dtype)
        shape = (options.batch, options.heads, length, head_dim)
        self.device = device
        self.q, self.k, self.v = (torch.randn(shape, dtype=dtype, device=device).requires_grad_()
                                  for _ in range(3))
        self.grad = torch.randn(shape, dtype=dtype, device=device)
        self.mask = mask_of(kind, options.heads, length, dtype, device)
        self.rotates = kind != "alibi"
        pairs = torch.arange(0, head_dim, 2, device=device)
        theta = 10000.0 ** (-pairs / head_dim)
        angle = torch.arange(length, device=device)[:, None] * theta
        self.cos, self.sin = angle.cos().to(dtype), angle.sin().to(dtype)
        self.step()

    def step(self):
        q, k = self.q, self.k
        if self.rotates:
            q, k = turn(q, self.cos, self.sin), turn(k, self.cos, self.sin)
        y = F.scaled_dot_product_attention(q, k, self.v, attn_mask=self.mask,
                                           is_causal=self.mask is None)
        y.backward(self.grad)
        self.q.grad = self.k.grad = self.v.grad = None
        if self.device == "cuda":
            torch.cuda.synchronize()

    def timed_ms(self):
        start = time.perf_counter()
        self.step()
        return 1e3 * (time.perf_counter() - start)


def report(options, kind, length, head_dim):
    case = Case(options, kind, length, head_dim)
    times = [case.timed_ms() for _ in range(options.steps)]
    torch_peer.print_case(torch, kind=kind, dtype=options.dtype, B=options.batch, H=options.heads,
                          T=length, D=head_dim, ms=statistics.median(times),
                          peak_rss_mib=torch_peer.peak_rss_mib())


def parsed():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in dict(batch=1, heads=8, steps=5, threads=0).items():
        parser.add_argument("--" + name, type=int, default=value)
    parser.add_argument("--head-dim", default="64", help="one or more, separated by commas")
    parser.add_argument("--lengths", default="512,2048,8192")
    parser.add_argument("--kinds", default="causal,window:512,alibi")
    parser.add_argument("--dtype", choices=("bfloat16", "float32"), default="bfloat16")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--serve", action="store_true",
                        help="answer gyre bench on stdin and stdout")
    return parser.parse_args()


def main():
    options = parsed()
    torch_peer.set_threads(torch, options.threads)
    if not options.serve:
        for head_dim in map(int, options.head_dim.split(",")):
            for length in map(int, options.lengths.split(",")):
                for kind in options.kinds.split(","):
                    report(options, kind, length, head_dim)
        return
    current = {}  # one case at a time: a bias of many GiB must go before the next is made

    def step(case):
        key = tuple(case)
        if key not in current:
            current.clear()
            current[key] = Case(options, key[0], int(key[1]), int(key[2]))
        return current[key].timed_ms()

    torch_peer.serve(torch, step)


if __name__ == "__main__":
    main()
