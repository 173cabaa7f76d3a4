"""Writes a corpus on which a small model learns to recall: recall_corpus.py FILE.jsonl

Random strings of 2 to 24 different letters, each repeated to 2 to 6 times its length, one a document,
12 million bytes. After its first copy a string can only be predicted by finding the last place of the
present letter and copying what followed (an induction head; Olsson et al. 2022, arXiv:2209.11895),
which is what the needle ranking of `gyre eval` asks: its positive control. docs/eval.md has the result.
"""
import json
import random
import sys

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n", maxsplit=1)[0])
    draw = random.Random(11)
    written = 0
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        while written < 12_000_000:
            n = draw.randint(2, 24)
            string = "".join(draw.sample(LETTERS, n))
            text = (string * 40)[:draw.randint(2 * n, 6 * n)]
            written += len(text) + 1
            out.write(json.dumps({"text": text}) + "\n")


if __name__ == "__main__":
    main()
