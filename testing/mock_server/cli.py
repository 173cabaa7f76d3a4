"""python3 testing/mock_server: prints `listening 127.0.0.1:PORT`, then serves until killed."""
import argparse
import pathlib
import sys

from . import faults
from .config import Config, read_synonyms
from .errors import DIALECTS
from .server import MockServer


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="mock_server", description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=0, help="0 = any free port")
    parser.add_argument("--dialect", default="llamacpp", choices=DIALECTS,
                        help="whose endpoints, errors and shapes [llamacpp]")
    parser.add_argument("--window", type=int, default=131072,
                        help="tokens that really fit, 0 = no limit [131072]")
    parser.add_argument("--model", default="mock")
    parser.add_argument("--claim", default="", metavar="FIELD", help="field of /v1/models that "
                        "holds the window: max_model_len, context_length, ... [the dialect's]")
    parser.add_argument("--bytes-per-token", type=float, default=4.0)
    parser.add_argument("--bos", type=int, default=1, help="tokens before the text [1]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--key", default="", help="wanted as Authorization: Bearer KEY")
    parser.add_argument("--synonyms", default=pathlib.Path(__file__).parent / "words.json",
                        metavar="FILE", help="words of records and of paraphrases [words.json]")
    parser.add_argument("--tls", nargs=2, metavar=("CERT", "KEY"), help="PEM files")
    parser.add_argument("--fault", action="append", default=[], metavar="NAME[:key=value...]",
                        help="may be repeated; see --list-faults")
    parser.add_argument("--list-faults", action="store_true")
    return parser.parse_args(arguments)


def config_of(options: argparse.Namespace) -> Config:
    return Config(faults.Faults(options.fault), options.window or None, options.dialect,
                  options.model, options.claim, options.bytes_per_token, options.bos, options.seed,
                  options.key, read_synonyms(options.synonyms),
                  tuple(options.tls or ()))


def config_from(arguments: list[str]) -> Config:
    """For servers that are asked for over HTTP: bad options are a ValueError, no exit."""
    try:
        return config_of(parse(arguments))
    except SystemExit:
        raise ValueError(f"cannot read the options {arguments}") from None


def main(arguments: list[str] | None = None) -> int:
    options = parse(sys.argv[1:] if arguments is None else arguments)
    if options.list_faults:
        print(faults.listing())
        return 0
    try:
        server = MockServer(config_of(options), options.port)
    except (ValueError, OSError) as error:
        print(f"mock_server: {error}", file=sys.stderr)
        return 2
    server.make = config_from
    with server:
        print(f"listening 127.0.0.1:{server.port}", flush=True)
        try:
            while not server.died.wait(0.2):
                pass
        except KeyboardInterrupt:
            pass
    return 0
