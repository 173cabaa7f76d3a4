"""The oracle: answers the last question of the text that reached it, from that text alone.

It is right exactly when the evidence survived and its dials let it see it. Every dial works on
single evidences, so that a join or a chain of weak hops is as weak as its hops make it.
"""
from dataclasses import dataclass, field

from . import grammar
from .faults import fraction
from .grammar import ALPHABET, Evidence, Question

NOTHING = "I have read the text. What would you like to know about it?"


@dataclass
class Answer:
    text: str
    kind: str  # the question's kind; "none" without one
    used: list[Evidence] = field(default_factory=list)  # what the right answer rests on
    candidates: dict[str, float] = field(default_factory=dict)  # first token, for ranking
    asked: int | None = None  # enumerate: the checkpoint to repeat at the end
    count: tuple[int, int] | None = None  # enumerate: from, to


def invent(*seed) -> str:
    """A code that stands nowhere."""
    symbols = [ALPHABET[int(fraction("invent", i, *seed) * len(ALPHABET))] for i in range(6)]
    return "".join(symbols[:3]) + "-" + "".join(symbols[3:])


class Oracle:
    def __init__(self, text: str, sees=lambda evidence: True, dials=None, synonyms=None, seed=0):
        self.text = text
        self.dials = dials
        self.synonyms = synonyms or {}
        self.seed = seed
        self.question = grammar.read_question(text)
        present = grammar.read_evidence(text)
        self.evidence = [evidence for evidence in present if sees(evidence)]
        self.blurred = [evidence for evidence in present if not sees(evidence)]

    def answer(self) -> Answer:
        if self.question is None:
            return Answer(NOTHING, "none")
        return getattr(self, self.question.kind)(self.question)

    # what is said when the evidence is not seen
    def missing(self, *about) -> str:
        """The evidence is in the text but was not seen (a weak model), or is not in the text."""
        weak = bool(self.blurred)
        manner = (self.dials.wrong if weak else self.dials.absent) if self.dials else "none"
        if manner == "mixed":
            manner = ("none", "guess", "distractor")[int(3 * fraction(self.seed, "mixed", *about))]
        codes = [e.fields["code"] for e in self.evidence if e.fields.get("code")]
        if manner == "distractor" and codes:
            return codes[int(fraction(self.seed, "distractor", *about) * len(codes))]
        return "NONE" if manner == "none" else invent(self.seed, *about)

    # one method a kind of question
    def roll_call(self, question: Question) -> Answer:
        found = {int(e.fields["index"]): e for e in self.evidence if e.kind == "checkpoint"}
        first, last = int(question.fields["first"]), int(question.fields["last"])
        wanted = range(first, min(last, first + 255) + 1)
        lines = [f"{i}: {found[i].fields['code'] if i in found else self.missing('roll', i)}"
                 for i in wanted]
        return Answer("\n".join(lines), "roll_call", [found[i] for i in wanted if i in found])

    def checkpoint(self, question: Question) -> Answer:
        index = int(question.fields["index"])
        found = [e for e in self.evidence if e.kind == "checkpoint"
                 and int(e.fields["index"]) == index]
        return self.one_code(found, "checkpoint", index)

    def one_code(self, found: list[Evidence], kind: str, *about) -> Answer:
        if not found:
            return Answer(self.missing(kind, *about), kind)
        return Answer(found[-1].fields["code"], kind, [found[-1]])

    def records(self, key: tuple, value: str = "code") -> list[Evidence]:
        return [e for e in self.evidence if e.kind == "record" and e.fields[value]
                and e.key() == key]

    def record(self, question: Question) -> Answer:
        key = question.key()
        found = self.records(key)
        confused = self.confused_with(key)
        if found and confused is not None:
            return Answer(confused.fields["code"], "record", [confused])
        return self.one_code(found, "record", key)

    def confused_with(self, key: tuple) -> Evidence | None:
        """A similar record taken for the asked one: `confuse` for each that shares four slots."""
        if not self.dials or not self.dials.confuse:
            return None
        for e in self.evidence:
            if e.kind != "record" or not e.fields["code"] or e.key() == key:
                continue
            same = sum(a == b for a, b in zip(e.key(), key))
            if fraction(self.seed, "confuse", e.key(), key) < self.dials.confuse * (same / 4) ** 2:
                return e
        return None

    def paraphrase(self, question: Question) -> Answer:
        key = tuple(self.synonyms.get(slot, slot) for slot in question.key())
        return self.one_code(self.records(key), "paraphrase", key)

    def plain(self, question: Question) -> Answer:
        found = [e for e in self.evidence if e.kind == "plain"
                 and e.fields["name"] == question.fields["name"]]
        if not found:
            return Answer(self.missing("plain", question.fields["name"]), "plain")
        return Answer(found[-1].fields["value"], "plain", [found[-1]])

    def stem(self, question: Question) -> Answer:
        """A continuation: the value of the same name, with the values of other names as rivals."""
        known = [e for e in self.evidence if e.kind == "plain"]
        gold = [e for e in known if e.fields["name"] == question.fields["name"]]
        rivals = {e.fields["value"] for e in known if e.fields["name"] != question.fields["name"]}
        lead = "" if self.text.endswith(" ") else " "
        candidates = {lead + value: 0.3 / len(rivals) for value in rivals}
        if gold:
            value = lead + gold[-1].fields["value"]
            candidates = {token: weight / 3 for token, weight in candidates.items()}
            candidates[value] = 0.75
            return Answer(value + ".", "stem", [gold[-1]], candidates)
        guess = max(candidates, key=candidates.get) if candidates else lead + "1"
        return Answer(guess + ".", "stem", [], candidates)

    def parts(self, question: Question, value: str) -> list[Evidence] | None:
        found = [self.records(key, value) for key in grammar.read_keys(question.fields["keys"])]
        if not found or not all(found) or self.lost_in_composition(len(found), question.fields):
            return None
        return [records[-1] for records in found]

    def lost_in_composition(self, n: int, *about) -> bool:
        """The composition gap: each step after the first succeeds with probability `compose`."""
        return bool(self.dials) and fraction(self.seed, "compose", str(about)) > \
            self.dials.compose ** (n - 1)

    def join(self, question: Question) -> Answer:
        found = self.parts(question, "part")
        if found is None:
            return Answer(self.missing("join", question.fields["keys"]), "join")
        symbols = "".join(e.fields["part"] for e in found)
        text = "-".join(symbols[i:i + 3] for i in range(0, len(symbols), 3))
        return Answer(text, "join", found)

    def sum(self, question: Question) -> Answer:
        found = self.parts(question, "digit")
        if found is None:
            guess = int(10 * fraction(self.seed, "sum", question.fields["keys"]))
            weak = self.blurred and self.dials and self.dials.wrong != "none"
            return Answer(str(guess) if weak else "NONE", "sum")
        return Answer(str(sum(int(e.fields["digit"]) for e in found) % 10), "sum", found)

    def chain(self, question: Question) -> Answer:
        used, name = [], question.fields["name"]
        for _ in range(64):
            step = next((e for e in reversed(self.evidence)
                         if e.kind in ("holds", "copies") and e.fields["name"] == name), None)
            if step is None or step in used:
                break
            used.append(step)
            if step.kind == "holds":
                if self.lost_in_composition(len(used), question.fields):
                    break
                return Answer(step.fields["code"], "chain", used)
            name = step.fields["source"]
        return Answer(self.missing("chain", question.fields["name"]), "chain")

    def hop(self, question: Question) -> Answer:
        found = [e for e in self.evidence if e.kind == "copies"
                 and e.fields["name"] == question.fields["name"]]
        return Answer(found[-1].fields["source"] if found else "NONE", "hop", found[-1:])

    def agree(self, question: Question) -> Answer:
        key = question.key()
        found = self.records(key)
        withdrawn = [e for e in self.evidence if e.kind == "withdrawn" and e.key() == key]
        gone = {e.fields["code"] for e in withdrawn}
        left = [e for e in found if e.fields["code"] not in gone]
        codes = sorted({e.fields["code"] for e in left})
        if self.lost_in_composition(len(found + withdrawn), question.fields):
            codes = codes[:1]
        if not codes:
            return Answer(self.missing("agree", key), "agree")
        if len(codes) > 1 and all(e.fields["date"] for e in left):
            codes = [max(left, key=lambda e: e.fields["date"]).fields["code"]]
        verdict = "CONSISTENT" if len(codes) == 1 else "CONFLICT"
        return Answer(" ".join([verdict] + codes), "agree", found + withdrawn)

    def enumerate(self, question: Question) -> Answer:
        first, last = int(question.fields["first"]), int(question.fields["last"])
        index = int(question.fields["index"])
        found = [e for e in self.evidence if e.kind == "checkpoint"
                 and int(e.fields["index"]) == index]
        return Answer(self.one_code(found, "enumerate", index).text, "enumerate", found[-1:],
                      asked=index, count=(first, min(last, first + 99999)))


