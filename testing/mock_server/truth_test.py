"""The plan tells the truth: each run of cases.json loses what its finding says, where it says it.

Every run is started in this process and asked the roll call of 16 stripes at its lengths, as the
plainest client would; what came back is compared with the findings that `gyre accept` must print.
"""
import pathlib
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from mock_server import cli
from mock_server.client import call, roll_call
from mock_server.plan import read_plan
from mock_server.server import MockServer

WHOLE = "x" * 16


def shape(server, n_tokens: int, bytes_per_token: float, endpoint: str) -> str:
    """x for each stripe whose code came back; the HTTP status instead where it was not 200."""
    text, codes = roll_call(int(n_tokens * bytes_per_token / 4) - 16)
    body = {"prompt": text} if endpoint == "completions" else \
        {"messages": [{"role": "user", "content": text}]}
    for _ in range(30):
        path = "/v1/completions" if endpoint == "completions" else "/v1/chat/completions"
        reply = call(server, "POST", path, body, {"Accept-Encoding": "identity"})
        if reply.status == 307:
            reply = call(server, "POST", reply.headers["Location"], body)
        if reply.status not in (429, 503) or b"too large" in reply.data:
            break
        time.sleep(0.05)
    if reply.status != 200:
        return str(reply.status)
    return "".join("x" if code in (reply.text or "") else "." for code in codes)


class Truth(unittest.TestCase):
    def shapes(self, case: dict, run: dict, endpoint: str | None = None) -> list[str]:
        config = cli.config_from(run["server"])
        endpoint = endpoint or ("chat" if run.get("endpoint") != "completions" else "completions")
        with MockServer(config) as server:
            return [shape(server, n, config.bytes_per_token, endpoint) for n in run["lengths"]]

    def each(self, cases: str, check) -> None:
        for case in read_plan():
            for run in case["runs"] if case["case"] in cases.split() else []:
                with self.subTest(case=case["case"], run=run["name"]):
                    check(case, run)

    def test_truncation(self):
        wanted = {"TRUNC_HEAD": r"^\.[.x]*x$", "TRUNC_TAIL": r"^x[.x]*\.$",
                  "TRUNC_MIDDLE": r"^x+\.+x+$", "WINDOW_HALVED": r"^\.{9,}x+$"}
        def check(case, run):
            if run["name"] == "of a model that errs":
                return  # it misses codes of short texts too
            kind = next(finding for finding in run["findings"] if finding in wanted)
            shapes = self.shapes(case, run)
            self.assertEqual(shapes[0], WHOLE)
            if run["name"] != "first tokens stay":
                self.assertRegex(shapes[-1], wanted[kind])
            self.assertNotEqual(shapes[-1], WHOLE)
            if run.get("endpoint") == "both":
                self.assertEqual(set(self.shapes(case, run, "completions")), {WHOLE})
        self.each("S01 S02 S03 S04 S05 X01", check)

    def test_bands_fail_between_lengths_that_pass(self):
        def check(case, run):
            shapes = self.shapes(case, run)
            self.assertEqual([s == WHOLE for s in shapes], [True, True, False, True])
        self.each("S06", check)

    def test_cliffs(self):
        def check(case, run):
            if run["name"] in ("closes", "dies"):
                return
            shapes = self.shapes(case, run)
            self.assertEqual(shapes[0], WHOLE)
            if run["name"] != "dump":  # a dump holds every code
                self.assertNotIn(WHOLE, shapes[-2:])
        self.each("S12 S13 S14 S18", check)

    def test_windows_are_refused_with_their_size(self):
        def check(case, run):
            if run["name"] in ("silent", "hangs", "closes"):
                return
            shapes = self.shapes(case, run)
            self.assertEqual(shapes[0], WHOLE)
            self.assertRegex(shapes[-1], r"^(4|5)\d\d$")
        self.each("S09 S11 X02", check)

    def test_over_the_window_nothing_useful_comes(self):
        def check(case, run):
            if run["name"] != "no choices":
                self.assertEqual(self.shapes(case, run), [WHOLE, "." * 16])
        self.each("S08", check)

    def test_kept_text_is_answered_whole(self):
        """Runs whose fault lies elsewhere: a roll call alone must find nothing."""
        def check(case, run):
            if "RATE_UNSATISFIABLE" in run["findings"]:
                self.assertRegex(self.shapes(case, run)[-1], "^(429|413)$")
            elif run["name"] in ("gzip", "interim"):
                return  # http.client takes neither; wire_test does
            elif run["name"].startswith(("weak", "lost", "fades")):
                self.assertTrue(all(2 < s.count("x") for s in self.shapes(case, run)))
            else:
                only = "completions" if run["name"].startswith("completions alone") else None
                self.assertEqual(set(self.shapes(case, run, only)), {WHOLE})
        self.each("C01 S21 S22 S26 S30 S33", check)

    def test_the_slow_ones_are_slow_enough_to_notice(self):
        def check(case, run):
            before = time.monotonic()
            self.shapes(case, {**run, "lengths": run["lengths"][:1]})
            self.assertGreater(time.monotonic() - before, 0.5)
        self.each("S25", check)


if __name__ == "__main__":
    unittest.main()
