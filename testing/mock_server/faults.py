"""Reads faults.json, the one list of faults, and `--fault NAME[:key=value...]`.

Every fault also takes conditions, the same for all: min, max (tokens of the prompt as sent), on
(chat or completions), stream (0 or 1), share (of prompts, the same ones each time), chance (of
attempts), first (only the first N requests), every (each Nth), roles (at least N messages).
"""
import hashlib
import json
import pathlib
from dataclasses import dataclass, field

TABLE = json.loads((pathlib.Path(__file__).parent / "faults.json").read_text())["faults"]
CONDITIONS = {"min": 0, "max": 1 << 40, "on": "", "stream": -1, "share": 1.0, "chance": 1.0,
              "first": 0, "every": 0, "roles": 0}


def fraction(*parts) -> float:
    """A number in [0, 1) that depends on nothing but the parts."""
    digest = hashlib.blake2b(repr(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


@dataclass
class Fault:
    name: str
    values: dict = field(default_factory=dict)

    def __getattr__(self, key: str):
        values = self.__dict__.get("values", {})
        if key in values:
            return values[key]
        raise AttributeError(f"fault {self.__dict__.get('name')} has no value '{key}'")

    def applies(self, ask) -> bool:
        """ask: an object with n_sent, endpoint, stream, prompt_hash, serial, n_messages."""
        v = self.values
        return (v["min"] <= ask.n_sent <= v["max"]
                and v["on"] in ("", ask.endpoint)
                and v["stream"] in (-1, int(ask.stream))
                and (not v["first"] or ask.serial <= v["first"])
                and (not v["every"] or ask.serial % v["every"] == 0)
                and ask.n_messages >= v["roles"]
                and (v["share"] >= 1 or fraction("share", self.name, ask.prompt_hash) < v["share"])
                and (v["chance"] >= 1 or fraction("chance", self.name, ask.serial) < v["chance"]))


def convert(name: str, key: str, text: str, default):
    if isinstance(default, str):
        return text
    try:
        return type(default)(float(text)) if isinstance(default, int) else float(text)
    except ValueError:
        raise ValueError(f"fault {name}: '{key}' must be a number, got '{text}'") from None


def parse(text: str) -> Fault:
    name, *pairs = text.split(":")
    if name not in TABLE:
        raise ValueError(f"there is no fault '{name}'; see --list-faults")
    defaults = {key: value["default"] for key, value in TABLE[name]["values"].items()}
    fault = Fault(name, {**CONDITIONS, **defaults})
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or key not in fault.values:
            raise ValueError(f"fault {name}: cannot read '{pair}'; its values are "
                             f"{', '.join(defaults) or 'none'}, and conditions")
        choices = TABLE[name]["values"].get(key, {}).get("choices")
        if choices and value not in choices:
            raise ValueError(f"fault {name}: '{key}' must be one of {', '.join(choices)},"
                             f" got '{value}'")
        fault.values[key] = convert(name, key, value, fault.values[key])
    return fault


class Faults:
    """The faults of one server; ask with a request, and only those that apply to it answer."""

    def __init__(self, texts: list[str] = ()):
        self.all = [parse(text) for text in texts]

    def find(self, name: str, ask) -> Fault | None:
        return next((f for f in self.all if f.name == name and f.applies(ask)), None)

    def has(self, name: str, ask) -> bool:
        return self.find(name, ask) is not None

    def always(self, name: str) -> Fault | None:
        """A fault of the server as a whole, such as what it advertises."""
        return next((f for f in self.all if f.name == name), None)


def listing() -> str:
    lines = []
    for name, row in TABLE.items():
        values = ":".join(f"{key}={value['default']}" for key, value in row["values"].items())
        cases = ",".join(f"S{case:02}" for case in row["cases"]) or "-"
        lines.append(f"{name}{':' + values if values else ''}\n    {row['does']}\n"
                     f"    cases {cases}; findings {' '.join(row['findings']) or 'none'}")
        lines += [f"    {key}: {', '.join(value['choices'])}"
                  for key, value in row["values"].items() if "choices" in value]
    return "\n".join(lines)
