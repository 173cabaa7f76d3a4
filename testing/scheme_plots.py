"""Plots of docs/schemes.md: `scheme_plots.py [--check]` writes docs/schemes/NAME.svg, or says which
differ from what the program makes now. Numbers come from `gyre schemes --json - --plan SPEC`.

A plot shows wavelength by pair for D = 64 beside plain RoPE, or what else the scheme has.
"""
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "schemes"
TRAIN_LENGTH = 2048
COLOURS = ["#1f5fa8", "#c8501e", "#2c8a4b"]
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 560, 260, 60, 190, 16, 40

# What a run with learned frequencies might have ended with: one band at 2.2 training lengths.
ALPHA = [0.25 * math.sin(0.7 * k) - 0.01 * k for k in range(32)]
LEARNED = [10000 ** (-k / 32) * math.exp(a) for k, a in enumerate(ALPHA)]
LONGROPE = [round(1 + 3 * (k / 31) ** 2, 3) for k in range(32)]

# name -> [(label, spec, layer, length)]; RUN stands for a run with the frequencies above.
LINES = {
    "rope": [("base 10000", "rope", 0, 0), ("base 500000", "rope:base=500000", 0, 0)],
    "prope": [("p = 0.75", "prope", 0, 0), ("cut=high", "prope:cut=high", 0, 0)],
    "partial": [("fraction 0.75", "partial", 0, 0)],
    "nope": [],
    "lerope": [("at the start", "lerope", 0, 0), ("as learned (example)", "frozen:from=RUN", 0, 0)],
    "frozen": [("from=RUN (example)", "frozen:from=RUN", 0, 0)],
    "linear": [("factor 4", "linear", 0, 0), ("factor 4, from=RUN", "linear:from=RUN", 0, 0)],
    "ntk": [("factor 4", "ntk", 0, 0), ("factor 4, from=RUN", "ntk:from=RUN", 0, 0)],
    "dynamic": [("4096 tokens", "dynamic", 0, 4096), ("16384 tokens", "dynamic", 0, 16384)],
    "ntk_by_parts": [("paper, factor 4", "ntk_by_parts", 0, 0),
                     ("released", "ntk_by_parts:convention=released", 0, 0),
                     ("paper, from=RUN", "ntk_by_parts:from=RUN", 0, 0)],
    "yarn": [("factor 4", "yarn", 0, 0), ("truncate=false", "yarn:truncate=false", 0, 0),
             ("factor 4, from=RUN", "yarn:from=RUN", 0, 0)],
    "longrope": [("short list", "longrope:long=%s" % str(LONGROPE).replace(" ", ""), 0, 0),
                 ("long list (example)", "longrope:long=%s" % str(LONGROPE).replace(" ", ""), 0,
                  8192)],
    "llama3": [("factor 8", "llama3", 0, 0), ("factor 8, from=RUN", "llama3:from=RUN", 0, 0)],
    "proportional": [("p = 0.25, base 1e6", "proportional", 0, 0)],
    "clipped": [("soft", "clipped", 0, 0), ("hard", "clipped:cut=hard", 0, 0)],
    "xpos": [("xpos", "xpos", 0, 0)],
    "gemma3": [("local layers", "gemma3", 0, 0), ("global layers", "gemma3", 5, 0)],
    "gemma4": [("local layers", "gemma4", 0, 0), ("global layers", "gemma4", 5, 0)],
    "nope_every": [("layers 0 1 2, 4 5 6, ..", "nope_every", 0, 0)],
    "irope": [("layers 0 1 2, 4 5 6, ..", "irope", 0, 0)],
}


def query(plans):
    """[(spec, length)] -> {(spec, length): plan}, and the registered names."""
    out, names = {}, []
    with tempfile.TemporaryDirectory() as run:
        line = {"schema": "gyre.frequency/1", "step": 1, "alpha": ALPHA, "inv_freq": [[LEARNED]]}
        (pathlib.Path(run) / "frequencies.jsonl").write_text(json.dumps(line) + "\n")
        for length in sorted({length for _, length in plans}):
            specs = [spec for spec, other in plans if other == length]
            command = [os.environ["GYRE_PROGRAM"], "schemes", "--json", "-", "--train-length",
                       str(TRAIN_LENGTH), "--length", str(length), "--heads", "12"]
            for spec in specs:
                command += ["--plan", spec.replace("RUN", run)]
            answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            names = [scheme["name"] for scheme in answer["schemes"]]
            for spec, made in zip(specs, answer["plans"]):
                out[spec, length] = made["plan"]
    return out, names


def text(x, y, words, anchor="start", colour="#333"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" '
            f'font-family="sans-serif" font-size="11">{words}</text>')


