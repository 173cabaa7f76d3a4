"""Compares gyre's tokenizers with the libraries that models are published for.

    python testing/peers/tokenizer_parity.py --test build/release/model_test PATH...

Each PATH is a tokenizer.json (peer: the PyPI package `tokenizers`) or a .gguf (peer: llama.cpp in
the npm package `node-llama-cpp`; --node FOLDER is where it is installed). Random strings go to the
peer; strings and ids are written as JSON, and the test TokenizerPeer of model_test encodes them
again. Exit 1 when an id differs. Not part of the default tests: it needs the peers.

--write FILE keeps the JSON: so the small cases beside the tests were made (make_small_tokenizers.py).
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unicodedata

WORDS = """the of and to in that is was he for it with as his on be at by I this had not are but from or
have an they which one you were her all she there would their we him been has when who will more no if
out so said what up its about into than them can only other new some could time these two may then do
first any my now such like our over man me even most made after also did many before must through back
years where much your way well down should because each just those people Mr how too little state good
very make world still own see men work long get here between both life being under never day same
another know while last might us great old year off come since against go came right used take three
internationalization electroencephalographically antidisestablishmentarianism""".split()
TAILS = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'LL", "'Ve", "\u2019s", "'\u017f", "n't", "'", "''"]
SPACES = [" ", "  ", "   ", "\t", "\n", "\r\n", "\n\n", "\r", "\x0b", "\x0c", "\x85", "\xa0", "\u1680", "\u180e",
          "\u2000", "\u2009", "\u200b", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000", "\ufeff"]
EMOJI = ["😀", "👍🏽", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "🇺🇸🇫🇷", "❤️", "☺︎", "1️⃣", "🧑🏿‍🚀", "🫠", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "👩‍❤️‍💋‍👨", "☃", "✨✨✨"]
CODE = ["def f(x):\n    return x ** 2\n", "for (int i=0;i<n;++i) {\n\ta[i] += b->c[i];\n}\n", "<div class=\"a b\">&nbsp;</div>",
        "SELECT * FROM t WHERE id='x';", "std::vector<std::pair<int,int>> v{{1,2}};", "https://example.org/a_b?c=%20d#e",
        "x_1=3.14e-10;", "/* c */ // d", "#!/bin/sh\nset -e\n", "\\frac{a}{b}^{2}_i", "a@b.com", "$x += 1", "camelCaseHTTPRequest",
        "0xDEADBEEF", "==>", "!=", "&&", "----", "====", "```python\n```", "|a|b|\n|-|-|\n"]
TEXTS = ["Größe", "naïve café", "Ελληνικά κείμενο", "Русский текст", "עברית", "العربية نص", "हिन्दी पाठ", "বাংলা", "தமிழ்", "ไทยภาษา",
         "ქართული", "አማርኛ", "中文文本。", "日本語テキスト", "한국어 텍스트", "ខ្មែរ", "ພາສາລາວ", "བོད་ཡིག", "မြန်မာ", "Ngữ Việt", "ﬁ ligature ﬀ", "ǅ Ǆ ǆ",
         "Ⅷ ½ ² ٣ ३ ௧ 〇 ㊿ ௰", "𝒜𝓁𝓅𝒽𝒶 𝟙𝟚𝟛", "ᚠᛇᚻ", "𐎀𐎁", "𓀀𓁐", "İstanbul ıI", "ß ẞ ſ", "Å Å Å", "각 각", "é é ḍ̇ ḍ̇", "क़ क़"]
BROKEN = [b"\xff", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\x80", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf5\x80", b"\xe2\x28\xa1", b"\xf4\x90\x80\x80", b"\xf0\x80\x80\x80"]


def assigned(rng):
    """A random assigned code point, blocks drawn evenly enough that small scripts occur."""
    while True:
        block = rng.choice([(0x20, 0x7f), (0x80, 0x250), (0x250, 0x600), (0x600, 0x1000), (0x1000, 0x2000), (0x2000, 0x2c00),
                            (0x2c00, 0x3100), (0x3100, 0xa000), (0xa000, 0xd800), (0xe000, 0x10000), (0x10000, 0x11000),
                            (0x11000, 0x12000), (0x12000, 0x17000), (0x1b000, 0x1f000), (0x1f000, 0x20000), (0x20000, 0x31350)])
        c = chr(rng.randrange(*block))
        if unicodedata.category(c) not in ("Cn", "Cs"):
            return c


def fragment(rng, specials):
    kind = rng.randrange(16)
    if kind <= 2:
        words = [rng.choice(WORDS) + (rng.choice(TAILS) if rng.random() < 0.2 else "") for _ in range(rng.randint(1, 12))]
        words = [rng.choice([str.lower, str.upper, str.title, str])(w) if rng.random() < 0.3 else w for w in words]
        return " ".join(words) + rng.choice(["", ".", ",", "!", "?", "...", ";", ": ", ")", "\""])
    if kind == 3:
        return rng.choice(["", "-", "$", "+"]) + "".join(rng.choice("0123456789") for _ in range(rng.randint(1, 20))) + rng.choice(["", ".5", "%", "th", ",000"])
    if kind == 4:
        return "".join(rng.choice(SPACES) for _ in range(rng.randint(1, 6)))
    if kind == 5:
        return rng.choice(SPACES) * rng.randint(1, 80)
    if kind == 6:
        return "".join(rng.choice(EMOJI) for _ in range(rng.randint(1, 4)))
    if kind == 7:
        return rng.choice(CODE)
    if kind == 8:
        text = rng.choice(TEXTS)
        return unicodedata.normalize(rng.choice(["NFC", "NFD", "NFKC", "NFKD"]), text) if rng.random() < 0.5 else text
    if kind == 9:
        return "".join(assigned(rng) for _ in range(rng.randint(1, 12)))
    if kind == 10:
        c = assigned(rng)
        low = ord(c) & ~0x3f
        near = [chr(x) for x in range(low, low + 64) if not 0xd800 <= x < 0xe000 and unicodedata.category(chr(x)) != "Cn"]
        return "".join(rng.choice(near) for _ in range(rng.randint(1, 16)))
    if kind == 11:
        return rng.choice(["e", "a", "क", "각"[0], "q"]) + "".join(chr(rng.randrange(0x300, 0x370)) for _ in range(rng.randint(1, 4)))
    if kind == 12:
        return rng.choice("aA1.,- _=#*\n\t'") * rng.randint(2, 120)
    if kind == 13:
        return "".join(chr(rng.randrange(1, 0x80)) for _ in range(rng.randint(1, 16)))
    if kind == 14 and specials:
        token = rng.choice(specials)
        token = token[:rng.randint(1, len(token))] if rng.random() < 0.15 else token
        return rng.choice(["", " ", "\n", "  ", "x"]) + token + rng.choice(["", " ", "\n", "  ", "\u3000", "y"])
    return rng.choice(BROKEN)


def strings(count, seed, specials):
    """`count` byte strings; the same for the same arguments."""
    rng = random.Random(seed)
    made = [b"", b" ", b"\n", b"a", b"  a  ", b"Hello world", b" Hello", b"\x00", "\u2581".encode(), "a\u2581b".encode()]
    while len(made) < count:
        parts = [fragment(rng, specials) for _ in range(rng.randint(1, 7))]
        if rng.random() < 0.5:  # parts with a space between, or touching
            parts = [p for part in parts for p in (part, " ")][:-1]
        made.append(b"".join(p if isinstance(p, bytes) else p.encode() for p in parts))
    return made[:count]


def case(raw):
    text = raw.decode("utf-8", "replace")
    return {"text": text} if text.encode() == raw else {"hex": raw.hex()}


def peer_json(path, count, seed):
    import tokenizers
    peer = tokenizers.Tokenizer.from_file(str(path))
    source = json.loads(path.read_text())
    cases = []
    for raw in strings(count, seed, [t["content"] for t in source["added_tokens"]]):
        text = raw.decode("utf-8", "replace")
        peer.encode_special_tokens = False
        ids = peer.encode(text, add_special_tokens=False).ids
        peer.encode_special_tokens = True
        one = {**case(raw), "ids": ids, "plain": peer.encode(text, add_special_tokens=False).ids}
        decoded = peer.decode(ids, skip_special_tokens=False)
        if "\ufffd" not in decoded:  # the peer cannot give back bytes that are no UTF-8
            one["decoded"] = decoded
        cases.append(one)
    return {"peer": f"tokenizers {tokenizers.__version__}", "cases": cases}


NODE = """
import {getLlama} from 'node-llama-cpp';
import fs from 'fs';
const [input, output, path] = process.argv.slice(2);
const llama = await getLlama({gpu: false, logLevel: 'error'});
const model = await llama.loadModel({modelPath: path, vocabOnly: true});
const texts = JSON.parse(fs.readFileSync(input));
fs.writeFileSync(output, JSON.stringify(texts.map(text => [Array.from(model.tokenize(text, true)), Array.from(model.tokenize(text, false))])));
"""


def gguf_specials(path, test):
    """Texts of control and user-defined tokens, by the PyPI package `gguf`."""
    import gguf
    fields = gguf.GGUFReader(str(path)).fields
    types = fields["tokenizer.ggml.token_type"].contents()
    tokens = fields["tokenizer.ggml.tokens"].contents()
    return [t for t, kind in zip(tokens, types) if kind in (3, 4)]


def peer_gguf(path, count, seed, node, test):
    made = strings(count, seed, gguf_specials(path, test))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "in.json").write_text(json.dumps([raw.decode("utf-8", "replace") for raw in made]))
        script = pathlib.Path(node) / f"tokenize-{os.getpid()}.mjs"  # there, so that its import is found
        script.write_text(NODE)
        try:
            subprocess.run(["node", script, folder / "in.json", folder / "out.json", path.resolve()], check=True)
        finally:
            script.unlink()
        answers = json.loads((folder / "out.json").read_text())
    return {"peer": "llama.cpp of node-llama-cpp",
            "cases": [{**case(raw), "ids": ids, "plain": plain} for raw, (ids, plain) in zip(made, answers)]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    parser.add_argument("--test", type=pathlib.Path, help="the built test program model_test")
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--node", default=".", help="folder in which node-llama-cpp is installed")
    parser.add_argument("--write", type=pathlib.Path, help="keep the peer's answers in this file")
    arguments = parser.parse_args()
    failed = False
    for path in arguments.paths:
        if path.suffix == ".gguf":
            answers = peer_gguf(path, arguments.count, arguments.seed, arguments.node, arguments.test)
        else:
            answers = peer_json(path, arguments.count, arguments.seed)
        with tempfile.TemporaryDirectory() as folder:
            file = arguments.write or pathlib.Path(folder) / "peer.json"
            file.write_text(json.dumps({"tokenizer": str(path.resolve()), **answers}, ensure_ascii=True))
            if arguments.test:
                done = subprocess.run([arguments.test, "--gtest_filter=TokenizerPeer.*", "--gtest_brief=1"],
                                      env={**os.environ, "GYRE_TOKENIZER_PEER": str(file)})
                failed |= done.returncode != 0
                print(f"{path}: {len(answers['cases'])} strings, {'DIFFERENT' if done.returncode else 'equal'} "
                      f"({answers['peer']})", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
