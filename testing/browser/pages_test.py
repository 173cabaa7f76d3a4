"""Opens the pages of `gyre inspect --report` and `gyre verify --report` in headless Chromium.

Every figure drawn, nothing fetched, no console error, no sideways scrolling on a phone.
pages_test.py [--program GYRE] [--shots DIR]   Prints `ok NAME` or `not ok NAME: REASON` a check.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import report_test as checks  # noqa: E402

CONFIGS = pathlib.Path(__file__).resolve().parents[2] / "src/gyre/inspect/testdata"
PAGES = {"inspect": ["inspect", str(CONFIGS / "gemma-3-4b.json")], "verify": ["verify"]}


def make(program, arguments, page):
    done = subprocess.run([program, *arguments, "--report", str(page)], capture_output=True, text=True,
                          check=False)
    return [] if done.returncode == 0 and page.exists() else [
        f"gyre {arguments[0]} exited with {done.returncode}: {done.stderr[-500:]}"]


def look(tally, name, page, shots):
    for screen, width, height in (("desktop", 1200, 900), ("phone", 390, 844)):
        with checks.browser(width, height) as driver:
            label = f"{name}, {screen}"
            tally.report(f"{label}: page finishes",
                         [] if checks.open_page(driver, page) else ["not drawn"])
            tally.report(f"{label}: every figure is drawn", checks.undrawn(driver))
            tally.report(f"{label}: nothing is fetched", checks.fetched(driver, page))
            tally.report(f"{label}: no sideways scrolling", checks.sideways(driver))
            checks.shoot(driver, shots, f"{name}-{screen}")
            tally.report(f"{label}: no console error", checks.console_errors(driver))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default=os.environ.get("GYRE_PROGRAM"), help="gyre [$GYRE_PROGRAM]")
    parser.add_argument("--shots", type=pathlib.Path, help="folder for screenshots")
    options = parser.parse_args()
    for tool in ("chromium", "chromedriver"):
        if shutil.which(tool) is None:
            print(f"skip pages: no {tool}; install the Debian packages chromium and chromium-driver")
            return 0
    if not options.program:
        parser.error("give --program or set GYRE_PROGRAM")
    tally = checks.Tally()
    with tempfile.TemporaryDirectory(prefix="gyre-pages-") as folder:
        for name, arguments in PAGES.items():
            page = pathlib.Path(folder) / f"{name}.html"
            problems = make(options.program, arguments, page)
            tally.report(f"{name}: page is written", problems)
            if not problems:
                look(tally, name, page, options.shots)
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