def frame(x_label, y_label, y_ticks, y_of, note):
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>']
    for value, label in y_ticks:
        y = y_of(value)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{right}" stroke="#e4e4e4"/>')
        parts.append(text(LEFT - 5, y + 4, label, "end"))
    parts.append(text((LEFT + right) / 2, HEIGHT - 8, x_label, "middle"))
    parts.append(f'<g transform="rotate(-90 12 {(TOP + bottom) / 2:.0f})">'
                 + text(12, (TOP + bottom) / 2, y_label, "middle") + "</g>")
    if note:
        parts.append(text(right + 12, bottom, note))
    return parts


def curves(series, x_label, y_label, low, high, note=""):
    """series: [(label, colour, dash, [(x, y)])], y on a log10 axis from 10^low to 10^high."""
    x_last = max([x for _, _, _, points in series for x, _ in points] + [1])
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def x_of(x):
        return LEFT + (right - LEFT) * x / x_last

    def y_of(y):
        return bottom - (bottom - TOP) * (math.log10(y) - low) / (high - low)

    widths = [1.5, 4, 1.8, 1.2] if series[0][2] else [4, 1.8]  # later lines lie on wider ones
    parts = frame(x_label, y_label, [(10.0 ** e, f"1e{e}") for e in range(low, high + 1)], y_of, note)
    for x in (0, x_last):
        parts.append(text(x_of(x), bottom + 14, str(x), "middle"))
    for i, (label, colour, dash, points) in enumerate(series):
        path = "L".join(f"{x_of(x):.1f} {y_of(min(y, 10.0 ** high)):.1f}" for x, y in points)
        style = f'stroke="{colour}" fill="none" stroke-width="{widths[i]}"' + (
            ' stroke-dasharray="4 3"' if dash else "")
        if path:
            parts.append(f'<path d="M{path}" {style}/>')
        y = TOP + 10 + 16 * i
        parts.append(f'<path d="M{right + 12} {y - 4}h16" {style}/>')
        parts.append(text(right + 33, y, label))
    return "\n".join(parts) + "\n</svg>\n"


def wavelengths(plan, layer):
    rows = plan["layers"][layer]["inv_freq"]
    bands = rows[0] if rows else []
    return [(m, 2 * math.pi / theta) for m, theta in enumerate(bands) if theta > 0]


def plot(name, plans):
    rope = [("RoPE, base 10000", "#999", True, wavelengths(plans["rope", 0], 0))]
    if name == "alibi":
        series = [(spec.split("=")[1], COLOURS[i], False,
                   [(h + 1, s) for h, s in enumerate(plans[spec, 0]["layers"][0]["slopes"])])
                  for i, spec in enumerate(("alibi:slopes=released", "alibi:slopes=geometric"))]
        return curves(series, "head (of 12)", "slope per token", -3, 0)
    if name == "xpos":
        decay = plans["xpos", 0]["layers"][0]["decay"]
        rope.append(("half left after", COLOURS[0], False,
                     [(m, math.log(2) / d) for m, d in enumerate(decay) if d > 0]))
        return curves(rope, "pair", "tokens", 0, 6)
    series = rope + [(label, COLOURS[i], False, wavelengths(plans[spec, length], layer))
                     for i, (label, spec, layer, length) in enumerate(LINES[name])]
    note = {"nope": "no pair rotates", "nope_every": "layers 3 7 11: none", "irope": "layers 3 7 11: none",
            "proportional": "the other 24: none", "prope": "8 pairs: none"}.get(name, "")
    return curves(series, "pair", "wavelength, tokens", 0, 9, note)


def make_all():
    wanted = {(spec, length) for lines in LINES.values() for _, spec, _, length in lines}
    wanted |= {("alibi:slopes=released", 0), ("alibi:slopes=geometric", 0), ("rope", 0)}
    plans, names = query(sorted(wanted, key=lambda one: (one[1], one[0])))
    return {f"{name}.svg": plot(name, plans) for name in names}


def differences():
    """Names of plots that are missing, left over or not what the program makes."""
    made = make_all()
    kept = {path.name: path.read_text() for path in FOLDER.glob("*.svg")}
    return sorted(name for name in made.keys() | kept.keys() if made.get(name) != kept.get(name))


def main():
    if "--check" in sys.argv[1:]:
        wrong = differences()
        print("\n".join(f"docs/schemes/{name} is not what gyre makes; run testing/scheme_plots.py"
                        for name in wrong) or "all plots are up to date")
        return 1 if wrong else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, svg in make_all().items():
        (FOLDER / name).write_text(svg)
    return 0


if __name__ == "__main__":
    sys.exit(main())
