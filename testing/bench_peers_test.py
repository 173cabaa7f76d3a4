"""The PyTorch peers of `gyre bench` at tiny shapes: what they print, and the --serve protocol.

Skips where no Python with torch is found: GYRE_PYTHON, the checkout's .venv, then this Python.
"""
import json
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
TINY = ["--threads", "1"]
TRAIN = [*TINY, "--width", "16", "--layers", "1", "--hidden", "16", "--vocab", "11", "--batch", "2",
         "--length", "8", "--head-dim", "8"]
ATTENTION = [*TINY, "--heads", "2"]


def python_with_torch():
    for python in (os.environ.get("GYRE_PYTHON"), ROOT / ".venv/bin/python", sys.executable):
        look = "import importlib.util as u, sys; sys.exit(u.find_spec('torch') is None)"
        try:
            if python and subprocess.run([python, "-c", look], check=False).returncode == 0:
                return str(python)
        except OSError:
            pass
    return None


PYTHON = python_with_torch()


@unittest.skipIf(PYTHON is None, "no Python with torch")
class Peers(unittest.TestCase):
    def run_peer(self, script, arguments, lines=""):
        return subprocess.run([PYTHON, ROOT / "bench" / script, *arguments], input=lines, text=True,
                              capture_output=True, check=False, timeout=300)

    def lines_of(self, script, arguments):
        done = self.run_peer(script, arguments)
        self.assertEqual(0, done.returncode, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_train_prints_one_line_per_mode(self):
        lines = self.lines_of("torch_train.py", [*TRAIN, "--steps", "1", "--modes", "bf16,fp32",
                                                 "--rope", "learned"])
        self.assertEqual(["bf16", "fp32"], [line["mode"] for line in lines])
        for line in lines:
            # embedding 11 x 16, qkv and out 4 x 16^2, MLP 3 x 16^2, three norms, four alphas
            self.assertEqual(11 * 16 + 7 * 16 * 16 + 3 * 16 + 4, line["params"])
            self.assertGreater(line["tokens_per_s"], 0)
            self.assertGreater(line["peak_rss_mib"], 10)

    def test_attention_prints_one_line_per_case(self):
        lines = self.lines_of("torch_attention.py", [
            *ATTENTION, "--steps", "1", "--head-dim", "8,16", "--lengths", "4,8", "--kinds",
            "causal,window:2,alibi"])
        self.assertEqual(12, len(lines))
        self.assertEqual((8, 4, "causal"), tuple(lines[0][key] for key in ("D", "T", "kind")))
        self.assertTrue(all(line["ms"] > 0 for line in lines))

    def test_serve_answers_line_by_line(self):
        done = self.run_peer("torch_train.py", [*TRAIN, "--serve"],
                             "step bf16 learned\npeak\nstep int8 fixed\nhm\nquit\nstep never\n")
        self.assertEqual(0, done.returncode, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(["ready", "ms", "mib", "error", "error"], [l.split()[0] for l in lines])
        about = json.loads(lines[0].split(" ", 1)[1])
        self.assertTrue(about["peer"].startswith("torch "))
        self.assertEqual(1, about["threads"])
        self.assertGreater(float(lines[2].split()[1]), about["start_mib"] - 1)
        self.assertIn("no case 'int8 fixed'", lines[3])

    def test_serve_ends_with_its_input(self):
        done = self.run_peer("torch_attention.py", [*ATTENTION, "--serve"], "step causal 8 8\n")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(["ready", "ms"], [l.split()[0] for l in done.stdout.splitlines()])

    def test_masks_are_those_of_the_kinds(self):
        code = """
import sys
sys.path.insert(0, sys.argv[1])
sys.argv = sys.argv[:1]
import torch
import torch_attention as peer
window = peer.mask_of("window:2", 2, 4, torch.float32, "cpu")
assert window.int().tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]], window
bias = peer.mask_of("alibi", 2, 3, torch.float32, "cpu")[0]
inf = float("inf")
assert bias[0].tolist() == [[0, -inf, -inf], [-1 / 16, 0, -inf], [-2 / 16, -1 / 16, 0]], bias
assert bias[1, 2, 0] == -2 / 256, bias
"""
        done = subprocess.run([PYTHON, "-c", code, ROOT / "bench"], capture_output=True, text=True,
                              check=False, timeout=300)
        self.assertEqual(0, done.returncode, done.stderr)

    def test_wrong_shape_is_said(self):
        done = self.run_peer("torch_train.py", ["--width", "100"])
        self.assertEqual(2, done.returncode)
        self.assertIn("--width must be a multiple of --head-dim", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
