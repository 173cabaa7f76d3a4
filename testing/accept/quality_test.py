"""Levels 2 and 3 of `gyre accept` against the mock: what those runs of mock_server/cases.json that need
them say, and servers whose oracle is weak in known ways. Level 1 has cases_test.py.
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from accept import cases

AT_ONCE = int(os.environ.get("GYRE_CASES_AT_ONCE", "4"))
OPENAI = ["--dialect", "openai"]
VLLM = ["--dialect", "vllm"]


def server_of(name: str) -> list:
    """The server of a run of cases.json: "S30/json"."""
    (_, run), = cases.runs(name)
    return run["server"]


def accept(mock: cases.Mock, server: list, out: pathlib.Path, *args: str) -> dict:
    port = mock.start(server)
    try:
        done = subprocess.run(
            [os.environ["GYRE_PROGRAM"], "accept", "--endpoint", f"http://127.0.0.1:{port}/v1",
             "--out", str(out), "--json", "-", "--concurrency", "4", "--no-curves", *args],
            capture_output=True, timeout=cases.LIMIT_S, check=False)
        if done.returncode not in (0, 1):
            raise AssertionError(done.stderr.decode(errors="replace"))
        return {**json.loads(done.stdout), "exit": done.returncode}
    finally:
        mock.stop(port)


def mains(report: dict, task: str = "") -> list:
    return [cell for cell in report["cells"]
            if cell["arm"] == "main" and task in ("", cell["task"])]


def measures(report: dict, name: str) -> list:
    return [measure for measure in report["measures"] if measure["id"] == name]


class Quality(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.mock = cases.Mock()
        cls.folder = tempfile.TemporaryDirectory(prefix="gyre-quality-")

    @classmethod
    def tearDownClass(cls):
        cls.mock.close()
        cls.folder.cleanup()

    def run_all(self, runs: dict) -> dict:
        """name -> (server, arguments) to name -> report, some at once."""
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            jobs = {name: pool.submit(accept, self.mock, server,
                                      pathlib.Path(self.folder.name) / name.replace("/", "-"), *args)
                    for name, (server, args) in runs.items()}
            return {name: job.result() for name, job in jobs.items()}

    def test_other_wording_scores_the_same(self):
        args = ("--lengths", "2048", "--levels", "2,3", "--looks", "16,48")
        names = ("S30/varied", "S30/json", "S30/wordy")
        for name, report in self.run_all({n: (server_of(n), args) for n in names}).items():
            with self.subTest(name):
                self.assertEqual(report["verdict"], "PASS")
                self.assertEqual(report["findings"], [])
                self.assertEqual(report["exit"], 0)

    def test_failed_requests_stay_in_the_denominator(self):
        # One attempt: a second one would wait and fail too, the same prompts always do.
        args = ("--lengths", "2048,8192", "--levels", "2", "--looks", "16,48", "--attempts", "1")
        names = ("S31/500", "S31/502 html")
        for name, report in self.run_all({n: (server_of(n), args) for n in names}).items():
            with self.subTest(name):
                self.assertNotEqual(report["verdict"], "PASS")
                long = [cell for cell in mains(report) if cell["length"] == 8192]
                for cell in long:
                    self.assertNotEqual(cell["status"], "PASS")
                    self.assertEqual(cell["accuracy_answered"], 1.0)
                    self.assertLess(cell["accuracy_planned"], 0.98)
                short = [cell for cell in mains(report) if cell["length"] == 2048]
                self.assertEqual({cell["status"] for cell in short}, {"PASS"})

    def test_thinking_models_get_their_budget(self):
        # Few items, most answers whole: the mock writes thousands of tokens for each.
        args = ("--lengths", "2048", "--levels", "1,2")
        whole = (*args, "--looks", "4", "--threshold", "0.3", "--stream", "off")
        runs = {"S27/eat": (server_of("S27/eat"), whole),
                "S28/tags": (server_of("S28/tags"), whole),
                "streamed": (server_of("S27/eat"), (*args, "--looks", "1", "--threshold", "0.1"))}
        for name, report in self.run_all(runs).items():
            with self.subTest(name):
                self.assertGreaterEqual(report["answer_tokens"], 4096)
                self.assertEqual({cell["status"] for cell in mains(report)}, {"PASS"})
                self.assertEqual(measures(report, "cut_share")[0]["value"], 0)

    def test_lengths_that_level_one_failed_are_not_asked(self):
        report = accept(self.mock, server_of("S03/small"), pathlib.Path(self.folder.name) / "S03",
                        "--lengths", "2048,8192", "--levels", "1,2", "--looks", "16,48")
        self.assertEqual(report["verdict"], "FAIL")
        for cell in mains(report):
            if cell["length"] == 8192:
                self.assertEqual(cell["asked"], 0)
                self.assertTrue(cell["why_not_run"].startswith("level 1 failed at"))

    def test_the_loss_in_composing_is_seen_apart_from_its_steps(self):
        report = accept(self.mock, [*OPENAI, "--fault", "oracle:compose=0.7"],
                        pathlib.Path(self.folder.name) / "compose", "--lengths", "2048",
                        "--levels", "3", "--looks", "16,48", "--threshold", "0.7")
        gaps = measures(report, "composition_gap")
        for gap in gaps:
            self.assertLess(gap["value"], 0.0, gap)
        self.assertTrue(any(gap["upper"] < 0 for gap in gaps))
        self.assertEqual(report["findings"], [])

    def test_a_run_before_is_compared_item_by_item(self):
        args = ("--lengths", "1024", "--levels", "2", "--looks", "8", "--threshold", "0.4")
        out = pathlib.Path(self.folder.name) / "again"
        first = accept(self.mock, OPENAI, out, *args)
        after = accept(self.mock, VLLM, out.with_name("after"), *args, "--before", str(out))
        self.assertEqual(first["verdict"], "PASS")
        self.assertEqual(after["regression"]["pairs"], 160)
        self.assertEqual(after["regression"]["only_before"], 0)
        self.assertEqual(after["regression"]["status"], "PASS")


if __name__ == "__main__":
    unittest.main()
