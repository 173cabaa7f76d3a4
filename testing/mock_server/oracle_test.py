"""The oracle, its grammar, the tokenizer and the log-probabilities, without any HTTP."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from mock_server import grammar as g
from mock_server import lm
from mock_server.faults import Faults
from mock_server.oracle import NOTHING, Oracle, dress, garbage, sight
from mock_server.tokens import Tokenizer, pieces, text_of

KEY = ("ledger", "Oslo", "kettle", "Ada", "May")
NEAR = ("ledger", "Oslo", "kettle", "Ada", "June")
FAR = ("roll", "Turku", "lamp", "Bo", "July")
A, B, C = "KX7-3QD", "AB2-C3D", "M4M-5N6"


def says(*sentences: str, **more) -> str:
    return Oracle(" ".join(sentences), **more).answer().text


class Retrieval(unittest.TestCase):
    def test_record_is_found_among_distractors(self):
        self.assertEqual(says(g.record(NEAR, B), g.record(KEY, A), g.record(FAR, C),
                              g.ask_record(KEY)), A)

    def test_without_evidence_it_is_none(self):
        self.assertEqual(says(g.record(NEAR, B), g.ask_record(KEY)), "NONE")

    def test_half_a_sentence_is_no_evidence(self):
        self.assertEqual(says(g.record(KEY, A)[4:], g.ask_record(KEY)), "NONE")
        self.assertEqual(says(g.record(KEY, A)[:-3] + " Filler.", g.ask_record(KEY)), "NONE")

    def test_paraphrase_needs_the_synonyms(self):
        asked = g.ask_paraphrase(("book", "the capital", "pot", "the countess", "spring"))
        synonyms = {"book": "ledger", "the capital": "Oslo", "pot": "kettle",
                    "the countess": "Ada", "spring": "May"}
        self.assertEqual(says(g.record(KEY, A), asked, synonyms=synonyms), A)
        self.assertEqual(says(g.record(KEY, A), asked), "NONE")

    def test_roll_call_names_each_checkpoint(self):
        text = [g.checkpoint(1, A), g.checkpoint(3, C),
                "List the codes of checkpoints 1 to 3 in order."]
        self.assertEqual(says(*text), f"1: {A}\n2: NONE\n3: {C}")

    def test_last_question_counts_and_a_lost_one_is_noticed(self):
        question = "What is the code of checkpoint {}?"
        text = [question.format(1), g.checkpoint(1, A), g.checkpoint(2, B), question.format(2)]
        self.assertEqual(says(*text), B)
        self.assertEqual(says(*text[:-1]), A)
        self.assertEqual(says(*text[1:-1]), NOTHING)

    def test_second_family_of_needles(self):
        self.assertEqual(says("The code for the red kettle in Oslo is KX7-3QD.",
                              "What is the code for the red kettle in Oslo?"), A)

    def test_long_text_with_many_records_is_read_at_once(self):
        many = [g.record(("roll", "Turku", "lamp", "Bo", f"day {i}"), B) for i in range(4000)]
        self.assertEqual(says(*many, g.record(KEY, A), *many, g.ask_record(KEY)), A)


class Composition(unittest.TestCase):
    def test_join_of_parts_needs_all_in_order(self):
        keys = [KEY, FAR, NEAR]
        text = [g.record(NEAR, "QD", "part"), g.record(KEY, "KX", "part"),
                g.record(FAR, "73", "part")]
        self.assertEqual(says(*text, g.ask_keys("join", keys)), A)
        self.assertEqual(says(*text[:-1], g.ask_keys("join", keys)), "NONE")

    def test_sum_of_digits(self):
        text = [g.record(KEY, "7", "digit"), g.record(FAR, "8", "digit")]
        self.assertEqual(says(*text, g.ask_keys("sum", [KEY, FAR])), "5")

    def test_chain_in_any_order_and_broken(self):
        text = ["Variable C holds the same code as variable B.", f"Variable A holds code {A}.",
                "Variable B holds the same code as variable A.", f"Variable D holds code {B}."]
        self.assertEqual(says(*text, "Which code does variable C hold?"), A)
        self.assertEqual(says(text[0], text[1], "Which code does variable C hold?"), "NONE")
        self.assertEqual(says(*text, "Variable C holds the same code as which variable?"), "B")

    def test_chain_that_bites_its_tail_ends(self):
        self.assertEqual(says("Variable A holds the same code as variable A.",
                              "Which code does variable A hold?"), "NONE")

    def test_contradictions(self):
        asked = f"Do the records agree on the code of {g.key_text(KEY)}?"
        self.assertEqual(says(g.record(KEY, A), g.record(KEY, B), asked), f"CONFLICT {B} {A}")
        self.assertEqual(says(g.record(KEY, A), g.record(NEAR, B), asked), f"CONSISTENT {A}")
        self.assertEqual(says(g.record(KEY, A, date="2021-05-01"),
                              g.record(KEY, B, date="2020-05-01"), asked), f"CONSISTENT {A}")
        self.assertEqual(says(g.record(KEY, A), g.record(KEY, B),
                              f"The code {A} of {g.key_text(KEY)} was withdrawn.", asked),
                         f"CONSISTENT {B}")


class Ability(unittest.TestCase):
    def dials(self, text: str):
        return Faults([text]).all[0]

    def share(self, dial: str, depth=0.5, n_tokens=4096, n=300) -> float:
        dials, right = self.dials(dial), 0
        for i in range(n):
            code = "".join(g.ALPHABET[(i // 29**j) % 29] for j in range(3)) + "-222"
            text = "x " * int(5000 * depth) + g.record(KEY, code) + " y" * int(5000 * (1 - depth))
            text += " " + g.ask_record(KEY)
            sees = sight(dials, 1, n_tokens, len(text))
            right += Oracle(text, sees, dials).answer().text == code
        return right / n

    def test_skill_is_the_share_of_right_answers_at_any_place(self):
        for depth in (0.02, 0.5, 0.98):
            self.assertAlmostEqual(self.share("oracle:skill=0.6", depth), 0.6, delta=0.08)

    def test_middle_and_decay(self):
        self.assertGreater(self.share("oracle:middle=0.2", 0.02), 0.9)
        self.assertLess(self.share("oracle:middle=0.2", 0.5), 0.35)
        self.assertAlmostEqual(self.share("oracle:decay=4096", 0.5), 0.5, delta=0.1)
        self.assertGreater(self.share("oracle:decay=4096", 0.5, n_tokens=256), 0.85)

    def test_confused_by_similar_records_only(self):
        dials = self.dials("oracle:confuse=1")
        text = [g.record(KEY, A), g.ask_record(KEY)]
        self.assertEqual(says(g.record(NEAR, B), *text, dials=dials), B)
        self.assertEqual(says(g.record(FAR, B), *text, dials=dials), A)

    def test_compose_zero_breaks_chains_but_not_hops(self):
        text = ["Variable B holds the same code as variable A.", f"Variable A holds code {A}."]
        dials = self.dials("oracle:compose=0")
        self.assertNotEqual(says(*text, "Which code does variable B hold?", dials=dials), A)
        self.assertEqual(says(*text, "Which code does variable A hold?", dials=dials), A)

    def test_absent_evidence_is_invented_when_it_guesses(self):
        found = says(g.ask_record(KEY), dials=self.dials("oracle:absent=guess"))
        self.assertRegex(found, f"^{g.CODE}$")

    def test_unseen_evidence_is_answered_by_a_distractor_or_any_way(self):
        text = g.record(KEY, A) + g.record(FAR, B) + g.ask_record(KEY)
        def unseen(dial):
            return Oracle(text, lambda e: e.fields["code"] != A, self.dials(dial)).answer().text
        self.assertEqual(unseen("oracle:wrong=distractor"), B)
        self.assertEqual(unseen("oracle:wrong=none"), "NONE")
        self.assertNotEqual(unseen("oracle:wrong=guess"), A)
        manners = {Oracle(text, lambda e: e.fields["code"] != A, self.dials("oracle"), seed=i)
                   .answer().text in (B, "NONE") for i in range(20)}
        self.assertEqual(manners, {True, False})

    def test_wordings_hold_the_same_code(self):
        answer = Oracle(g.record(KEY, A) + g.ask_record(KEY)).answer()
        worded = {dress(answer, "varied", i) for i in range(40)}
        self.assertEqual(len(worded), 5)
        for text in worded | {dress(answer, "json"), dress(answer, "wordy")}:
            self.assertIn(A, text)

    def test_garbage_holds_no_right_code_but_a_dump_holds_all(self):
        text = g.record(KEY, A) + g.record(FAR, B) + g.ask_record(KEY)
        answer = Oracle(text).answer()
        for kind in ("gibberish", "repeat", "symbols", "wrong"):
            self.assertNotIn(A, garbage(kind, answer, text))
        self.assertEqual(garbage("dump", answer, text), f"{A} {B}")


class Tokens(unittest.TestCase):
    def test_counts_and_cuts_agree(self):
        for ratio in (1.0, 2.1, 3.2, 4.0, 5.5):
            tokenizer = Tokenizer(ratio)
            for n in (0, 1, 7, 64, 1000):
                data = bytes(range(256)) * 4
                parts = tokenizer.split(data[:n])
                self.assertEqual(len(parts), tokenizer.count(n))
                self.assertEqual(b"".join(parts), data[:n])
                self.assertTrue(all(parts))

    def test_pieces_join_to_the_text(self):
        text = "1: KX7-3QD\n2: NONE, déjà 的 \U0001f600  end"
        self.assertEqual("".join(pieces(text)), text)

    def test_halved_characters_are_marked(self):
        self.assertEqual(text_of("的".encode()[:2]), "\ufffd")


class LogProbabilities(unittest.TestCase):
    def first(self, text: str, far: str = "") -> dict:
        answer = Oracle(text).answer()
        return dict(lm.next_token(pieces(answer.text)[0], answer.candidates, text.encode(),
                                  far.encode(), {}))

    def test_they_are_a_distribution_and_repeat(self):
        text = g.record(KEY, A) + g.ask_record(KEY)
        values = self.first(text)
        self.assertAlmostEqual(sum(2.718281828 ** value for value in values.values()), 1, places=4)
        self.assertGreaterEqual(len(values), 20)
        self.assertEqual(values, self.first(text))

    def test_one_changed_sentence_moves_them_and_far_text_moves_them_less(self):
        def change(a: dict, b: dict) -> float:
            return max(abs(a[token] - b[token]) for token in a)
        question = g.ask_record(KEY)
        near = change(self.first("The mill stood. " + question),
                      self.first("The mall stood. " + question))
        far = change(self.first(question, "one"), self.first(question, "two"))
        self.assertGreater(near, 0.005)
        self.assertTrue(0 < far < near)

    def test_ranking_prefers_the_evidence_and_gains_nothing_without_it(self):
        stem = "The code for the red kettle in Oslo is"
        lamp = "The code for the lamp is 3. "
        seen, unseen = self.first(lamp + stem + " 7. " + stem), self.first(lamp + stem)
        self.assertEqual(max(seen, key=seen.get), " 7")
        self.assertGreater(seen[" 7"] - unseen[" 7"], 1)
        self.assertTrue(all(f" {digit}" in unseen for digit in range(10)))

    def test_bias_restricts_the_candidates(self):
        from mock_server.tokens import token_id
        values = lm.next_token("A", {" 7": 0.7}, b"t", b"", {token_id(b" 3"): 100.0})
        self.assertEqual(values[0][0], " 3")

    def test_prompt_scores_prefer_a_sentence_to_its_shuffle_and_copy(self):
        def score(text: str) -> float:
            return sum(v for v in lm.prompt_logprobs(text, list(range(0, len(text), 4))) if v)
        likely = "The cat sat on the mat in the garden."
        for shuffled in ("mat the in sat The on garden. cat the the",
                         "garden. the on The the sat cat mat the in",
                         "on mat the cat the. sat garden The in the"):
            self.assertGreater(score(likely) / len(likely), score(shuffled) / len(shuffled) + 0.1)
        token = "qz7f kx2m vv3p ww8d rr5t mm9z "
        values = lm.prompt_logprobs(token * 2, list(range(0, 2 * len(token), 4)))
        first, second = values[1:7], values[11:]
        self.assertLess(max(first), -2)
        self.assertEqual(second, [-0.05] * len(second))


if __name__ == "__main__":
    unittest.main()
