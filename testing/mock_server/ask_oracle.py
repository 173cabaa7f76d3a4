"""Answers prompts without any server: the C++ tests of gyre's prompts ask the oracle through this.

Reads JSON lines {"api": "chat", "messages": [["user", "..."]], "style": "plain"} from stdin and
writes the answers, one JSON string a line.
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from mock_server.ask import render
from mock_server.config import default_synonyms
from mock_server.oracle import Oracle, dress

TAIL = "<|im_end|>\n<|im_start|>assistant\n"


def answer(line: str, synonyms: dict) -> str:
    asked = json.loads(line)
    text = render(asked["api"], asked["messages"]).decode().removesuffix(TAIL)
    return dress(Oracle(text, synonyms=synonyms).answer(), asked["style"], text)


if __name__ == "__main__":
    known = default_synonyms()
    for asked_line in sys.stdin:
        print(json.dumps(answer(asked_line, known)))
