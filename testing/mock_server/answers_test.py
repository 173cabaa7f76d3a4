"""Each fault of answers, templates, counts and statuses does what faults.json says."""
import concurrent.futures
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from mock_server import grammar
from mock_server.client import call, chat, complete, log, needle, start

FREE = {"dialect": "openai", "window": None}


class Noise(unittest.TestCase):
    def test_cache_mixup(self):
        one, other = needle(300, value="AAA-222", seed=1), needle(300, value="BBB-333", seed=1)
        with start("cache_mixup:prefix=256") as server:
            self.assertEqual(complete(server, one).text, "AAA-222")
            self.assertEqual(complete(server, other).text, "AAA-222")
            self.assertEqual(complete(server, "Salt 7. " + other).text, "BBB-333")
        with start("cache_mixup:mode=warm") as server:
            self.assertEqual(complete(server, one).text, "AAA-222")
            self.assertNotEqual(complete(server, one).text, "AAA-222")

    def test_jitter_of_codes(self):
        with start("jitter:p=0.5") as server:
            right = sum(complete(server, needle(100)).text == "KX7-3QD" for _ in range(60))
            self.assertTrue(15 < right < 45, right)
        with start("jitter:p=0.4:by=concurrency:hold_ms=200") as server:
            self.assertEqual(complete(server, needle(100)).text, "KX7-3QD")
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                texts = list(pool.map(lambda _: complete(server, needle(100)).text, range(4)))
            self.assertTrue(any(text != "KX7-3QD" for text in texts))
            self.assertTrue(all(re.fullmatch(grammar.CODE, text) for text in texts))

    def test_jitter_of_logprobs_keeps_the_codes(self):
        with start("jitter:what=logprobs:by=warm", dialect="openai") as server:
            bodies = [complete(server, needle(100), logprobs=5).json["choices"][0]
                      for _ in range(3)]
            values = [body["logprobs"]["token_logprobs"] for body in bodies]
            self.assertNotEqual(values[0], values[1])
            self.assertEqual(values[1], values[2])
            self.assertEqual({body["text"] for body in bodies}, {"KX7-3QD"})

    def test_oracle_is_a_dial(self):
        with start("oracle:skill=0:wrong=none") as server:
            self.assertEqual(complete(server, needle(100)).text, "NONE")
        with start("oracle:style=json") as server:
            self.assertEqual(complete(server, needle(100)).text, '{"answer": "KX7-3QD"}')


class TemplateAndBytes(unittest.TestCase):
    TURNS = [{"role": "system", "content": grammar.checkpoint(1, "AAA-222")},
             {"role": "user", "content": grammar.checkpoint(2, "BBB-333")},
             {"role": "assistant", "content": "Noted."},
             {"role": "user", "content": "List the codes of checkpoints 1 to 2 in order."}]

    def test_template(self):
        for mode, wanted in (("drop_system", ["BBB-333"]), ("only_last", []), ("drop_question", []),
                             ("first_turn", []), ("eat_end:chars=20", []), ("garbage_turns", []),
                             ("double_bos", ["AAA-222", "BBB-333"])):
            with start(f"template:mode={mode}") as server:
                text = chat(server, self.TURNS).text
                self.assertEqual(re.findall(grammar.CODE, text), wanted, mode)

    def test_template_double_bos_is_one_token(self):
        with start() as good, start("template:mode=double_bos") as bad:
            self.assertEqual(chat(bad, "x").usage["prompt_tokens"],
                             chat(good, "x").usage["prompt_tokens"] + 1)
            self.assertEqual(complete(bad, "x").usage, complete(good, "x").usage)

    def test_bytes(self):
        odd = {"nul": "\0", "special": "<|endoftext|>", "crlf": "\r\n", "astral": "\U0001f600"}
        for mode, mark in odd.items():
            text = "What is the code of checkpoint 1? " + mark + grammar.checkpoint(1, "AAA-222")
            with start(f"bytes:mode={mode}") as server:
                self.assertEqual(chat(server, text).text, "NONE", mode)
                others = text.replace(mark, "".join(m for m in odd.values() if m != mark))
                self.assertEqual(chat(server, others).text, "AAA-222", mode)
        with start("bytes:mode=strip") as server:
            self.assertEqual(chat(server, text.replace(mark, "\0")).text, "AAA-222")


