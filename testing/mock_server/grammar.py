"""The language between `gyre accept` and the mock: evidence, questions, and their patterns.

A client that writes these sentences can be answered by the oracle; anything else is filler to it.
Sentences may stand anywhere in running text, one or more on a line. A sentence that was cut in
two matches no pattern, so half an evidence is no evidence. README.md shows one of each.
"""
import re
from dataclasses import dataclass, field

ALPHABET = "23456789ABCDEFGHJKMNPQRSTWXYZ"  # 29 symbols: no 0/O, 1/I, L, U, V
CODE = rf"[{ALPHABET}]{{3}}-[{ALPHABET}]{{3}}"
SLOT = r"[^.,:;?()\n]{1,60}?"  # a slot's value; may not hold the words that frame it
WORD = r"[A-Z][A-Z0-9]{0,11}"  # a variable's name
DATE = r"\d{4}-\d\d-\d\d"
SLOTS = ("register", "place", "object", "person", "month")

# the O filed under N in M in the R of P; the same with no content word in common
KEY = (rf"the (?P<object>{SLOT}) filed under (?P<person>{SLOT}) in (?P<month>{SLOT})"
       rf" in the (?P<register>{SLOT}) of (?P<place>{SLOT})")
PARAPHRASE = (rf"the (?P<object>{SLOT}) that (?P<person>{SLOT}) lodged during (?P<month>{SLOT})"
              rf" with the (?P<register>{SLOT}) at (?P<place>{SLOT})")
RECORD = (rf"(?:On (?P<date>{DATE}) it was recorded that in|\bIn) the (?P<register>{SLOT})"
          rf" of (?P<place>{SLOT}), the (?P<object>{SLOT}) filed under (?P<person>{SLOT})"
          rf" in (?P<month>{SLOT}) carries "
          rf"(?:code (?P<code>{CODE})|part (?P<part>[{ALPHABET}]{{1,6}})|digit (?P<digit>\d))\.")

EVIDENCE = {
    "checkpoint": re.compile(rf"Checkpoint (?P<index>\d+): (?P<code>{CODE})\b"),
    "record": re.compile(RECORD),
    "withdrawn": re.compile(rf"The code (?P<code>{CODE}) of {KEY} was withdrawn\."),
    "plain": re.compile(rf"The code for (?P<name>{SLOT}) is (?P<value>{CODE}|\w{{1,12}})\."),
    "holds": re.compile(rf"Variable (?P<name>{WORD}) holds code (?P<code>{CODE})\."),
    "copies": re.compile(rf"Variable (?P<name>{WORD}) holds the same code as variable"
                         rf" (?P<source>{WORD})\."),
}

QUESTIONS = {
    "roll_call": re.compile(r"List the codes of checkpoints (?P<first>\d+) to (?P<last>\d+)"
                            r" in order\."),
    "checkpoint": re.compile(r"What is the code of checkpoint (?P<index>\d+)\?"),
    "record": re.compile(rf"What code does {KEY} carry\?"),
    "paraphrase": re.compile(rf"Which identifier belongs to {PARAPHRASE}\?"),
    "plain": re.compile(rf"What is the code for (?P<name>{SLOT})\?"),
    "join": re.compile(r"Which code do these parts give in this order: (?P<keys>[^?]{1,2000})\?"),
    "sum": re.compile(r"What is the last digit of the sum of the digits carried by these:"
                      r" (?P<keys>[^?]{1,2000})\?"),
    "chain": re.compile(rf"Which code does variable (?P<name>{WORD}) hold\?"),
    "hop": re.compile(rf"Variable (?P<name>{WORD}) holds the same code as which variable\?"),
    "agree": re.compile(rf"Do the records agree on the code of {KEY}\?"),
    "enumerate": re.compile(r"Count from (?P<first>\d+) to (?P<last>\d+), one number on each line,"
                            r" then repeat the code of checkpoint (?P<index>\d+)\."),
}
# A continuation for base models: the text ends in "The code for NAME is", and nothing follows.
STEM = re.compile(rf"The code for (?P<name>{SLOT}) is ?$")
KEY_ITEM = re.compile(rf"^\s*{KEY}\s*$")


@dataclass(frozen=True)
class Evidence:
    kind: str
    start: int  # character offsets in the text that was read
    end: int
    fields: dict = field(hash=False)

    def key(self) -> tuple:
        return tuple(self.fields[slot] for slot in SLOTS)


@dataclass(frozen=True)
class Question:
    kind: str
    start: int
    fields: dict = field(hash=False)

    def key(self) -> tuple:
        return tuple(self.fields[slot] for slot in SLOTS)


def read_evidence(text: str) -> list[Evidence]:
    """Every whole evidence sentence of the text, in order."""
    found = [Evidence(kind, match.start(), match.end(), match.groupdict())
             for kind, pattern in EVIDENCE.items() for match in pattern.finditer(text)]
    return sorted(found, key=lambda evidence: evidence.start)


def read_question(text: str) -> Question | None:
    """The last whole question of the text, or its unfinished last sentence; None without both."""
    stem = STEM.search(text[-200:])
    if stem:
        return Question("stem", len(text) - len(stem.group(0)), stem.groupdict())
    found = [Question(kind, match.start(), match.groupdict())
             for kind, pattern in QUESTIONS.items() for match in pattern.finditer(text)]
    return max(found, key=lambda question: question.start, default=None)


def read_keys(listed: str) -> list[tuple]:
    """The keys of a join or sum question, separated by semicolons."""
    items = [KEY_ITEM.match(item) for item in listed.split(";")]
    return [tuple(item.group(slot) for slot in SLOTS) for item in items if item]


# The same sentences from their parts; the tests write with these, the client has its own.
def key_text(key: tuple) -> str:
    register, place, thing, person, month = key
    return f"the {thing} filed under {person} in {month} in the {register} of {place}"


def record(key: tuple, value: str, kind: str = "code", date: str | None = None) -> str:
    register, place, thing, person, month = key
    opening = f"On {date} it was recorded that in" if date else "In"
    return (f"{opening} the {register} of {place}, the {thing} filed under {person} in {month}"
            f" carries {kind} {value}.")


def checkpoint(index: int, code: str) -> str:
    return f"Checkpoint {index}: {code}."


def ask_record(key: tuple) -> str:
    return f"What code does {key_text(key)} carry?"


def ask_paraphrase(key: tuple) -> str:
    register, place, thing, person, month = key
    return (f"Which identifier belongs to the {thing} that {person} lodged during {month}"
            f" with the {register} at {place}?")


def ask_keys(kind: str, keys: list[tuple]) -> str:
    opening = {"join": "Which code do these parts give in this order: ",
               "sum": "What is the last digit of the sum of the digits carried by these: "}[kind]
    return opening + "; ".join(map(key_text, keys)) + "?"
