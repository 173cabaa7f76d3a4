"""Accepts a mock server with faults and a clean one, and opens both pages in headless Chromium.

Verdict, findings and their links to the failures, maps whose cells hold the numbers of accept.json, curves,
controls, failures to open and filter by hand and by keyboard; light, dark and on a phone. Then breaks the
page on purpose and expects each check to notice.
accept_test.py [--program GYRE] [--report DIR] [--shots DIR]   DIR: a run made before, with failures.
Prints `ok NAME` or `not ok NAME: REASON` a check.
"""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import report_test as checks  # noqa: E402

MOCK = pathlib.Path(__file__).resolve().parents[1] / "mock_server"
FAULTS = ["keep_tail:window=3000", "oracle:confuse=0.3:compose=0.9", "advertise:window=16384"]
RUNS = {"faults": (FAULTS, ["--lengths", "1000,4000", "--looks", "4"]),
        "clean": ([], ["--lengths", "1000", "--looks", "2", "--levels", "1,2", "--no-curves"])}
FIGURES = {"faults": ["stripes", "tokens", "retrieval", "distractors", "composition", "resources"],
           "clean": ["stripes", "tokens", "retrieval", "distractors"]}
THIN = "\u202f"


@contextlib.contextmanager
def mock(faults):
    flags = [flag for fault in faults for flag in ("--fault", fault)]
    server = subprocess.Popen([sys.executable, str(MOCK), *flags], stdout=subprocess.PIPE, text=True)
    try:
        yield server.stdout.readline().split()[-1]
    finally:
        server.kill()
        server.wait()
        server.stdout.close()


def make(program, name, folder):
    faults, flags = RUNS[name]
    with mock(faults) as address:
        done = subprocess.run([program, "accept", "--endpoint", f"http://{address}/v1", "--out", str(folder),
                               *flags], capture_output=True, text=True, check=False)
    there = (folder / "report.html").is_file()
    return [] if done.returncode in (0, 1) and there else [f"exit {done.returncode}: {done.stderr[-500:]}"]


def texts(driver, selector):
    return driver.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent.trim());", selector)


def verdict_fails(driver, result):
    problems = []
    if texts(driver, ".verdict p") != result["says"] or len(result["says"]) != 3:
        problems.append(f"lines {texts(driver, '.verdict p')}")
    if texts(driver, ".glance dd")[0] != result["verdict"]:
        problems.append(f"{texts(driver, '.glance dd')[0]} is not {result['verdict']}")
    return problems


def findings_fail(driver, result):
    """Every finding, faults first, in its words, with advice; its links lead to failures that open."""
    shown = texts(driver, ".card h3 span:first-child")
    wanted = [finding["id"] for finding in result["findings"]]
    problems = [] if sorted(shown) == sorted(wanted) else [f"{shown}, not {wanted}"]
    tags = texts(driver, ".card .tag")
    if tags != sorted(tags, key=["fault", "warning", "note"].index):
        problems.append(f"order {tags}")
    page = driver.execute_script("return document.querySelector('#findings-part').textContent")
    problems += [f"'{f['says']}' is missing" for f in result["findings"] if f["says"] not in page]
    problems += ["no advice for the server"] if "llama.cpp:" not in page else []
    return problems + ([] if driver.execute_script("""
return document.querySelectorAll(".card .evidence a").length;""") else ["no link to what shows it"])


def dead_links(driver, folder):
    """Links of the page that lead nowhere, to a place of it or to a file beside it."""
    links = driver.execute_script("""
return [...new Set([...document.querySelectorAll("main a")].map((a) => a.getAttribute("href")))]
  .map((href) => [href, href.startsWith("#") && !!document.getElementById(href.slice(1))]);""")
    return [f"{href} leads nowhere" for href, found in links
            if not found and (href.startswith("#") or not (folder / href).is_file())][:5]