class Usage(unittest.TestCase):
    def prompt(self, mode, n=1000, **more):
        with start(f"usage:mode={mode}", "keep_tail:window=500", **FREE) as server:
            return complete(server, "x" * 4 * n, max_tokens=2, **more).json.get("usage", "absent")

    def test_usage(self):
        self.assertEqual(self.prompt("post")["prompt_tokens"], 500)
        self.assertEqual(self.prompt("pre")["prompt_tokens"], 1001)
        self.assertEqual(self.prompt("absent"), "absent")
        self.assertIsNone(self.prompt("null"))
        self.assertEqual(set(self.prompt("zero").values()), {0})
        self.assertEqual(self.prompt("estimate")["prompt_tokens"], 1000)
        self.assertEqual(self.prompt("text")["prompt_tokens"], "500")
        self.assertEqual(self.prompt("total_off")["total_tokens"], 500 + 2 + 17)
        with start("usage:mode=cap:cap=100", **FREE) as server:
            self.assertEqual(complete(server, needle(1000)).usage["prompt_tokens"], 100)

    def test_usage_frozen_is_that_of_the_request_before(self):
        with start("usage:mode=frozen", **FREE) as server:
            counts = [complete(server, "x" * 4 * n).usage["prompt_tokens"] for n in (100, 200, 300)]
            self.assertEqual(counts, [101, 101, 201])

    def test_usage_chunked_is_wrong_until_the_last(self):
        for mode, last in (("chunked", True), ("chunked_only", False)):
            with start(f"usage:mode={mode}", **FREE) as server:
                events = complete(server, needle(3000), stream=True,
                                  stream_options={"include_usage": True}).events
                counts = [e["usage"]["prompt_tokens"] for e in events if e["choices"]]
                self.assertGreater(len(set(counts)), 1)
                self.assertEqual(events[-1]["choices"] == [], last)


class Refusals(unittest.TestCase):
    def test_status(self):
        with start("status:code=500:share=0.2:min=500") as server:
            self.assertEqual(complete(server, "short").status, 200)
            codes = [complete(server, needle(600, seed=i)).status for i in range(60)]
            self.assertTrue(4 <= codes.count(500) <= 22)
            self.assertEqual(codes, [complete(server, needle(600, seed=i)).status
                                     for i in range(60)])
        with start("status:code=200") as server:
            self.assertEqual(set(complete(server, "x").json), {"error"})
        for body, mark in (("html", b"<html>"), ("text", b"upstream"), ("empty", b"")):
            with start(f"status:code=502:body={body}") as server:
                self.assertTrue(complete(server, "x").data.startswith(mark))

    def test_rate(self):
        with start("rate:limit=1000", dialect="openai") as server:
            self.assertEqual(complete(server, needle(500)).status, 200)
            for _ in range(2):
                reply = complete(server, needle(1500))
                self.assertEqual(reply.status, 429)
                self.assertRegex(reply.json["error"]["message"], r"Limit 1000, Requested 15\d\d")
                self.assertNotIn("Retry-After", reply.headers)
        with start("rate:limit=1000:code=413:hint=1") as server:
            reply = complete(server, needle(1500))
            self.assertEqual((reply.status, reply.headers["Retry-After"]), (413, "1"))

    def test_busy(self):
        for form, header in (("seconds", "Retry-After"), ("date", "Retry-After"),
                             ("ms", "retry-after-ms"), ("message", None), ("none", None)):
            with start(f"busy:form={form}:times=2", dialect="openai") as server:
                replies = [complete(server, "x") for _ in range(3)]
                self.assertEqual([reply.status for reply in replies], [429, 429, 200])
                self.assertEqual(header in replies[0].headers, header is not None)
                self.assertEqual("try again in" in replies[0].data.decode(), form != "none")

    def test_loading(self):
        with start("loading:ms=700") as server:
            self.assertEqual(complete(server, "x").status, 503)
            while complete(server, "x").status != 200:
                pass


class Thinking(unittest.TestCase):
    def ask(self, mode, **more):
        with start(f"think:mode={mode}:budget=500") as server:
            return chat(server, needle(200), **more).json["choices"][0]

    def test_think(self):
        for mode in ("eat", "field", "reasoning"):
            short, long = self.ask(mode, max_tokens=120), self.ask(mode, max_tokens=4096)
            self.assertEqual((short["message"]["content"], short["finish_reason"]), ("", "length"))
            self.assertEqual((long["message"]["content"], long["finish_reason"]),
                             ("KX7-3QD", "stop"))
            name = {"eat": None, "field": "reasoning_content", "reasoning": "reasoning"}[mode]
            self.assertEqual(set(long["message"]) - {"role", "content"}, {name} - {None})

    def test_think_in_content(self):
        cut = self.ask("in_content", max_tokens=120)
        self.assertTrue(cut["message"]["content"].startswith("<think>\n"))
        self.assertIn("KX7-3QD", cut["message"]["content"])
        self.assertEqual(cut["finish_reason"], "length")
        whole = self.ask("in_content")["message"]["content"]
        self.assertTrue(whole.endswith("</think>\n\nKX7-3QD"))
        self.assertNotIn("<think>", self.ask("bare", max_tokens=120)["message"]["content"])

    def test_think_in_the_field_only(self):
        choice = self.ask("field_only")
        self.assertEqual((choice["message"]["content"], choice["finish_reason"]), ("", "stop"))
        self.assertIn("KX7-3QD", choice["message"]["reasoning_content"])

    def test_think_counts_its_tokens(self):
        with start("think:mode=eat:budget=500") as server:
            self.assertEqual(chat(server, needle(200)).usage["completion_tokens"], 503)


