"""gyre on real weights: logits and greedy tokens of SmolLM2 against transformers, caches proven.

./gyre test fetches the model beforehand (testing/real_models.py); here nothing is fetched, and a model
that is not there is skipped. GYRE_TEST_MODELS names those wanted, `smollm2` unless set; with
`smollm2,gemma3` the caches of Gemma 3, whose layers alternate between a window and all tokens, are proven
too. Expected values: testing/data/smollm2.json, which says where it comes from.
"""
import json
import os
import pathlib
import subprocess
import unittest

import real_models

HERE = pathlib.Path(__file__).resolve().parent
GYRE = os.environ.get("GYRE_PROGRAM", HERE.parent / "build" / "release" / "gyre")
WANTED = os.environ.get("GYRE_TEST_MODELS", "smollm2").split(",")
LIMIT = 1e-3  # of a logit in float32; 1e-4 was measured


def path_of(name):
    path = real_models.cached(name)
    if path is None:
        raise unittest.SkipTest(f"{name} is not here; fetch it with: testing/real_models.py fetch {name}")
    return path


def gyre(*arguments):
    done = subprocess.run([str(part) for part in (GYRE, *arguments, "--json", "-", "--threads", "1")], capture_output=True,
                          text=True, check=False, timeout=600)
    return done.returncode, json.loads(done.stdout) if done.stdout else {}, done.stderr


class Checks(unittest.TestCase):
    def asked(self, *arguments):
        code, answer, said = gyre(*arguments)
        self.assertEqual(code, 0, said)
        return answer

    def prove_cache(self, path, tokens):
        """One pass = chunks = token by token = padded batch = after a rollback; faults are noticed."""
        answer = self.asked("verify", "--model", path, "--tokens", tokens)
        self.assertTrue(answer["passed"], answer)
        self.assertGreaterEqual(len(answer["checks"]), 5)
        for fault in ("cache-position", "cache-padding-seen"):  # all of them: small models, in C++
            code, answer, said = gyre("verify", "--model", path, "--tokens", tokens, "--fault", fault)
            self.assertEqual(code, 1, said)
            self.assertFalse(answer["passed"], fault)


@unittest.skipUnless("smollm2" in WANTED, "GYRE_TEST_MODELS does not name smollm2")
class SmolLM2(Checks):
    @classmethod
    def setUpClass(cls):
        cls.path = path_of("smollm2")
        cls.prompts = json.loads((HERE / "data/smollm2.json").read_text(encoding="utf-8"))["prompts"]

    def test_logits_are_those_of_transformers(self):
        for prompt in self.prompts:
            with self.subTest(prompt["name"]):
                answer = self.asked("logits", self.path, "--text", prompt["text"], "--top", "5")
                self.assertEqual(answer["tokens"], prompt["tokens"])
                self.assertEqual([one["id"] for one in answer["top"]], [one["id"] for one in prompt["top"]])
                for ours, theirs in zip(answer["top"], prompt["top"]):
                    self.assertAlmostEqual(ours["logit"], theirs["logit"], delta=LIMIT)

    def test_greedy_tokens_are_those_of_transformers(self):
        for prompt in self.prompts:
            with self.subTest(prompt["name"]):
                answer = self.asked("generate", self.path, "--text", prompt["text"], "--tokens",
                                    len(prompt["greedy"]), "--dtype", "fp32", "--keep-on")
                self.assertEqual(answer["rows"][0]["tokens"], prompt["greedy"])

    def test_cache(self):
        self.prove_cache(self.path, 8)


if "gemma3" in WANTED:
    class Gemma3(Checks):
        def test_cache(self):
            self.prove_cache(path_of("gemma3"), 8)


if __name__ == "__main__":
    unittest.main()