def evidence_fails(driver):
    """A click on the evidence of a finding opens the failure, also one that the filter hides."""
    link = driver.find_element("css selector", ".card .evidence a")
    sid = link.get_attribute("href").split("#sid-")[1]
    state = f"""
const one = document.getElementById("sid-{sid}");
return [one.open, one.getBoundingClientRect().top, innerHeight,
        document.activeElement === one.querySelector("summary"), one.offsetHeight];"""
    driver.execute_script("""
const search = document.querySelector(".filter input");
search.value = "no answer has these words";
search.dispatchEvent(new Event("input"));
arguments[0].scrollIntoView({block: "center", behavior: "instant"});""", link)
    left = driver.execute_script("return document.querySelectorAll('.failures li:not([hidden])').length")
    link.click()
    checks.wait_for(lambda: driver.execute_script(state)[0], 5)
    checks.wait_for(lambda: 0 <= driver.execute_script(state)[1] < 300, 5)
    opened, top, height, focused, size = driver.execute_script(state)
    return ([] if left == 0 else [f"{left} entries fit words that nothing holds"]) + (
        [] if opened and size > 60 and top < height and focused else
        [f"open {opened}, {size} px at {top} of {height}, focus {focused}"])


def failures_fail(driver, result):
    """Every failure is an entry with the wanted answer, what came and the prompt around the evidence."""
    read = driver.execute_script("""
return [...document.querySelectorAll("details.failure")].map((one) => {
  one.open = true;
  return [one.id.slice(4), one.querySelector(".facts").innerText, one.querySelector("pre.prompt")?.innerText || "",
          [...one.querySelectorAll("mark")].map((mark) => mark.textContent)];
});""")
    shown = {sid: (facts, prompt, marks) for sid, facts, prompt, marks in read}
    wanted = result["failures"]
    problems = [] if len(shown) == min(400, len(wanted)) else [f"{len(shown)} of {len(wanted)} shown"]
    for failure in [f for f in wanted if f["sid"] in shown]:
        facts, prompt, marks = shown[failure["sid"]]
        here = all(gold in facts for gold in failure["gold"])
        if not here or failure["answer"][:40].split("\n")[0] not in facts:
            problems.append(f"{failure['sid']}: wanted or answer is not there")
        if len(prompt) < 200:
            problems.append(f"{failure['sid']}: {len(prompt)} characters of prompt")
        if failure["level"] == 2 and failure["arm"] == "main" and failure["sentences"] != marks:
            problems.append(f"{failure['sid']}: evidence {marks}")
    driver.execute_script("""
document.querySelectorAll("details.failure").forEach((one) => { one.open = false; });""")
    return problems[:5]


def filter_fails(driver, result):
    level = driver.execute_script("""
const field = [...document.querySelectorAll(".filter label")].find((l) => l.textContent.startsWith("level"))
  .querySelector("select");
field.value = "2";
field.dispatchEvent(new Event("input"));
const found = [document.querySelectorAll(".failures li:not([hidden])").length,
               document.querySelector(".filter output").textContent,
               document.querySelectorAll(".failures li").length];
field.value = "";
field.dispatchEvent(new Event("input"));
return [...found, document.querySelectorAll(".failures li:not([hidden])").length];""")
    of_two = len([f for f in result["failures"] if f["level"] == 2])
    every = len(result["failures"])
    return [] if level == [of_two, f"{of_two} of {every}", every, every] else [f"{level}, level 2: {of_two}"]


def keyboard_fails(driver):
    """Tab reaches the failures and a key opens them; what has the focus can be seen."""
    from selenium.webdriver.common.keys import Keys
    seen = driver.execute_script("""
document.querySelector(".filter input").focus();
return document.activeElement.tagName;""")
    problems = [] if seen == "INPUT" else [f"the search has no focus, {seen} has"]
    driver.switch_to.active_element.send_keys(Keys.TAB)
    driver.switch_to.active_element.send_keys(Keys.ENTER)
    tag, opened, outline = driver.execute_script("""
const at = document.activeElement;
return [at.tagName, !!at.parentElement.open, getComputedStyle(at).outlineStyle];""")
    if tag != "SUMMARY" or not opened or outline == "none":
        problems.append(f"{tag}, open {opened}, outline {outline}")
    return problems


def cell_text(bucket):
    if bucket["n"] == 0:
        return None
    share = bucket["correct"] / bucket["n"]
    return f"{share:.2f}{bucket['lower']:.2f}\u2013{bucket['upper']:.2f}"


