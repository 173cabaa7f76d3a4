"""Every public report that gyre answers for has its tests.

The reports are numbered 1 to 48; the tests of number N are the GoogleTest suite CaseN of two digits,
wherever it lies. Two or more neighbours of each report are tested beside it, so three is the least.
"""
import collections
import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
CASES = range(1, 49)
LEAST = 3
# TEST_F(Case07, ..) and TEST_F(Case07Reader, ..) both belong to report 7; a test that is compiled out
# or disabled does not count.
TEST = re.compile(r"^\s*TEST(?:_F|_P)?\(\s*Case(\d\d)[A-Za-z]*\s*,\s*(\w+)\s*\)", re.MULTILINE)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def tests_by_case(root):
    found = collections.defaultdict(set)
    for path in sorted((root / "src" / "gyre").rglob("*_test.cpp")):
        for number, name in TEST.findall(COMMENT.sub("", path.read_text())):
            if not name.startswith("DISABLED_"):
                found[int(number)].add(name)
    return found


def too_few(root):
    found = tests_by_case(root)
    return [f"Case{n:02d} has {len(found[n])} of {LEAST} tests" for n in CASES
            if len(found[n]) < LEAST]


def unknown(root):
    return [f"Case{n:02d} is no report" for n in sorted(tests_by_case(root)) if n not in CASES]


class RealTree(unittest.TestCase):
    def test_every_case_has_its_tests(self):
        missing = too_few(ROOT)
        self.assertEqual(missing, [], "\n" + "\n".join(missing))

    def test_no_suite_names_another_case(self):
        self.assertEqual(unknown(ROOT), [])


class CanFail(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        cases = self.root / "src" / "gyre" / "x" / "cases"
        cases.mkdir(parents=True)
        self.file = cases / "all_test.cpp"
        self.write("".join(f"TEST(Case{n:02d}, {name}) {{}}\n" for n in CASES for name in "ABC"))

    def write(self, text):
        self.file.write_text(text)

    def test_a_full_tree_passes(self):
        self.assertEqual(too_few(self.root), [])
        self.assertEqual(unknown(self.root), [])

    def test_a_case_without_tests_is_named(self):
        text = self.file.read_text()
        self.write(re.sub(r"TEST\(Case07.*\n", "", text))
        self.assertEqual(too_few(self.root), ["Case07 has 0 of 3 tests"])

    def test_comments_disabled_tests_and_repeated_names_do_not_count(self):
        text = self.file.read_text()
        for change in ("// TEST(Case48, C) {}", "TEST(Case48, DISABLED_C) {}",
                       "TEST(Case48, B) {}", "/* TEST(Case48, C) {}\n*/"):
            self.write(text.replace("TEST(Case48, C) {}", change))
            self.assertEqual(too_few(self.root), ["Case48 has 2 of 3 tests"], change)

    def test_fixtures_parameters_and_other_folders_count(self):
        text = self.file.read_text().replace("TEST(Case12, A)", "TEST_F(Case12, A)")
        self.write(text.replace("TEST(Case12, B)", "TEST_P(Case12Every, B)")
                   .replace("TEST(Case12, C) {}\n", ""))
        other = self.root / "src" / "gyre" / "y_test.cpp"
        other.write_text("TEST(Case12, C) {}\n")
        self.assertEqual(too_few(self.root), [])

    def test_a_number_beyond_the_last_is_an_error(self):
        self.write(self.file.read_text() + "TEST(Case49, A) {}\n")
        self.assertEqual(unknown(self.root), ["Case49 is no report"])


if __name__ == "__main__":
    unittest.main()
