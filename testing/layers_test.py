"""The layer test: who may include whom, and what stays out of which folder.

Each rule is a function from a source tree to a list of faults; RealTree applies them to src/gyre,
CanFail to a temporary tree that breaks each rule in turn. CONTRIBUTING.md has the table of folders.
"""
import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent

# A module may include itself and the modules to its right.
LAYERS = ["cli", "report", "accept", "bench", "study", "verify", "analyze", "evaluate", "train", "data", "model",
          "attention", "inspect", "position", "tensor", "base"]
SCHEME_FREE = {"attention", "model", "train", "evaluate", "study", "data"}
MAX_LINES = 400
SUFFIXES = {".h", ".cpp", ".cu", ".def"}
# Scheme names that are plain English: only a string that starts with one is a mention of the scheme.
ENGLISH = {"partial", "frozen", "linear", "dynamic", "proportional", "clipped"}

# Tests, and the headers that only tests include; they are not installed either.
TEST_FILE = re.compile(r"_(test|bench)\.cpp$|^(fixtures|test_\w+|\w+_testing)\.h$")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
FORBIDDEN = re.compile(r"^(torch/torch\.h|torch/all\.h|fmt/|spdlog/|glog/|absl/log|catch2/|doctest)")
COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
                               re.DOTALL)
# A folder that exists on one machine only; /usr, /proc, /dev, /sys and /tmp are on all of them.
MACHINE_PATH = re.compile(r'(?<![\w/.$}>-])/(?:home|root|work|Users|opt|mnt|srv|data)/[\w.-]+')


def sources(root):
    for path in sorted((root / "src" / "gyre").rglob("*")):
        if path.suffix in SUFFIXES:
            yield path, path.relative_to(root / "src" / "gyre").parts[0], path.read_text()