class Scores(unittest.TestCase):
    def entries(self, mode):
        with start(f"echo:mode={mode}", dialect="vllm") as server:
            reply = complete(server, "The cat sat on the mat.", echo=True, logprobs=1, max_tokens=1)
            return reply, reply.json

    def test_echo(self):
        _, body = self.entries("ignored")
        self.assertEqual(len(body["choices"][0]["logprobs"]["tokens"]), 1)
        _, body = self.entries("short")
        self.assertLess(len(body["choices"][0]["logprobs"]["tokens"]),
                        body["usage"]["prompt_tokens"] + 1)
        self.assertEqual(self.entries("refused")[0].status, 400)
        _, wrong = self.entries("wrong_row")
        with start(dialect="vllm") as server:
            right = complete(server, "The cat sat on the mat.", echo=True, logprobs=1,
                             max_tokens=1).json
        values = [b["choices"][0]["logprobs"]["token_logprobs"] for b in (wrong, right)]
        self.assertEqual(len(values[0]), len(values[1]))
        self.assertNotEqual(values[0], values[1])

    def test_logprobs(self):
        def choice(mode, **more):
            with start(f"logprobs:mode={mode}", dialect="openai") as server:
                reply = complete(server, needle(50), **more)
                return reply.json["choices"][0]["logprobs"] if reply.status == 200 else reply.status
        self.assertIsNone(choice("absent", logprobs=20))
        self.assertEqual(len(choice("limit", logprobs=20)["top_logprobs"][0]), 5)
        self.assertEqual(choice("refuse", logprobs=20), 400)
        self.assertIn("tokens", choice("refuse", logprobs=5))
        self.assertIn("content", choice("content", logprobs=5))
        self.assertIn("tokens", choice("classic", logprobs=5))


class Others(unittest.TestCase):
    def test_models(self):
        for mode, status in (("missing", 404), ("empty", 200), ("html", 200), ("plain", 200)):
            with start(f"models:mode={mode}", dialect="vllm") as server:
                reply = call(server, "GET", "/v1/models")
                self.assertEqual(reply.status, status)
                self.assertNotIn(b"max_model_len", reply.data)

    def test_latency_and_prefix_cache(self):
        with start("latency:b=0.1", "prefix_cache", dialect="vllm") as server:
            text = needle(3000)
            details = [complete(server, text).usage["prompt_tokens_details"] for _ in range(2)]
            self.assertEqual(details[0]["cached_tokens"], 0)
            self.assertGreater(details[1]["cached_tokens"], 2900)
            complete(server, "Other salt. " + text)
            times = [entry["ms"] for entry in log(server)["log"]]
            self.assertTrue(times[0] >= 300 and times[2] >= 300 and times[1] < 290, times)

    def test_conditions(self):
        with start("status:first=2") as server:
            self.assertEqual([complete(server, "x").status for _ in range(4)], [500, 500, 200, 200])
        with start("status:every=2") as server:
            self.assertEqual([complete(server, "x").status for _ in range(4)], [200, 500, 200, 500])
        with start("status:stream=1") as server:
            self.assertEqual(complete(server, "x").status, 200)
            self.assertEqual(complete(server, "x", stream=True).status, 500)
        with start("status:roles=2") as server:
            self.assertEqual(chat(server, "x").status, 200)
            self.assertEqual(chat(server, TemplateAndBytes.TURNS).status, 500)

    def test_several_faults_at_once(self):
        faults = ("keep_tail:window=2048", "usage:mode=absent", "oracle:absent=guess")
        with start(*faults, **FREE) as server:
            body = complete(server, needle(4096, 0.1)).json
            self.assertNotIn("usage", body)
            self.assertRegex(body["choices"][0]["text"], f"^{grammar.CODE}$")
            self.assertNotEqual(body["choices"][0]["text"], "KX7-3QD")


if __name__ == "__main__":
    unittest.main()