def maps_fail(driver, result, level, figure):
    """What is written in the cells of the maps on the screen, against accept.json."""
    drawn = driver.execute_script("""
return [...document.querySelectorAll("#fig-" + arguments[0] + " .plot")].map((plot) => ({
  cells: [...plot.querySelectorAll(".heatmaplayer text")].map((t) => t.textContent),
  rows: [...plot.querySelectorAll(".ytick text")].map((t) => t.textContent),
  notes: [...plot.querySelectorAll(".annotation-text")].map((t) => t.textContent)}));""", figure)
    rows = {}
    for cell in result["cells"]:
        if cell["level"] == level and cell["arm"] == "main":
            rows.setdefault((cell["task"], json.dumps(cell["dials"])), []).append(cell)
    wanted = []
    for cells in rows.values():
        cells.sort(key=lambda cell: cell["length"])
        if any(cell["asked"] for cell in cells):
            texts_of = [cell_text(b) for cell in cells for b in cell["buckets"]]
            wanted.append({"cells": [t for t in texts_of if t],
                           "rows": [f"{cell['length']:,}".replace(",", THIN) + cell["status"] for cell in cells],
                           "notes": ["not asked" for cell in cells if not cell["asked"]]})
    for one in drawn + wanted:
        one["cells"] = sorted(one["cells"])
    if not wanted or not any(one["cells"] for one in wanted):
        return ["the run has no cell to look at"]
    return [] if drawn == wanted else [f"{a} is not {b}" for a, b in zip(drawn, wanted) if a != b][:2] or [
        f"{len(drawn)} maps, not {len(wanted)}"]


def fits_fail(driver):
    """No number of a map is wider than its cell."""
    return driver.execute_script("""
return [...document.querySelectorAll(".plot")].flatMap((plot) => {
  const image = plot.querySelector(".heatmaplayer image");
  const texts = [...plot.querySelectorAll(".heatmaplayer text")];
  if (!image || !texts.length) { return []; }
  const cell = image.getBoundingClientRect().width / plot.querySelectorAll(".xtick text").length;
  const widest = Math.max(...texts.map((t) => t.getBoundingClientRect().width));
  return widest <= cell - 1 ? [] : [plot.id + ": " + widest.toFixed(0) + " px in " + cell.toFixed(0)];
});""")


def tables_fail(driver, result):
    """A row for each planned cell and each measure."""
    problems = []
    for level in (2, 3):
        for table, wanted in ((f"cells-{level}", [c for c in result["cells"] if c["level"] == level
                                                  and c["arm"] == "main"]),
                              (f"controls-{level}", [c for c in result["cells"] if c["level"] == level
                                                     and c["arm"] != "main"]),
                              (f"measures-{level}", [m for m in result["measures"] if m["level"] == level])):
            rows = driver.execute_script(f"""
return document.querySelectorAll("table[aria-labelledby='table-{table}'] tbody tr").length""")
            if rows != len(wanted):
                problems.append(f"{table} has {rows} rows, not {len(wanted)}")
    return problems


def cut_off(driver):
    """Text of headings, verdict, findings and legends that runs out of its box."""
    return driver.execute_script("""
return [...document.querySelectorAll("h1, h2, h3, .verdict p, .card p, .glance div, .key, figcaption p, summary")]
  .filter((e) => e.offsetParent && !e.closest(".failures")
                 && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .map((e) => "'" + e.textContent.slice(0, 40) + "' runs out of the window").slice(0, 3);""")


def look(tally, name, folder, shots):
    page, result = folder / "report.html", json.loads((folder / "accept.json").read_text(encoding="utf-8"))
    for screen, width, height, dark in (("desktop", 1280, 900, False), ("dark phone", 390, 844, True)):
        label = f"{name}, {screen}"
        with checks.browser(width, height, dark) as driver:
            tally.report(f"{label}: page finishes",
                         [] if checks.open_page(driver, page, 120) else ["not drawn"])
            checks.shoot(driver, shots, f"accept-{label.replace(' ', '-').replace(',', '')}")
            tally.report(f"{label}: every figure is drawn", checks.undrawn(driver))
            tally.report(f"{label}: numbers fit their cells", fits_fail(driver))
            tally.report(f"{label}: no sideways scrolling", checks.sideways(driver) + cut_off(driver))
            if screen == "desktop":
                content(tally, name, driver, folder, result)
            elif result["failures"]:
                tally.report(f"{label}: evidence leads to the failure", evidence_fails(driver))
                tally.report(f"{label}: no sideways scrolling with a failure open", checks.sideways(driver))
            background = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
            tally.report(f"{label}: colours", [] if (background == "rgb(255, 255, 255)") != dark else [background])
            tally.report(f"{label}: nothing is fetched", checks.fetched(driver, page))
            tally.report(f"{label}: no console error", checks.console_errors(driver))


