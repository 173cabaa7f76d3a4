"""Runs CTest and every testing/**/*_test.py; the last line is `N passed, N failed[, N skipped]`.

./gyre test calls this after it has built everything; it uses the standard library alone.
A Python test is a program: it exits non-zero on failure, and prints either unittest's summary or one
line a check, `ok NAME`, `not ok NAME: REASON` or `skip NAME: REASON`; without either it counts as one.
"""
import argparse
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent


@dataclasses.dataclass
class Tally:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def add(self, other: "Tally") -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def line(self) -> str:
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


def environment(build: pathlib.Path) -> dict:
    """What every test sees: one thread each, as they run side by side."""
    env = dict(os.environ)
    env.update(OMP_NUM_THREADS="1", GYRE_SOURCE_DIR=str(ROOT), GYRE_BUILD_DIR=str(build),
               GYRE_PROGRAM=str(build / "gyre"))
    return env


def skip_reason(output: str) -> str:
    """GTEST_SKIP prints `FILE:LINE: Skipped`, then the reason."""
    lines = [line.strip() for line in output.splitlines()]
    for i, line in enumerate(lines):
        if line.endswith("Skipped") and i + 1 < len(lines):
            return lines[i + 1]
    return "no reason given"


def read_junit(path: pathlib.Path) -> Tally:
    """Counts CTest's result file and prints what failed or was skipped."""
    tally = Tally()
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name, status = case.get("name"), case.get("status")
        output = case.findtext("system-out") or ""
        if status == "run":
            tally.passed += 1
        elif status in ("notrun", "disabled") and "FAILED" not in output:
            skip = case.find("skipped")
            if skip is not None and skip.get("message", "").startswith("SKIP_REGULAR_EXPRESSION"):
                print(f"skipped {name}: {skip_reason(output)}")
                tally.skipped += 1
            elif status == "disabled":
                print(f"skipped {name}: disabled")
                tally.skipped += 1
            else:  # the program is missing or could not start
                print(f"FAILED {name}: did not run\n{output}")
                tally.failed += 1
        else:
            print(f"FAILED {name}\n{output.rstrip()}")
            tally.failed += 1
    return tally


def run_ctest(build: pathlib.Path, pattern: str, jobs: int) -> Tally:
    report = build / "Testing" / "junit.xml"
    report.unlink(missing_ok=True)
    command = ["ctest", "--test-dir", str(build), "-j", str(jobs), "--output-junit", str(report)]
    if pattern:
        command += ["-R", pattern]
    if sys.stderr.isatty():
        command.append("--progress")
        result = subprocess.run(command, env=environment(build), stdout=sys.stderr, check=False)
        text = ""
    else:
        result = subprocess.run(command, env=environment(build), stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, check=False)
        text = result.stdout
    if report.exists():
        tally = read_junit(report)
    elif "No tests were found" in text or (pattern and result.returncode == 0):
        tally = Tally()
    else:
        print(f"FAILED ctest: no result file\n{text}")
        tally = Tally(failed=1)
    if result.returncode != 0 and tally.failed == 0 and report.exists():
        print(f"FAILED ctest: exit code {result.returncode} though every test passed\n{text[-2000:]}")
        tally.failed += 1
    return tally


def read_python_output(output: str, returncode: int) -> Tally:
    """Counts one Python test's checks from what it printed; see the top of this file."""
    ran = re.search(r"^Ran (\d+) tests? in ", output, re.MULTILINE)
    if ran:
        def count(word: str) -> int:
            found = re.search(rf"^(?:OK|FAILED) \(.*\b{word}=(\d+)", output, re.MULTILINE)
            return int(found.group(1)) if found else 0
        failed = count("failures") + count("errors") + count("unexpected successes")
        skipped = count("skipped")
        tally = Tally(max(0, int(ran.group(1)) - failed - skipped), failed, skipped)
    else:
        tally = Tally(len(re.findall(r"^ok\b", output, re.MULTILINE)),
                      len(re.findall(r"^not ok\b", output, re.MULTILINE)),
                      len(re.findall(r"^skip\b", output, re.MULTILINE)))
        if tally == Tally():
            tally.passed = 1 if returncode == 0 else 0
    if returncode != 0 and tally.failed == 0:
        tally.failed = 1
    return tally


def run_python_test(path: pathlib.Path, build: pathlib.Path) -> Tally:
    name = path.relative_to(ROOT).as_posix()
    try:
        result = subprocess.run([sys.executable, str(path)], env=environment(build), cwd=ROOT,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, errors="replace",
                                timeout=900, check=False)
        output, code = result.stdout, result.returncode
    except subprocess.TimeoutExpired:
        output, code = "no end after 900 s", 1
    tally = read_python_output(output, code)
    if tally.failed:
        print(f"FAILED {name}\n{output.rstrip()}")
    else:
        for line in output.splitlines():
            if line.startswith("skip") or " skipped " in line:
                print(f"skipped {name}: {line}")
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(prog="./gyre test", description="build and run every test")
    parser.add_argument("--filter", default="", metavar="REGEX",
                        help="only tests whose name (Suite.Name, or the path of a Python test) matches")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release",
                        metavar="DIR", help="build folder [build/release]")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N",
                        help="tests at a time [all cores]")
    options = parser.parse_args()
    try:
        pattern = re.compile(options.filter)
    except re.error as error:
        parser.error(f"--filter '{options.filter}' is no regular expression: {error}")
    started = time.monotonic()
    tally = run_ctest(options.build.resolve(), options.filter, options.jobs)
    for path in sorted((ROOT / "testing").rglob("*_test.py")):
        if pattern.search(path.relative_to(ROOT).as_posix()):
            tally.add(run_python_test(path, options.build.resolve()))
    print(f"took {time.monotonic() - started:.0f} s")
    if tally.passed + tally.failed == 0:
        print(f"no test ran; none has a name that matches '{options.filter}'" if options.filter
              else "no test ran")
    print(tally.line(), flush=True)
    return 1 if tally.failed or tally.passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
