"""Opens the report in headless Chromium as a reader would and checks what is on the screen.

Every figure drawn, nothing fetched, no console error, no sideways scrolling on a phone, a CSV file per
figure, hostile names shown as text. Then breaks pages on purpose and expects each check to notice.

report_test.py [--program GYRE] [--report DIR] [--shots DIR]   defaults: $GYRE_PROGRAM, a report of the
fixture in a temporary folder, no screenshots. Prints `ok NAME` or `not ok NAME: REASON` a check.
"""
import argparse
import base64
import contextlib
import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
FIXTURE = HERE.parent / "fixtures" / "compare" / "compare.json"
FIGURES = ["difference", "training", "position", "extrapolation", "needle", "spectra", "trajectories"]
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
         "--hide-scrollbars"]
HOSTILE = "<img src=x onerror=alert(1)></script>&\"'%{x}"

# One entry per plot: what Plotly has really put on the screen.
LOOK_AT_PLOTS = """
return [...document.querySelectorAll(".plot")].map((plot) => {
  const svg = plot.querySelector("svg.main-svg");
  const box = svg ? svg.getBoundingClientRect() : {width: 0, height: 0};
  const marks = [...plot.querySelectorAll(".scatterlayer .trace path")]
      .filter((path) => path.getTotalLength() > 0)
      .concat([...plot.querySelectorAll(".heatmaplayer image")]);
  return {figure: plot.closest("figure").id, plot: plot.id, width: box.width, height: box.height,
          marks: marks.length, label: plot.getAttribute("aria-label") || "",
          wide: box.width - plot.clientWidth};
});"""


class Tally:
    def __init__(self):
        self.passed = self.failed = 0

    def report(self, name, problems):
        if problems:
            self.failed += 1
            print(f"not ok {name}: {'; '.join(problems)[:2000]}", flush=True)
        else:
            self.passed += 1
            print(f"ok {name}", flush=True)


@contextlib.contextmanager
def browser(width, height, dark=False):
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    with tempfile.TemporaryDirectory(prefix="gyre-chromium-", ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for flag in FLAGS + [f"--user-data-dir={profile}", f"--window-size={width},{height}"]:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        try:
            phone = width < 500
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                "width": width, "height": height, "deviceScaleFactor": 2 if phone else 1,
                "mobile": phone})
            scheme = "dark" if dark else "light"
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
                "features": [{"name": "prefers-color-scheme", "value": scheme}]})
            yield driver
        finally:
            driver.quit()


def wait_for(condition, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.1)
    return False


def open_page(driver, page, seconds=60):
    driver.get(page.as_uri())
    return wait_for(lambda: driver.execute_script(
        "return document.documentElement.dataset.drawn") == "yes", seconds)


def undrawn(driver):
    plots = driver.execute_script(LOOK_AT_PLOTS)
    problems = [] if plots else ["the page has no figure"]
    for plot in plots:
        if plot["width"] < 100 or plot["height"] < 100:
            problems.append(f"{plot['plot']} is {plot['width']:.0f} x {plot['height']:.0f} px")
        elif plot["marks"] == 0:
            problems.append(f"{plot['plot']} has no line or point")
        elif plot["wide"] > 1:
            problems.append(f"{plot['plot']} is wider than its box by {plot['wide']:.0f} px")
        if not plot["label"]:
            problems.append(f"{plot['plot']} has no text for people who cannot see it")
    return problems


def fetched(driver, page):
    """Requests the page made beside itself. data: and blob: never leave the page."""
    problems = []
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            url = message["params"]["request"]["url"].split("#")[0]
            ours = message["params"]["documentURL"] == page.as_uri()  # not the browser's start page
            if ours and url != page.as_uri() and not url.startswith(("data:", "blob:")):
                problems.append(f"fetched {url}")
    return problems


def console_errors(driver):
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]


