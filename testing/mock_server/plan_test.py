"""The table of faults and the test plan agree with each other and with what the program takes."""
import contextlib
import io
import json
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from mock_server import cli, config, faults, grammar, oracle
from mock_server.config import Config

FOLDER = pathlib.Path(__file__).resolve().parent
PLAN = json.loads((FOLDER / "cases.json").read_text())
RUNS = [(case, run) for case in PLAN["cases"] for run in case["runs"]]


class Plan(unittest.TestCase):
    def test_every_case_of_the_field_is_there_once(self):
        names = [case["case"] for case in PLAN["cases"]]
        self.assertEqual([name for name in names if name[0] == "S"],
                         [f"S{i:02}" for i in range(1, 35)])
        self.assertEqual(len(names), len(set(names)))

    def test_only_two_cases_need_no_server(self):
        self.assertEqual([case["case"] for case in PLAN["cases"] if not case["runs"]],
                         ["S15", "S32"])

    def test_each_run_starts(self):
        for case, run in RUNS:
            with self.subTest(case=case["case"], run=run["name"]):
                options = cli.parse(run["server"])
                Config(faults.Faults(options.fault), options.window or None, options.dialect)

    def test_findings_are_known_and_do_not_contradict(self):
        for case, run in RUNS:
            with self.subTest(case=case["case"], run=run["name"]):
                wanted = set(run["findings"]) | set(run.get("allowed", []))
                self.assertLessEqual(wanted, set(PLAN["groups"]["all"]))
                self.assertFalse(set(run["findings"]) & set(run.get("allowed", [])))
                self.assertIn(run["forbidden"], PLAN["groups"])
                self.assertTrue(run["lengths"])
                self.assertEqual(run["lengths"], sorted(run["lengths"]))

    def test_names_of_runs_differ(self):
        names = [(case["case"], run["name"]) for case, run in RUNS]
        self.assertEqual(len(names), len(set(names)))

    def test_every_finding_comes_out_of_some_run(self):
        found = {finding for _, run in RUNS for finding in run["findings"]}
        self.assertEqual(set(PLAN["groups"]["all"]) - found, set())

    def test_clean_servers_run_at_five_lengths(self):
        clean = [run for case, run in RUNS if case["case"] == "C01"]
        self.assertGreater(len(clean), 20)
        for run in clean:
            self.assertEqual((len(run["lengths"]), run["forbidden"]), (5, "all"))


class Words(unittest.TestCase):
    WORDS = {slot: table for slot, table in json.loads((FOLDER / "words.json").read_text()).items()
             if slot != "schema"}

    def test_paraphrases_share_no_word_with_any_record(self):
        def content(texts):
            return {word for text in texts for word in text.lower().split()} - {"the"}
        own = content(word for table in self.WORDS.values() for word in table)
        other = content(word for table in self.WORDS.values() for word in table.values())
        self.assertEqual(own & other, set())
        pairs = [pair for table in self.WORDS.values() for pair in table.items()]
        self.assertEqual(len({own for own, _ in pairs}), len(pairs))
        self.assertEqual(len({other for _, other in pairs}), len(pairs))

    def test_every_word_is_read_back(self):
        synonyms = config.default_synonyms()
        most = max(map(len, self.WORDS.values()))
        for i in range(most):
            own, other = [], []
            for slot in grammar.SLOTS:
                pairs = list(self.WORDS[slot].items())
                own.append(pairs[i % len(pairs)][0])
                other.append(pairs[i % len(pairs)][1])
            key, code = tuple(own), "KX7-3QD"
            text = grammar.record(key, code)
            for question in (grammar.ask_record(key), grammar.ask_paraphrase(tuple(other))):
                answer = oracle.Oracle(text + " " + question, synonyms=synonyms).answer()
                self.assertEqual(answer.text, code, question)


class Table(unittest.TestCase):
    def test_every_row_is_complete(self):
        for name, row in faults.TABLE.items():
            with self.subTest(name):
                self.assertIn(row["kind"], ("dial", "fault", "benign"))
                self.assertLessEqual(set(row["findings"]), set(PLAN["groups"]["all"]))
                self.assertTrue(all(1 <= case <= 34 for case in row["cases"]))
                self.assertFalse(set(row["values"]) & set(faults.CONDITIONS))
                self.assertEqual(faults.parse(name).name, name)

    def test_every_fault_and_every_choice_is_tried(self):
        tests = "".join(path.read_text() for path in FOLDER.glob("*_test.py"))
        missing = [name for name in faults.TABLE if not re.search(rf'"{name}[":]', tests)]
        for name, row in faults.TABLE.items():
            for value in row["values"].values():
                missing += [f"{name} {choice}" for choice in value.get("choices", [])[1:]
                            if not re.search(rf'[="]{re.escape(choice)}[":]', tests)]
        self.assertEqual(missing, [])

    def test_every_case_that_names_a_fault_uses_it(self):
        for name, row in faults.TABLE.items():
            for number in row["cases"]:
                used = [text for case, run in RUNS if case["case"] == f"S{number:02}"
                        for text in run["server"]]
                self.assertTrue(any(text.split(":")[0] == name for text in used), (name, number))

    def test_every_fault_is_in_the_plan_or_a_plain_dial(self):
        used = {text.split(":")[0] for _, run in RUNS for text in run["server"]}
        self.assertEqual(set(faults.TABLE) - used, set())

    def test_listing_names_all(self):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.assertEqual(cli.main(["--list-faults"]), 0)
        for name in faults.TABLE:
            self.assertIn(f"\n{name}", "\n" + out.getvalue())


if __name__ == "__main__":
    unittest.main()
