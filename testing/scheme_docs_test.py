"""docs/schemes.md has a section, a plot and every option of each registered scheme, and the plots
are what the program makes."""
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import scheme_plots  # noqa: E402

DOCS = scheme_plots.ROOT / "docs" / "schemes.md"
PROGRAM = os.environ.get("GYRE_PROGRAM", "")


@unittest.skipUnless(PROGRAM and pathlib.Path(PROGRAM).exists(), "GYRE_PROGRAM names no program")
class SchemeDocs(unittest.TestCase):
    def test_every_scheme_has_a_section_with_its_options_and_plot(self):
        answer = subprocess.run([PROGRAM, "schemes", "--json", "-"], check=True, capture_output=True)
        text = DOCS.read_text()
        sections = dict(zip(*[iter(re.split(r"^### `(\w+)`.*$", text, flags=re.MULTILINE)[1:])] * 2))
        shared = text.split("### `")[0]
        for scheme in json.loads(answer.stdout)["schemes"]:
            name = scheme["name"]
            self.assertIn(name, sections)
            self.assertIn(f"schemes/{name}.svg", sections[name], name)
            self.assertTrue(re.search(r"\d{4}\.\d{5}", sections[name]), f"{name}: no source")
            for option in scheme["options"]:
                here = sections[name] + (shared if option["name"] in ("layout", "from", "rotary",
                                                                      "base", "original") else "")
                self.assertIn(f"`{option['name']}", here, f"{name}: option {option['name']}")

    def test_plots_are_what_the_program_makes(self):
        self.assertEqual([], scheme_plots.differences())


if __name__ == "__main__":
    unittest.main(verbosity=2)