def sideways(driver):
    wide, window = driver.execute_script(
        "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    return [f"page is {wide} px wide in a window of {window} px"] if wide > window else []


def poor_tables(driver):
    tables = driver.execute_script("""
return [...document.querySelectorAll("table")].map((table) => ({
  name: table.getAttribute("aria-labelledby") || "",
  titled: !!document.getElementById(table.getAttribute("aria-labelledby")),
  rows: table.tBodies[0].rows.length,
  columns: table.tHead.querySelectorAll('th[scope="col"]').length,
  headed: [...table.tBodies[0].rows].every((row) => row.cells[0].scope === "row"),
  ragged: [...table.tBodies[0].rows].some((row) => row.cells.length !== table.tHead.rows[0].cells.length),
}));""")
    problems = [] if any(t["name"] == "table-arms" for t in tables) else ["no table of results"]
    for table in tables:
        if not (table["titled"] and table["rows"] and table["columns"] and table["headed"]):
            problems.append(f"{table['name'] or 'a table'} lacks a title, rows or headers")
        if table["ragged"]:
            problems.append(f"{table['name']} has a row with another number of cells")
    return problems


def poor_csv(driver, folder):
    links = driver.execute_script("""
return [...document.querySelectorAll("figure")].map((figure) =>
  [figure.id, figure.querySelector("figcaption a[href$='.csv']")?.getAttribute("href") || ""]);""")
    problems = []
    for figure, link in links:
        path = folder / link
        if not link or not path.is_file():
            problems.append(f"{figure}: no CSV file '{link}'")
            continue
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        if len(rows) < 2 or len({len(row) for row in rows}) != 1:
            problems.append(f"{link}: no rows, or rows of different length")
    return problems


def toggle_fails(driver):
    visible = ("return document.querySelectorAll("
               "'#plot-extrapolation-0 .scatterlayer .trace').length")
    button = driver.find_element("css selector", "#fig-extrapolation button.key")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", button)
    before = driver.execute_script(visible)
    button.click()
    if not wait_for(lambda: driver.execute_script(visible) == before - 1, 20):
        return [f"{before} lines before the click, {driver.execute_script(visible)} after"]
    button.click()
    if not wait_for(lambda: driver.execute_script(visible) == before, 20):
        return ["the line did not come back"]
    return []


def shoot(driver, folder, name):
    """The whole page in pieces that an image viewer can show."""
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    width, height = driver.execute_script(
        "return [document.documentElement.clientWidth, document.documentElement.scrollHeight]")
    for i, top in enumerate(range(0, height, 1600)):
        clip = {"x": 0, "y": top, "width": width, "height": min(1600, height - top), "scale": 1}
        picture = driver.execute_cdp_cmd("Page.captureScreenshot",
                                         {"captureBeyondViewport": True, "clip": clip})
        (folder / f"{name}-{i}.png").write_bytes(base64.b64decode(picture["data"]))


def make_report(program, folder, change=None):
    folder.mkdir(parents=True)
    data = json.loads(FIXTURE.read_text(encoding="utf-8"))
    if change:
        change(data)
    (folder / "compare.json").write_text(json.dumps(data), encoding="utf-8")
    done = subprocess.run([program, "report", str(folder)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"not ok make the report: {program} report exited with {done.returncode}: {done.stderr}"
                 "\n0 passed, 1 failed")
    return folder / "report.html"


def rename_arm(data):
    """Gives one arm a name that would break out of text, attribute or script if nothing escaped it."""
    old = data["arms"][1]["name"]
    data["title"] += HOSTILE
    for key in ("arms", "pairs", "length_curve", "needle", "frequencies", "cells"):
        for row in data[key]:
            for field in ("name", "arm", "b"):
                if row.get(field) == old:
                    row[field] = HOSTILE


def check_screens(tally, page, shots, figures):
    for name, width, height, dark in (("desktop", 1200, 900, False), ("phone", 390, 844, False),
                                      ("dark", 1200, 900, True)):
        with browser(width, height, dark) as driver:
            tally.report(f"{name}: page finishes", [] if open_page(driver, page) else ["not drawn"])
            tally.report(f"{name}: every figure is drawn", undrawn(driver))
            there = driver.execute_script("return [...document.querySelectorAll('figure')].map(f => f.id)")
            tally.report(f"{name}: every figure is there",
                         [f"no fig-{f}" for f in figures if f"fig-{f}" not in there])
            tally.report(f"{name}: nothing is fetched", fetched(driver, page))
            tally.report(f"{name}: no sideways scrolling", sideways(driver))
            shoot(driver, shots, name)
            if name == "desktop":
                tally.report("tables have titles and headers", poor_tables(driver))
                tally.report("every figure has its CSV file", poor_csv(driver, page.parent))
                if "extrapolation" in figures:
                    tally.report("the legend hides and shows an arm", toggle_fails(driver))
            tally.report(f"{name}: no console error", console_errors(driver))


def check_hostile(tally, page):
    with browser(1200, 900) as driver:
        open_page(driver, page)
        problems = undrawn(driver) + console_errors(driver)
        if driver.execute_script("return document.querySelectorAll('img, iframe, object').length"):
            problems.append("a name became an element")
        if HOSTILE not in driver.find_element("css selector", "#results").text:
            problems.append("the name is not shown as it is")
        tally.report("hostile names stay text", problems)


def check_the_checks(tally, page, folder):
    """Each fault, put into a good page, must be seen by its check."""
    text = page.read_text(encoding="utf-8")
    policy = text.index("<meta http-equiv")
    free = text[:policy] + text[text.index(">", policy) + 1:]  # else the browser itself blocks the picture
    end = "</main>"
    faults = {
        "an outside picture": (free.replace(end, "<img src='http://127.0.0.1:9/a.png' alt=''>" + end, 1),
                               lambda d, p: fetched(d, p)),
        "a blocked outside picture": (text.replace(end, "<img src='http://127.0.0.1:9/a.png'>" + end, 1),
                                      lambda d, p: console_errors(d)),
        "a console error": (text.replace(end, "<script>console.error('broken')</script>" + end, 1),
                            lambda d, p: console_errors(d)),
        "an empty figure": (text.replace(end, "<figure id='fig-x'><div class='plot' id='plot-x'>"
                                              "</div></figure>" + end, 1), lambda d, p: undrawn(d)),
        "a figure without data": (text.replace('"y":[', '"y":[],"z":['), lambda d, p: undrawn(d)),
        "a wide element": (text.replace(end, "<div style='width:900px'>wide</div>" + end, 1),
                           lambda d, p: sideways(d)),
        "a missing CSV file": (text, lambda d, p: poor_csv(d, p.parent)),
    }
    with browser(390, 844) as driver:
        for name, (broken, check) in faults.items():
            path = folder / "broken.html"
            path.write_text(broken, encoding="utf-8")
            driver.get("about:blank")
            driver.get_log("performance"), driver.get_log("browser")
            open_page(driver, path, 30)
            tally.report(f"the check notices {name}", [] if check(driver, path) else ["it did not"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default=os.environ.get("GYRE_PROGRAM"), help="gyre [$GYRE_PROGRAM]")
    parser.add_argument("--report", type=pathlib.Path, help="check this folder's report.html instead")
    parser.add_argument("--shots", type=pathlib.Path, help="folder for screenshots")
    options = parser.parse_args()
    for tool in ("chromium", "chromedriver"):
        if shutil.which(tool) is None:
            print(f"skip browser: no {tool}; install the Debian packages chromium and chromium-driver")
            print("0 passed, 0 failed")
            return 0
    if options.report is None and not options.program:
        parser.error("give --program or set GYRE_PROGRAM")
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="gyre-report-") as temporary:
        folder = pathlib.Path(temporary)
        if options.report is not None:
            check_screens(tally, options.report.resolve() / "report.html", options.shots, [])
        else:
            page = make_report(options.program, folder / "plain")
            check_screens(tally, page, options.shots, FIGURES)
            check_hostile(tally, make_report(options.program, folder / "hostile", rename_arm))
            check_the_checks(tally, page, folder)
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
