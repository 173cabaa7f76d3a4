#!/usr/bin/env python3
"""PyTorch's side of `gyre bench train`: one training step of a small decoder on random tokens.

  python3 bench/torch_train.py --modes bf16,bf16-compile --rope learned

The model is the one gyre trains there: pre-norm blocks (RMSNorm, causal attention with rotary
positions in the half layout, SwiGLU), tied output head, float32 weights under bf16 autocast, AdamW
(fused), gradient norm clipped to 1. Learned frequencies are the plain autograd form: one alpha per
pair, theta * exp(alpha), gradient through cos and sin. Prints one JSON line per mode; peak_rss_mib
is of the whole process, so compare memory with one mode per process. --serve: see torch_peer.py.
"""
import argparse
import os
import statistics
import sys
import time

sys.dont_write_bytecode = True
# Compile in this process: a pool of workers could outlive it.
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")

import torch
import torch.nn.functional as F
from torch import nn

import torch_peer

MODES = ("fp32", "bf16", "fp32-compile", "bf16-compile")
ROPES = ("fixed", "learned")
WARM_UP = 2


def turn(x_BHTD, cos_TP, sin_TP):
    first, second = x_BHTD.chunk(2, dim=-1)
    return torch.cat((first * cos_TP - second * sin_TP, second * cos_TP + first * sin_TP), dim=-1)


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return F.rms_norm(x, self.weight.shape, self.weight.to(x.dtype), 1e-5)


class Layer(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.head_dim = shape.head_dim
        self.attention_norm = Norm(shape.width)
        self.qkv = nn.Linear(shape.width, 3 * shape.width, bias=False)
        self.out = nn.Linear(shape.width, shape.width, bias=False)
        self.mlp_norm = Norm(shape.width)
        self.gate_up = nn.Linear(shape.width, 2 * shape.hidden, bias=False)
        self.down = nn.Linear(shape.hidden, shape.width, bias=False)

    def attention(self, x_BTC, cos, sin):
        B, T, C = x_BTC.shape
        heads = self.qkv(x_BTC).view(B, T, 3, C // self.head_dim, self.head_dim)
        q, k, v = heads.permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(turn(q, cos, sin), turn(k, cos, sin), v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(B, T, C))

    def mlp(self, x_BTC):
        gate, up = self.gate_up(x_BTC).chunk(2, dim=-1)
        return self.down(F.silu(gate) * up)

    def forward(self, x_BTC, cos, sin):
        x_BTC = x_BTC + self.attention(self.attention_norm(x_BTC), cos, sin)
        return x_BTC + self.mlp(self.mlp_norm(x_BTC))


class Decoder(nn.Module):
    def __init__(self, shape, learned):
        super().__init__()
        self.embedding = nn.Embedding(shape.vocab, shape.width)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.norm = Norm(shape.width)
        pairs = torch.arange(0, shape.head_dim, 2)
        self.register_buffer("theta", 10000.0 ** (-pairs / shape.head_dim))
        self.alpha = nn.Parameter(torch.zeros(shape.head_dim // 2), requires_grad=learned)

    def forward(self, tokens, targets, dtype):
        positions = torch.arange(tokens.size(1), device=tokens.device)
        angle = positions[:, None] * (self.theta * self.alpha.exp())
        cos, sin = angle.cos().to(dtype), angle.sin().to(dtype)
        x = self.embedding(tokens).to(dtype)
        for layer in self.layers:
            x = layer(x, cos, sin)
        logits = F.linear(self.norm(x), self.embedding.weight)
        return F.cross_entropy(logits.float().flatten(0, 1), targets.flatten())


class Training:
    """One model with its optimizer; step() is one whole training step on new random tokens."""

    def __init__(self, options, mode, rope):
        if mode not in MODES or rope not in ROPES:
            raise ValueError(f"no case '{mode} {rope}'; known: {', '.join(MODES)} x "
                             f"{', '.join(ROPES)}")
        torch.manual_seed(0)
        self.options = options
        self.model = Decoder(options, rope == "learned").to(options.device)
        self.parameters = [p for p in self.model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW(self.parameters, lr=1e-3, fused=True)
        self.call = torch.compile(self.model) if mode.endswith("compile") else self.model
        self.dtype = torch.bfloat16 if mode.startswith("bf16") else torch.float32
        for _ in range(WARM_UP):
            self.step()

    def step(self):
        o = self.options
        text = torch.randint(o.vocab, (o.batch, o.length + 1), device=o.device)
        with torch.autocast(o.device, torch.bfloat16, enabled=self.dtype == torch.bfloat16):
            loss = self.call(text[:, :-1], text[:, 1:].contiguous(), self.dtype)
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        if o.device == "cuda":
            torch.cuda.synchronize()

    def timed_ms(self):
        start = time.perf_counter()
        self.step()
        return 1e3 * (time.perf_counter() - start)


def report(options, mode):
    training = Training(options, mode, options.rope)
    times = [training.timed_ms() for _ in range(options.steps)]
    seconds = statistics.median(times) / 1e3
    n = sum(p.numel() for p in training.parameters)
    tokens = options.batch * options.length
    # 6 per parameter and token; causal attention sees half of the keys on average.
    flops = 6 * tokens * (n + options.layers * options.width * options.length)
    torch_peer.print_case(
        torch, mode=mode, rope=options.rope, params=n, tokens_per_s=tokens / seconds,
        gflops=flops / seconds / 1e9, step_ms=[round(t, 2) for t in times],
        peak_rss_mib=torch_peer.peak_rss_mib())


def parsed():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    defaults = dict(width=256, layers=6, hidden=768, vocab=4096, batch=16, length=512, head_dim=64,
                    steps=7, threads=0)
    for name, value in defaults.items():
        parser.add_argument("--" + name.replace("_", "-"), type=int, default=value)
    parser.add_argument("--modes", default="bf16,bf16-compile", help=", ".join(MODES))
    parser.add_argument("--rope", choices=ROPES, default="fixed")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--serve", action="store_true",
                        help="answer gyre bench on stdin and stdout")
    options = parser.parse_args()
    if options.width % options.head_dim != 0 or options.head_dim % 2 != 0:
        parser.error("--width must be a multiple of --head-dim, which must be even")
    return options


def main():
    options = parsed()
    torch_peer.set_threads(torch, options.threads)
    if not options.serve:
        for mode in options.modes.split(","):
            report(options, mode)
        return
    cases = {}

    def step(case):
        key = tuple(case)
        if key not in cases:
            cases[key] = Training(options, *case)
        return cases[key].timed_ms()

    torch_peer.serve(torch, step)


if __name__ == "__main__":
    main()
