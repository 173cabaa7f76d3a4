"""Every run of mock_server/cases.json through `gyre accept`: the finding comes out, no other one of
its group does, and the report says what `expect` asks for.

All 248 take about two minutes on two busy cores. GYRE_CASES="S01;X02/413" runs some, GYRE_CASES_SEED
draws other prompts, GYRE_CASES_AT_ONCE says how many run at once, GYRE_CASES_VERBOSE=1 prints each.
"""
import concurrent.futures
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from accept import cases

N_MOCKS = 2
AT_ONCE = int(os.environ.get("GYRE_CASES_AT_ONCE", "6"))
MOST_POSTS = 12  # at one length, on a server without a fault


def chosen() -> list:
    return cases.runs(os.environ.get("GYRE_CASES", ""))


def run_all(pairs: list, mocks: list) -> list:
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        futures = [pool.submit(cases.accept, mocks[i % len(mocks)], case, run)
                   for i, (case, run) in enumerate(pairs)]
        return [future.result() for future in futures]


class Cases(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.mocks = [cases.Mock() for _ in range(N_MOCKS)]

    @classmethod
    def tearDownClass(cls):
        for mock in cls.mocks:
            mock.close()

    def test_runs(self):
        for outcome in run_all(chosen(), self.mocks):
            wrong = cases.complaints(outcome)
            if os.environ.get("GYRE_CASES_VERBOSE"):
                print(f"{'FAIL' if wrong else 'ok':4} {outcome.seconds:6.1f} s {outcome.name}: "
                      f"{'; '.join(wrong)} {sorted(outcome.found)} {len(outcome.log)} requests",
                      flush=True)
            with self.subTest(outcome.name):
                self.assertEqual(wrong, [])

    def test_a_clean_server_is_asked_at_most_twelve_times_at_one_length(self):
        pairs = [(case, {**run, "lengths": [4096]}) for case, run in cases.runs("C01")
                 if run["name"].startswith("clean ")]
        for outcome in run_all(pairs, self.mocks):
            with self.subTest(outcome.name):
                self.assertEqual(outcome.found, set())
                self.assertLessEqual(len(outcome.log), MOST_POSTS)

    def test_a_killed_run_goes_on_where_it_stopped(self):
        """The same findings, and no request twice but the one that was under way."""
        case, run = cases.runs("S01/ollama")[0]
        slow = {**run, "server": run["server"] + ["--fault", "latency:a=40"]}
        whole = cases.accept(self.mocks[0], case, slow)
        broken = cases.accept(self.mocks[0], case, slow, kill_after=1.0)
        self.assertEqual(cases.complaints(broken), [])
        said = [[(finding["id"], finding["says"]) for finding in outcome.report["findings"]]
                for outcome in (broken, whole)]
        self.assertEqual(said[0], said[1])
        self.assertLessEqual(len(broken.log), len(whole.log) + 1)


if __name__ == "__main__":
    unittest.main()
