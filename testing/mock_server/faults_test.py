"""Each fault of length, place and capacity does what faults.json says, above its threshold."""
import concurrent.futures
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from mock_server import grammar
from mock_server.client import KEY, call, chat, complete, needle, roll_call, start

FREE = {"dialect": "openai", "window": None}


def seen(server, n_tokens: int, both_ends: bool = True, **more) -> str:
    """A letter a stripe: x where its code came back, . where it did not."""
    text, codes = roll_call(n_tokens, both_ends=both_ends)
    answer = complete(server, text, **more).text
    return "".join("x" if c in answer else "." for c in codes)


def count(server, n_tokens: int) -> int:
    return complete(server, roll_call(n_tokens)[0]).usage["prompt_tokens"]


class Truncation(unittest.TestCase):
    def check(self, faults, n_over, shape, kept=None, **options):
        """Whole at 1,024 tokens, of that shape at n_over, with that count."""
        with start(*faults, **{**FREE, **options}) as server:
            self.assertEqual(seen(server, 1024), "x" * 16)
            self.assertRegex(seen(server, n_over), f"^{shape}$")
            if kept is not None:
                self.assertEqual(count(server, n_over), kept)

    def test_keep_tail(self):
        self.check(["keep_tail:window=2048"], 4096, r"\.{7,9}x{7,9}", 2048)
        self.check(["keep_tail:window=2048:head=600"], 4096, r"x{1,3}\.{7,9}x{4,7}", 2048)

    def test_keep_head(self):
        self.check(["keep_head:window=2048"], 4096, r"x{7,9}\.{7,9}", 2048)

    def test_keep_half_has_the_size_of_the_report(self):
        self.check(["keep_half:window=4096"], 8192, r"\.{11,13}x{3,5}", 2050)
        with start("keep_half:window=65536", **FREE) as server:
            self.assertEqual(complete(server, "x" * 4 * 65535).usage["prompt_tokens"], 65536)
            self.assertEqual(complete(server, "x" * 4 * 65536).usage["prompt_tokens"], 32770)

    def test_keep_blocks_leaves_between_half_and_a_window(self):
        with start("keep_blocks:window=2048", **FREE) as server:
            for n in (2100, 3000, 4096, 9000):
                self.assertTrue(1024 <= count(server, n) <= 2048)
            self.assertRegex(seen(server, 4096), r"^\.+x+$")

    def test_keep_ends(self):
        self.check(["keep_ends:window=2048"], 4096, r"x{3,5}\.{7,9}x{3,5}", 2048)
        with start("keep_ends:window=2048:marker=_[cut]_", **FREE) as server:
            self.assertIn("x.", seen(server, 4096))

    def test_keep_share(self):
        self.check(["keep_share:limit=2048:keep=0.5"], 4096, r"\.{7,9}x{7,9}")

    def test_band_comes_and_goes_with_the_length(self):
        with start("band:period=3000:width=900", "usage:mode=pre", **FREE) as server:
            shapes = [seen(server, n) for n in (2048, 4096, 6144, 8192)]
            self.assertEqual([shape.count("x") for shape in shapes], [16, 16, 12, 16])
            self.assertTrue(shapes[2].endswith("...."))
        self.check(["band:period=3000:width=900:side=head"], 6144, r"\.{3,4}x{12,13}")

    def test_hole_is_not_counted(self):
        self.check(["hole:at=2048:size=512"], 4096, r"x{7,8}\.{2,3}x{6,7}")
        with start("hole:at=2048:size=512", **FREE) as server:
            self.assertAlmostEqual(count(server, 4096), 4096, delta=16)

    def test_cut_chars(self):
        for lose, shape in (("head", r"\.{7,9}x{7,9}"), ("tail", r"x{7,9}\.{7,9}"),
                            ("middle", r"x{3,5}\.{7,9}x{3,5}")):
            self.check([f"cut_chars:limit=8192:lose={lose}"], 4096, shape)

    def test_drop_messages(self):
        with start("drop_messages:window=1000", **FREE) as server:
            turns = [{"role": "system", "content": grammar.checkpoint(1, "AAA-222")}]
            turns += [{"role": "user", "content": needle(300, seed=i)} for i in range(5)]
            turns += [{"role": "user", "content": "What is the code of checkpoint 1?"}]
            reply = chat(server, turns)
            self.assertEqual(reply.text, "AAA-222")
            self.assertLess(reply.usage["prompt_tokens"], 1000)
        with start("drop_messages:window=1000:keep_system=0", **FREE) as server:
            self.assertEqual(chat(server, turns).text, "NONE")
        self.check(["drop_messages:window=2048"], 4096, r"\.{7,9}x{7,9}")

    def test_faults_of_one_endpoint_leave_the_other_alone(self):
        with start("keep_head:window=1000:on=chat", **FREE) as server:
            text, codes = roll_call(2000)
            self.assertIn(codes[-1], complete(server, text).text)
            self.assertNotIn(codes[-1], chat(server, text).text)


