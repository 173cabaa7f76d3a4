"""What one server is: its options with their defaults, and where its faults hang."""
import json
import pathlib
from dataclasses import dataclass, field

from .errors import DIALECTS
from .faults import Faults
from .tokens import Tokenizer


@dataclass
class Config:
    faults: Faults = field(default_factory=Faults)
    window: int | None = 131072  # tokens that really fit; None = no limit
    dialect: str = "llamacpp"  # endpoints, errors and shapes of that server
    model: str = "mock"
    claim: str = ""  # the field of /v1/models that holds the window; empty = the dialect's
    bytes_per_token: float = 4.0
    bos: int = 1  # tokens before the text
    seed: int = 1
    key: str = ""  # wanted as Authorization: Bearer KEY; empty = any or none
    # word of a paraphrase -> word of the record
    synonyms: dict = field(default_factory=lambda: default_synonyms())
    tls: tuple = ()  # files of the certificate and its key; empty = plain HTTP
    away_port: int = 0  # the second listener of the redirect fault

    def __post_init__(self):
        if self.dialect not in DIALECTS:
            raise ValueError(f"there is no dialect '{self.dialect}';"
                             f" known are {', '.join(DIALECTS)}")
        self.tokenizer = Tokenizer(self.bytes_per_token)

    def dials(self, ask):
        """How able the model is; None = perfectly."""
        return self.faults.find("oracle", ask)


def read_synonyms(path) -> dict:
    """From the paraphrase's word to the record's; words.json shows the form, one table a slot."""
    tables = json.loads(pathlib.Path(path).read_text())
    return {other: own for slot, table in tables.items() if slot != "schema"
            for own, words in table.items()
            for other in (words if isinstance(words, list) else [words])}


def default_synonyms() -> dict:
    return read_synonyms(pathlib.Path(__file__).parent / "words.json")