def content(tally, name, driver, folder, result):
    there = texts(driver, "figure > figcaption a")
    tally.report(f"{name}: every figure is there",
                 [f"no {f}" for f in FIGURES.get(name, []) if f"figures/{f}.csv" not in there])
    tally.report(f"{name}: every figure has a CSV file", checks.poor_csv(driver, folder))
    tally.report(f"{name}: verdict in three lines", verdict_fails(driver, result))
    tally.report(f"{name}: maps hold the numbers of accept.json", maps_fail(driver, result, 2, "retrieval"))
    tally.report(f"{name}: tables hold every cell and measure", tables_fail(driver, result))
    tally.report(f"{name}: no dead link", dead_links(driver, folder))
    if result["findings"]:
        tally.report(f"{name}: findings", findings_fail(driver, result))
    elif "No finding." not in texts(driver, "#findings-part p"):
        tally.report(f"{name}: says that there is no finding", texts(driver, "#findings-part p"))
    if any(cell["level"] == 3 and cell["asked"] for cell in result["cells"]):
        tally.report(f"{name}: maps of level 3", maps_fail(driver, result, 3, "composition"))
    if result["failures"]:
        tally.report(f"{name}: evidence leads to the failure", evidence_fails(driver))
        tally.report(f"{name}: failures can be read", failures_fail(driver, result))
        tally.report(f"{name}: failures are filtered", filter_fails(driver, result))
        tally.report(f"{name}: the keyboard opens a failure", keyboard_fails(driver))


def check_the_checks(tally, folder):
    """Faults put into the good page: each must be seen by its check. One page holds all but the last."""
    text = (folder / "report.html").read_text(encoding="utf-8")
    result = json.loads((folder / "accept.json").read_text(encoding="utf-8"))
    faults = {
        "a verdict without a line": ("</p>\n<p>", " ", 1, lambda d: verdict_fails(d, result)),
        "a finding that is left out": ('<article class="card', '<article class="off', 1,
                                       lambda d: findings_fail(d, result)),
        "evidence that leads nowhere": ('href="#sid-', 'href="#sid-0', 1, lambda d: dead_links(d, folder)),
        "another number in a map": ('"label":[["', '"label":[["9', 1,
                                    lambda d: maps_fail(d, result, 2, "retrieval")),
        "failures without prompts": ('<pre class="prompt">', "<pre>", -1, lambda d: failures_fail(d, result)),
        "a filter that hides nothing": ("parentElement.hidden = !fits", "x = !fits", 1,
                                        lambda d: filter_fails(d, result)),
        "a lost row of a table": ("<tr>", "<tr hidden></tr><tr>", -1, lambda d: tables_fail(d, result)),
        "links that open nothing": ("entry.open = true", "entry.x = true", 1, lambda d: evidence_fails(d)),
    }
    path, broken = folder / "broken.html", text
    with checks.browser(1280, 900) as driver:
        for name, (old, new, times, check) in faults.items():
            last = name == list(faults)[-1]
            if name == list(faults)[0] or last:
                broken = text
                for before, after, n, _ in ([faults[name]] if last else list(faults.values())[:-1]):
                    broken = broken.replace(before, after, n)
                path.write_text(broken, encoding="utf-8")
                driver.get("about:blank")
                checks.open_page(driver, path)
            tally.report(f"the check notices {name}",
                         [] if old in text and check(driver) else ["it did not"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default=os.environ.get("GYRE_PROGRAM"), help="gyre [$GYRE_PROGRAM]")
    parser.add_argument("--report", type=pathlib.Path, help="folder of a run [two are made]")
    parser.add_argument("--shots", type=pathlib.Path, help="folder for screenshots")
    options = parser.parse_args()
    for tool in ("chromium", "chromedriver"):
        if shutil.which(tool) is None:
            print(f"skip accept page: no {tool}; install the Debian packages chromium and chromium-driver")
            return 0
    if not options.program and not options.report:
        parser.error("give --program or set GYRE_PROGRAM")
    tally = checks.Tally()
    if options.report:
        look(tally, "run", options.report.resolve(), options.shots)
    else:
        with tempfile.TemporaryDirectory(prefix="gyre-accept-") as temporary:
            for name in RUNS:
                folder = pathlib.Path(temporary) / name
                problems = make(options.program, name, folder)
                tally.report(f"{name}: the run is made", problems)
                if not problems:
                    look(tally, name, folder, options.shots)
            if (pathlib.Path(temporary) / "faults" / "report.html").is_file():
                check_the_checks(tally, pathlib.Path(temporary) / "faults")
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