class Positions(unittest.TestCase):
    def test_swa_is_a_cliff_at_one_distance_from_the_end(self):
        with start("swa:window=1024", **FREE) as server:
            for n in (2048, 4096, 8192):
                self.assertAlmostEqual(seen(server, n).count("x"), 16 * 1024 / n, delta=1)
                self.assertAlmostEqual(count(server, n), n, delta=16)
            def first(text):
                body = complete(server, text, logprobs=20, max_tokens=1).json
                return body["choices"][0]["logprobs"]["top_logprobs"][0]
            text, _ = roll_call(4096, both_ends=False)
            moved = first(text.replace("Salt 0-0", "Salt 9-9"))
            change = max(abs(moved[t] - v) for t, v in first(text).items() if t in moved)
            self.assertTrue(0 < change < 0.005)

    def test_table_is_a_cliff_at_one_index(self):
        with start("table:limit=2048:when=each", **FREE) as server:
            for n in (4096, 8192):
                self.assertAlmostEqual(seen(server, n).count("x"), 16 * 2048 / n, delta=1)
        with start("table:limit=2048", **FREE) as server:
            self.assertEqual(complete(server, needle(4096, 0.2)).text, "KX7-3QD")
            self.assertNotIn("KX7", complete(server, needle(4096, 0.8)).text)
        with start("table:limit=2048:when=prompt:garbage=dump", **FREE) as server:
            text = needle(4096, 0.2) + " " + grammar.checkpoint(1, "AAA-222")
            self.assertEqual(complete(server, text + grammar.ask_record(KEY)).text,
                             "KX7-3QD AAA-222")

    def test_mod(self):
        with start("mod:m=32:above=1000", **FREE) as server:
            size = 4 * (2048 - 1)
            text = needle(1900)
            whole = "x" * (size - len(text)) + text
            self.assertEqual(complete(server, whole).text, "KX7-3QD")
            self.assertNotIn("KX7", complete(server, "xxxx" + whole).text)
            self.assertEqual(complete(server, needle(500)).text, "KX7-3QD")


class Capacity(unittest.TestCase):
    def together(self, server, k: int, n: int = 600) -> list:
        def one(i):
            text, codes = roll_call(n, 4, seed=i)
            reply = chat(server, text)
            return reply.status if reply.status != 200 else sum(c in reply.text for c in codes)
        with concurrent.futures.ThreadPoolExecutor(k) as pool:
            return list(pool.map(one, range(k)))

    def test_slots_divide(self):
        with start("slots:count=4", window=4096) as server:
            self.assertEqual(complete(server, "x" * 4 * 1000).status, 200)
            reply = complete(server, "x" * 4 * 1100)
            self.assertEqual((reply.status, reply.json["error"]["n_ctx"]), (400, 1024))

    def test_slots_pool(self):
        with start("slots:mode=pool:hold_ms=250", window=2000) as server:
            self.assertEqual(self.together(server, 1), [4])
            self.assertEqual(self.together(server, 2), [4, 4])
            self.assertEqual(self.together(server, 4), [500] * 4)
        with start("slots:mode=pool:who=late:hold_ms=250", window=2000) as server:
            self.assertEqual(sorted(self.together(server, 4)), [4, 500, 500, 500])

    def test_kv_corrupt(self):
        for mode, right in (("garbage", 0), ("crosstalk", 0)):
            with start(f"kv_corrupt:requests=4:mode={mode}:hold_ms=250") as server:
                self.assertEqual(self.together(server, 1), [4])
                self.assertEqual(self.together(server, 4), [right] * 4)
        with start("kv_corrupt:requests=4:mode=half:hold_ms=250") as server:
            self.assertTrue(all(n < 4 for n in self.together(server, 4)))

    def test_overflow(self):
        for mode, status, text in (("guess", 200, r"\w{3}-\w{3}"), ("empty", 200, ""),
                                   ("finish_length", 200, ""), ("413", 413, None),
                                   ("422", 422, None), ("500", 500, None), ("502", 502, None)):
            with start(f"overflow:mode={mode}", window=1000) as server:
                self.assertEqual(complete(server, needle(500)).text, "KX7-3QD")
                reply = complete(server, needle(1500))
                self.assertEqual(reply.status, status, mode)
                if text is not None:
                    self.assertRegex(reply.text, f"^{text}$")
                    self.assertNotEqual(reply.text, "KX7-3QD")
                    self.assertGreater(reply.usage["prompt_tokens"], 1000)

    def test_advertise(self):
        with start("advertise:window=9999:where=models", window=1000, dialect="vllm") as server:
            entry = call(server, "GET", "/v1/models").json["data"][0]
            self.assertEqual(entry["max_model_len"], 9999)
            self.assertEqual(complete(server, needle(1500)).status, 400)

    def test_advertise_where(self):
        for where, props, models in (("props", 9999, 1000), ("all", 9999, 9999), ("none", 0, None)):
            with start(f"advertise:window=9999:where={where}", window=1000) as server:
                found = call(server, "GET", "/props").json["default_generation_settings"]["n_ctx"]
                entry = call(server, "GET", "/v1/models").json["data"][0]
                self.assertEqual((found, entry.get("meta", {}).get("n_ctx_train")), (props, models))

    def test_shift_forgets_and_passes_the_window(self):
        text = (grammar.checkpoint(1, "AAA-222") + " Count from 1 to 400, one number on each"
                " line, then repeat the code of checkpoint 1.")
        with start(window=None) as server:
            self.assertTrue(complete(server, text).text.endswith("400\nAAA-222"))
        with start("shift:window=512", window=512) as server:
            reply = complete(server, text)
            self.assertGreater(reply.usage["total_tokens"], 512)
            self.assertTrue(reply.text.endswith("400\nNONE"))
        with start("shift:window=512:endless=1", window=512) as server:
            reply = complete(server, text, max_tokens=600)
            self.assertGreater(reply.usage["completion_tokens"], 10000)
            self.assertEqual(len(set(reply.text.split("\n")[-500:])), 9 + 1)


if __name__ == "__main__":
    unittest.main()