def sight(dials, seed: int, n_tokens: int, n_chars: int):
    """Which evidence a model with these dials sees: by depth, by length, and by chance."""
    def sees(evidence: Evidence) -> bool:
        if dials is None:
            return True
        depth = evidence.start / max(1, n_chars)
        skill = dials.skill * (1 - (1 - dials.middle) * (1 - abs(2 * depth - 1)))
        if dials.decay:
            skill *= 0.5 ** (n_tokens / dials.decay)
        return fraction(seed, "sight", str(sorted(evidence.fields.items(), key=str)),
                        n_tokens // 256) < skill
    return sees


STYLES = ("{}", "The code is {}.", "**{}**", 'It carries code "{}", as filed.',
          "Looking at the records, I find that the answer you are looking for is {} .")


def dress(answer: Answer, style: str, *seed) -> str:
    """The same answer in other words: a scorer must not care."""
    if style == "plain" or answer.kind in ("none", "stem", "enumerate"):
        return answer.text
    if style == "varied":
        return STYLES[int(len(STYLES) * fraction("style", *seed))].format(answer.text)
    if style == "json":
        return '{"answer": "' + answer.text.replace("\n", ", ") + '"}'
    return f"After reading everything with care, I can say the following.\n\n{answer.text}\n\n" \
           "Please let me know whether there is anything else."  # wordy


def garbage(kind: str, answer: Answer, text: str, *seed) -> str:
    """What a model says whose positions are broken."""
    words = ("ilty", "ovenant", "的", "###", "}}", "aaaa", "Paragraph", "�", "esian", "0000")
    if kind == "repeat":
        return "the the the the the the the the the the the the"
    if kind == "symbols":
        return "!" * 40
    if kind == "dump":  # every code of the text, in text order
        codes = [e.fields["code"] for e in grammar.read_evidence(text) if e.fields.get("code")]
        return " ".join(codes[:40]) or "!" * 40
    if kind == "wrong":  # fluent, well formed, wrong
        lines = answer.text.count("\n") + 1
        return "\n".join(invent("garbage", i, *seed) for i in range(lines))
    return " ".join(words[int(len(words) * fraction("garbage", i, *seed))] for i in range(24))
