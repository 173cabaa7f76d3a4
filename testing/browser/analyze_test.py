"""Trains a small model, analyses it, and opens the page in headless Chromium as a reader would.

Every figure drawn (maps too), nothing fetched, no console error, no sideways scrolling on a phone, a CSV
file per figure, the catalogue sorts, panels are saved as PNG and SVG.
analyze_test.py [--program GYRE] [--report DIR] [--shots DIR]   DIR: an analysis made before.
Prints `ok NAME` or `not ok NAME: REASON` a check.
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

TRAIN = ["--scheme", "rope", "--layout", "halves", "--width", "32", "--layers", "3", "--heads", "2",
         "--head-dim", "16", "--hidden", "48", "--length", "64", "--batch", "8", "--tokens", "20000"]
ANALYZE = ["--tokens", "64", "--windows", "2", "--random-rows", "2", "--ablation-rows", "4",
           "--ablation-items", "8", "--spectrum", "--spectrum-tokens", "32"]


def run(arguments):
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    return [] if done.returncode == 0 else [
        f"{' '.join(arguments[:2])} exited with {done.returncode}: {done.stderr[-500:]}"]


def make(program, folder):
    """An analysis of a model trained on a few lines; what failed, if anything."""
    text = folder / "corpus.txt"
    text.write_text("".join(f"line {i}: {i * 7 % 101} and {i * 13 % 97} make no sense\n"
                            for i in range(4000)), encoding="utf-8")
    model, out = folder / "model", folder / "analysis"
    return (run([program, "train", "--data", str(text), "--out", str(model), *TRAIN])
            or run([program, "analyze", str(model), "--text", str(text), "--out", str(out), *ANALYZE])), out


def sorting_fails(driver):
    """Sorts the catalogue by score, both ways."""
    driver.execute_script("""
document.querySelectorAll("details").forEach((d) => { d.open = true; });
const titles = [...document.querySelectorAll("table[aria-labelledby='table-heads'] thead th")];
titles.find((t) => t.textContent === "score").querySelector("button").click();""")
    read = """
return [...document.querySelectorAll("table[aria-labelledby='table-heads'] tbody tr")]
  .map((row) => Number(row.cells[3].textContent));"""
    down = driver.execute_script(read)
    problems = [] if len(down) > 1 and down == sorted(down, reverse=True) else [f"not descending: {down[:9]}"]
    driver.execute_script("""
document.querySelector("table[aria-labelledby='table-heads'] th[aria-sort] button").click();""")
    up = driver.execute_script(read)
    return problems + ([] if up == sorted(up) else [f"not ascending: {up[:9]}"])


def export_fails(driver):
    """The buttons are there, and what they call gives a picture."""
    buttons = driver.execute_script("""
return [...document.querySelectorAll("#plot-norms-0 .modebar-btn")].map((b) => b.dataset.title);""")
    problems = [] if buttons == ["save as PNG", "save as SVG"] else [f"buttons {buttons}"]
    for kind, start in (("png", "data:image/png"), ("svg", "data:image/svg+xml")):
        picture = driver.execute_async_script("""
const [kind, done] = arguments;
Plotly.toImage(document.getElementById("plot-norms-0"), {format: kind, width: 600, height: 400})
  .then((url) => done(url.slice(0, 40) + " " + url.length), (fault) => done(String(fault)));""", kind)
        if not picture.startswith(start) or int(picture.rsplit(" ", 1)[-1]) < 2000:
            problems.append(f"{kind}: {picture}")
    return problems


def look(tally, folder, shots):
    page = folder / "report.html"
    for screen, width, height, dark in (("desktop", 1200, 900, False), ("dark", 1200, 900, True),
                                        ("phone", 390, 844, False)):
        with checks.browser(width, height, dark) as driver:
            tally.report(f"{screen}: page finishes",
                         [] if checks.open_page(driver, page, 120) else ["not drawn"])
            tally.report(f"{screen}: every figure is drawn", checks.undrawn(driver))
            tally.report(f"{screen}: nothing is fetched", checks.fetched(driver, page))
            tally.report(f"{screen}: no sideways scrolling", checks.sideways(driver))
            checks.shoot(driver, shots, f"analyze-{screen}")
            if screen == "desktop":
                tally.report("every figure has a CSV file", checks.poor_csv(driver, folder))
                tally.report("the catalogue sorts", sorting_fails(driver))
                tally.report("panels are saved as pictures", export_fails(driver))
            tally.report(f"{screen}: no console error", checks.console_errors(driver))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default=os.environ.get("GYRE_PROGRAM"), help="gyre [$GYRE_PROGRAM]")
    parser.add_argument("--report", type=pathlib.Path, help="folder of an analysis [one is made]")
    parser.add_argument("--shots", type=pathlib.Path, help="folder for screenshots")
    options = parser.parse_args()
    for tool in ("chromium", "chromedriver"):
        if shutil.which(tool) is None:
            print(f"skip analyze: no {tool}; install the Debian packages chromium and chromium-driver")
            return 0
    if not options.program and not options.report:
        parser.error("give --program or set GYRE_PROGRAM")
    tally = checks.Tally()
    with tempfile.TemporaryDirectory(prefix="gyre-analyze-") as folder:
        problems, made = ([], options.report) if options.report else make(options.program,
                                                                          pathlib.Path(folder))
        tally.report("a model is trained and analysed", problems)
        if not problems:
            look(tally, made, options.shots)
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
