"""Runs `gyre accept` against the runs of mock_server/cases.json and says what does not hold.

One mock process opens a server for every run; /mock/log tells what was sent to it.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass, field

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from accept import expect
from mock_server.plan import read_groups, read_plan

MOCK = HERE.parent / "mock_server"
KEY = "sk-mock-0123456789"
# Servers that never end an answer, or never begin one, are given up after seconds, not minutes.
IMPATIENT = ["--first-byte-s", "3", "--idle-s", "2", "--total-s", "4"]
PATIENT = ["--first-byte-s", "60", "--idle-s", "30", "--total-s", "120"]
HOSTILE = {"F01", "S24", "X05", "S34"}
LIMIT_S = 300  # of one run
NO_CONNECTION, NEVER_ANSWERS = 4, ("refused", "reset")  # no report: there is no service


@dataclass
class Outcome:
    case: dict
    run: dict
    status: int = -1
    report: dict = field(default_factory=dict)
    samples: list = field(default_factory=list)
    log: list = field(default_factory=list)
    seconds: float = 0.0
    words: str = ""

    @property
    def name(self) -> str:
        return f"{self.case['case']} {self.run['name']}"

    @property
    def found(self) -> set:
        return {finding["id"] for finding in self.report.get("findings", [])}

    def finding(self, name: str) -> dict:
        return next((f for f in self.report.get("findings", []) if f["id"] == name), {})


class Mock:
    """A process that opens servers on demand."""

    def __init__(self):
        self.process = subprocess.Popen([sys.executable, str(MOCK)], stdout=subprocess.PIPE,
                                        text=True)
        line = self.process.stdout.readline()
        self.port = int(line.rsplit(":", 1)[1])

    def post(self, path: str, body: dict) -> dict:
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}",
                                         json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read())

    def start(self, options: list) -> int:
        return self.post("/mock/start", {"server": options})["port"]

    def stop(self, port: int) -> None:
        self.post("/mock/stop", {"port": port})

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(10)


def log_of(port: int) -> list:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/mock/log", timeout=30) as answer:
            return json.loads(answer.read())["log"]
    except (OSError, ValueError):
        return []  # a server that died, or one that answers nothing


def command(case: dict, run: dict, port: int, out: pathlib.Path) -> list:
    """Level 1 of a run; what other levels find has its own tests."""
    args = [os.environ["GYRE_PROGRAM"], "accept", "--endpoint", f"http://127.0.0.1:{port}/v1",
            "--lengths", ",".join(map(str, run["lengths"])), "--levels", "1", "--no-curves",
            "--seed", os.environ.get("GYRE_CASES_SEED", "1"), "--json", "-", "--out", str(out),
            "--key-env", "GYRE_CASES_KEY"]
    if run.get("endpoint", "auto") != "auto":
        args += ["--api", run["endpoint"]]
    if "stream" in run:
        args += ["--stream", "on" if run["stream"] else "off"]
    if case["case"] == "S29":
        args += ["--ranking", "on"]
    if case["case"] == "S25":
        args += ["--slow-first-byte", "0.5"]
    if "send" in run.get("expect", {}):
        args += ["--send", json.dumps(run["expect"]["send"])]
    hangs = any("hang" in option for option in run["server"])
    return args + (IMPATIENT if case["case"] in HOSTILE or hangs else PATIENT)


def killed(args: list, seconds: float) -> None:
    process = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(seconds)
    process.kill()
    process.wait()


def accept(mock: Mock, case: dict, run: dict, kill_after: float = 0.0) -> Outcome:
    """kill_after: the program is killed after that many seconds, then run again."""
    outcome = Outcome(case, run)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gyre-cases-"))
    port = mock.start(run["server"])
    before = time.monotonic()
    try:
        if kill_after:
            killed(command(case, run, port, folder / "run"), kill_after)
        done = subprocess.run(command(case, run, port, folder / "run"), capture_output=True,
                              timeout=LIMIT_S, env={**os.environ, "GYRE_CASES_KEY": KEY})
        outcome.status, outcome.words = done.returncode, done.stderr.decode(errors="replace")
        outcome.report = json.loads(done.stdout) if done.stdout.strip() else {}
        lines = folder / "run" / "samples.jsonl"
        if lines.exists():
            outcome.samples = [json.loads(line) for line in lines.read_text().splitlines()]
    except subprocess.TimeoutExpired:
        outcome.words = f"no end within {LIMIT_S} s"
    except ValueError as error:
        outcome.words += f"the report is no JSON: {error}"
    finally:
        outcome.seconds = time.monotonic() - before
        outcome.log = log_of(port)
        mock.stop(port)
        shutil.rmtree(folder, ignore_errors=True)
    return outcome


def complaints(outcome: Outcome) -> list:
    """What does not hold of a run; empty when all does."""
    case, run = outcome.case, outcome.run
    if outcome.status == NO_CONNECTION and run["name"] in NEVER_ANSWERS:
        return [] if "found no connection" in outcome.words else ["it is not said why"]
    if run.get("expect", {}).get("unreadable"):  # every answer: one line with what came
        said = re.search(r"asked \S+ \d+ times?, found (no answer|every request refused)",
                         outcome.words)
        ended = outcome.status == NO_CONNECTION and said and outcome.words.count("\n") == 1
        return [] if ended else [f"exit status {outcome.status}: {outcome.words.strip()}"]
    if outcome.status not in (0, 1):
        last = outcome.words.strip().splitlines()[-1:] or ["no words"]
        return [f"exit status {outcome.status}: {last[0]}"]
    wrong = []
    must = set(run["findings"]) | set(run.get("proposed", []))
    missing = must - outcome.found
    if missing:
        wrong.append(f"not found: {', '.join(sorted(missing))}")
    forbidden = set(read_groups()[run["forbidden"]]) - must - set(run.get("allowed", []))
    for name in sorted(outcome.found & forbidden):
        wrong.append(f"false alarm {name}: {outcome.finding(name)['says']}")
    for finding in outcome.report["findings"]:
        if not finding["evidence"]:
            wrong.append(f"{finding['id']} has no evidence")
    return wrong + expect.complaints(outcome)


def runs(names: str = "") -> list:
    """(case, run) pairs; names: words like "S01" or "S01/ollama" that choose some."""
    chosen = []
    for case in read_plan():
        for run in case["runs"]:
            words = (case["case"], f"{case['case']}/{run['name']}")
            if not names or any(word in words for word in names.split(";")):
                chosen.append((case, run))
    return chosen
