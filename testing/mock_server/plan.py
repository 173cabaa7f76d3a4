"""Reads cases.json, the plan of end-to-end runs. README.md says what its fields mean."""
import json
import pathlib

FILE = pathlib.Path(__file__).parent / "cases.json"


def read_plan() -> list[dict]:
    return json.loads(FILE.read_text())["cases"]


def read_groups() -> dict[str, list[str]]:
    return json.loads(FILE.read_text())["groups"]