def strip_comments(text):
    """Comments become as many line ends as they had; strings stay."""
    def keep(match):
        part = match.group(0)
        return part if part[0] in "\"'" else "\n" * part.count("\n")
    return COMMENT_OR_STRING.sub(keep, text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def includes(text):
    for match in INCLUDE.finditer(strip_comments(text)):
        yield match.group(1), line_of(text, match.start(1))


def scheme_names(root):
    text = (root / "src/gyre/position/schemes.def").read_text()
    return re.findall(r"^GYRE_SCHEME\((\w+?)_scheme\)", text, re.MULTILINE)


def upward_includes(root):
    faults = []
    for path, module, text in sources(root):
        if module not in LAYERS:
            faults.append(f"{path}: folder '{module}' has no place in the list of layers")
            continue
        allowed = LAYERS[LAYERS.index(module):]
        for target, line in includes(text):
            parts = target.split("/")
            if parts[0] == "gyre" and parts[1] not in allowed:
                faults.append(f"{path}:{line}: {module} may not include {target}")
    return faults


def unqualified_includes(root):
    """An include of an own header by a bare or relative path would get round the layers."""
    faults = []
    for path, _, text in sources(root):
        for target, line in includes(text):
            if "../" in target or (path.parent / target).exists():
                faults.append(f"{path}:{line}: include {target} by its full name, gyre/...")
    return faults


def misplaced_libraries(root):
    faults = []
    for path, module, text in sources(root):
        for target, line in includes(text):
            if FORBIDDEN.search(target):
                faults.append(f"{path}:{line}: {target} is not used in gyre")
            if target.startswith("CLI/") and module != "cli":
                faults.append(f"{path}:{line}: CLI11 is for src/gyre/cli alone")
            if target.startswith("curl/") and not path.match("accept/http_*"):
                faults.append(f"{path}:{line}: libcurl is for src/gyre/accept/http_* alone")
    return faults


def json_in_headers(root):
    """A header that holds nlohmann types says so in its name (json_*.h) and is for .cpp files only."""
    faults = []
    private = {f"gyre/{path.relative_to(root / 'src/gyre').as_posix()}"
               for path, _, _ in sources(root) if path.name.startswith("json_")}
    for path, _, text in sources(root):
        if path.suffix != ".h" or TEST_FILE.search(path.name):
            continue
        for target, line in includes(text):
            is_json = target.startswith("nlohmann/")
            if (is_json and not path.name.startswith("json_")) or target in private:
                faults.append(f"{path}:{line}: {target} in a header; nlohmann/json is for .cpp files")
    return faults


def test_headers_in_sources(root):
    """What is for tests alone stays out of the libraries, and so out of the installed headers."""
    faults = []
    for path, _, text in sources(root):
        for target, line in includes(text):
            if TEST_FILE.search(target.split("/")[-1]) and not TEST_FILE.search(path.name):
                faults.append(f"{path}:{line}: {target} is for tests alone")
    return faults


def long_files(root):
    return [f"{path}: {text.count(chr(10))} lines, the limit is {MAX_LINES}"
            for path, _, text in sources(root) if text.count("\n") > MAX_LINES]


def scheme_mentions(root):
    faults = []
    names = scheme_names(root)
    # Lower case, as the registry spells them, or an identifier of any case; prose in a string is free.
    free = "|".join(n for n in names if n not in ENGLISH)
    words = re.compile(rf'\b({free})\b|(?<![\w"-])(?i:({free}))(?=[A-Z_]|\s*[=;(])')
    specs = re.compile(rf'"({"|".join(names)})(["\:])')
    for path, module, text in sources(root):
        families = {"load", "tokenizer"} & set(path.parts)  # names of models, as schemes have them
        if module not in SCHEME_FREE or families or TEST_FILE.search(path.name):
            continue
        code = strip_comments(text)
        for match in [*words.finditer(code), *specs.finditer(code)]:
            name = match.group(0).strip('":')
            faults.append(f"{path}:{line_of(code, match.start())}: names the scheme '{name}'; "
                          "read what is needed from the PositionPlan")
    return faults


def machine_paths(root):
    faults = []
    for path, _, text in sources(root):
        for match in MACHINE_PATH.finditer(text):
            faults.append(f"{path}:{line_of(text, match.start())}: path of one machine: "
                          f"{match.group(0)}")
    return faults


def unwatched_threads(root):
    """The thread sanitizer follows gyre::parallel_for and no other way to start threads."""
    faults = []
    for path, _, text in sources(root):
        if path.name == "parallel.h":
            continue
        code = strip_comments(text)
        for match in re.finditer(r"\bat::parallel_for\b|#pragma omp\b", code):
            faults.append(f"{path}:{line_of(code, match.start())}: {match.group(0)}; use "
                          "gyre::parallel_for of tensor/parallel.h")
    return faults


RULES = [upward_includes, unqualified_includes, misplaced_libraries, json_in_headers,
         test_headers_in_sources, long_files, scheme_mentions, machine_paths,
         unwatched_threads]


class RealTree(unittest.TestCase):
    def check(self, rule):
        faults = rule(ROOT)
        if faults:
            self.fail("\n" + "\n".join(sorted(set(faults))).replace(f"{ROOT}/", ""))

    def test_sources_are_found(self):
        modules = {module for _, module, _ in sources(ROOT)}
        self.assertGreaterEqual(modules, {"base", "position"})
        self.assertIn("rope", scheme_names(ROOT))


for one_rule in RULES:
    setattr(RealTree, f"test_{one_rule.__name__}", lambda self, rule=one_rule: self.check(rule))


class CanFail(unittest.TestCase):
    """Every rule finds the fault it is for, and only that, in an otherwise clean tree."""

    def faults(self, name, text):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            files = {"position/schemes.def": "GYRE_SCHEME(rope_scheme)\nGYRE_SCHEME(partial_scheme)\n",
                     "model/clean.cpp": '#include "gyre/base/log.h"\n// after rope; partial sums\n',
                     "base/log.h": "#pragma once\n", "report/json_node.h": "#pragma once\n",
                     name: text}
            for relative, content in files.items():
                path = root / "src" / "gyre" / relative
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content)
            return {rule.__name__: rule(root) for rule in RULES if rule(root)}

    def expect(self, rule, name, text, message):
        found = self.faults(name, text)
        self.assertEqual([rule.__name__], list(found), found)
        self.assertIn(message, "\n".join(found[rule.__name__]))

    def expect_clean(self, name, text):
        self.assertEqual({}, self.faults(name, text))

    def test_clean_tree_passes(self):
        self.expect_clean("base/other.cpp", "int x;\n")

    def test_upward_include(self):
        self.expect(upward_includes, "model/bad.cpp", '\n#include "gyre/train/trainer.h"\n',
                    "bad.cpp:2: model may not include gyre/train/trainer.h")

    def test_unknown_folder(self):
        self.expect(upward_includes, "extra/bad.cpp", "int x;\n", "'extra' has no place")

    def test_relative_include(self):
        self.expect(unqualified_includes, "base/bad.cpp", '#include "log.h"\n', "by its full name")

    def test_include_in_a_comment_is_none(self):
        self.expect_clean("base/other.cpp", '// #include "gyre/cli/verb.h"\n/*\n#include <fmt/x.h>\n*/\n')

    def test_whole_torch(self):
        self.expect(misplaced_libraries, "model/bad.cpp", "#include <torch/torch.h>\n", "torch/torch.h")

    def test_logging_library(self):
        self.expect(misplaced_libraries, "base/bad.cpp", "#include <spdlog/spdlog.h>\n", "spdlog")

    def test_cli11_outside_cli(self):
        self.expect(misplaced_libraries, "study/bad.cpp", "#include <CLI/CLI.hpp>\n", "CLI11")

    def test_curl_outside_http(self):
        self.expect(misplaced_libraries, "accept/bad.cpp", "#include <curl/curl.h>\n", "libcurl")
        self.expect_clean("accept/http_x.cpp", "#include <curl/curl.h>\n")

    def test_json_in_header(self):
        self.expect(json_in_headers, "base/bad.h", "#include <nlohmann/json.hpp>\n", "nlohmann")

    def test_json_header_in_header(self):
        self.expect(json_in_headers, "report/bad.h", '#include "gyre/report/json_node.h"\n', "json_node")

    def test_json_in_a_header_of_tests(self):
        self.expect_clean("base/fixtures.h", "#include <nlohmann/json.hpp>\n")

    def test_header_of_tests_in_a_source(self):
        self.expect(test_headers_in_sources, "base/bad.cpp", '#include "gyre/base/fixtures.h"\n',
                    "for tests alone")
        self.expect_clean("base/other_test.cpp", '#include "gyre/base/fixtures.h"\n')

    def test_long_file(self):
        self.expect(long_files, "base/bad.cpp", "int x;\n" * (MAX_LINES + 1), "401 lines")
        self.expect_clean("base/other.cpp", "int x;\n" * MAX_LINES)

    def test_scheme_name_as_identifier(self):
        self.expect(scheme_mentions, "attention/bad.cpp", "bool RoPE = true;\n", "'RoPE'")

    def test_scheme_name_as_a_spec(self):
        self.expect(scheme_mentions, "attention/bad.cpp", 'f("x", "rope");\n', "'rope'")
        self.expect_clean("attention/other.cpp", 'f("source: the p-RoPE paper");\n')

    def test_english_scheme_name_only_as_a_spec(self):
        self.expect(scheme_mentions, "study/bad.cpp", 'f("partial:n=4");\n', "'partial'")
        self.expect_clean("study/other.cpp", "double partial = 0;\n")

    def test_scheme_name_in_a_test_or_in_position(self):
        self.expect_clean("study/other_test.cpp", 'f("rope");\n')
        self.expect_clean("position/other.cpp", 'f("rope");\n')
        self.expect_clean("model/tokenizer/other.cpp", 'f("rope");\n')
        self.expect_clean("model/load/other.cpp", 'f("rope");\n')

    def test_threads_the_sanitizer_cannot_follow(self):
        self.expect(unwatched_threads, "model/bad.cpp", "at::parallel_for(0, 1, 1, f);\n",
                    "use gyre::parallel_for")
        self.expect_clean("model/other.cpp", "parallel_for(0, 1, 1, f);  // at::parallel_for\n")

    def test_machine_path(self):
        self.expect(machine_paths, "data/bad.cpp", 'f("/home/someone/x");\n', "/home/someone")
        self.expect_clean("data/other.cpp", 'f("/proc/self/exe", "/usr/lib/x", a/data/b);\n')


if __name__ == "__main__":
    unittest.main(verbosity=2)
