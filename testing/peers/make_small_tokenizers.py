"""Makes src/gyre/model/tokenizer/testdata: a small tokenizer.json in the configuration of each model
family, and what the PyPI package `tokenizers` answers on hard strings.

    python testing/peers/make_small_tokenizers.py FOLDER

Run once with tokenizers 0.23.3; the files are kept so that tests need no peer. They are trained on
the words and texts of tokenizer_parity.py, so no one else's text is in them.
"""
import json
import pathlib
import random
import sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

import tokenizer_parity as parity

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace("{1,3}", "")
TEKKEN = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
          r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
          r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
SPACE = "\u2581"
BYTES = [f"<0x{b:02X}>" for b in range(256)]
N_CASES = 80


def corpus():
    rng = random.Random(3)
    return ["".join(p for p in (parity.fragment(rng, []) for _ in range(6)) if isinstance(p, str)) for _ in range(600)]


def split(pattern, behavior="isolated", invert=False):
    return pre_tokenizers.Split(Regex(pattern), behavior, invert)


def byte_level(pre, size=520, normalizer=None, **model):
    t = Tokenizer(models.BPE(**model))
    if normalizer:
        t.normalizer = normalizer
    t.pre_tokenizer = pre
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(corpus(), trainers.BpeTrainer(
        vocab_size=size, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return t


def raw_byte_level():
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)


def characters(normalizer, pre=None, strip=0, fallback=True, **model):
    t = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=fallback, **model))
    t.normalizer = normalizer
    if pre:
        t.pre_tokenizer = pre
    chain = [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse()]
    t.decoder = decoders.Sequence(chain + ([decoders.Strip(" ", strip, 0)] if strip else []))
    special = ["<unk>", "<s>", "</s>"] + (BYTES if fallback else [])
    t.train_from_iterator(
        [part for text in corpus() for part in text.replace(" ", " " + SPACE).split(" ")],
        trainers.BpeTrainer(vocab_size=len(special) + 330, limit_alphabet=120, show_progress=False, special_tokens=special))
    # The trainer marks its special tokens as added ones; in model files byte tokens are plain.
    source = json.loads(t.to_str())
    source["added_tokens"] = source["added_tokens"][:3]
    return Tokenizer.from_str(json.dumps(source))


def template(t, before=None, after=None):
    pieces = ([before] if before else []) + ["$A"] + ([after] if after else [])
    t.post_processor = processors.TemplateProcessing(
        single=" ".join(pieces), special_tokens=[(x, t.token_to_id(x)) for x in (before, after) if x])
    return t


def add(t, special=(), plain=()):
    t.add_special_tokens(list(special))
    t.add_tokens(list(plain))
    return t


def families():
    sequence = pre_tokenizers.Sequence
    yield "llama3", template(add(byte_level(sequence([split(LLAMA3), raw_byte_level()]), ignore_merges=True),
                                 ["<|begin_of_text|>", "<|eot_id|>"]), "<|begin_of_text|>")
    yield "qwen2", add(byte_level(sequence([split(QWEN2), raw_byte_level()]), normalizer=normalizers.NFC()),
                       ["<|endoftext|>", "<|im_start|>", "<|im_end|>"], [AddedToken("<tool_call>", normalized=False)])
    yield "tekken", add(byte_level(sequence([split(TEKKEN, "removed", True), raw_byte_level()])), ["[INST]"])
    yield "gpt2", add(byte_level(pre_tokenizers.ByteLevel(add_prefix_space=True)), ["<|endoftext|>"])
    yield "smollm", add(byte_level(sequence([pre_tokenizers.Digits(individual_digits=True),
                                             pre_tokenizers.ByteLevel(add_prefix_space=False)])),
                        ["<|im_start|>", "<|im_end|>"])
    yield "gemma", template(add(characters(normalizers.Replace(" ", SPACE), fuse_unk=True,
                                           pre=pre_tokenizers.Split(" ", "merged_with_previous")),
                                ["<bos>"], [AddedToken("\n\n", normalized=False), AddedToken("\n\n\n", normalized=False),
                                            AddedToken(SPACE * 2, normalized=False), AddedToken(SPACE * 4, normalized=False)]),
                            "<bos>")
    yield "llama2", template(characters(normalizers.Sequence([normalizers.Prepend(SPACE), normalizers.Replace(" ", SPACE)]),
                                        strip=1, fuse_unk=True), "<s>", "</s>")
    yield "phi3", add(characters(normalizers.Sequence([normalizers.Prepend(SPACE), normalizers.Replace(" ", SPACE)]), strip=1,
                                 fuse_unk=True),
                      [AddedToken("<|user|>", rstrip=True), AddedToken("<|end|>", rstrip=True)],
                      [AddedToken("<|left|>", lstrip=True), AddedToken("word", single_word=True)])
    metaspace = characters(normalizers.Sequence([]), pre_tokenizers.Metaspace(prepend_scheme="first"), fuse_unk=False, fallback=False)
    metaspace.decoder = decoders.Metaspace(prepend_scheme="first")
    yield "metaspace", add(metaspace, ["[INST]"])
    odd = characters(normalizers.Sequence([normalizers.Strip(), normalizers.NFKD(), normalizers.Replace(Regex(r"\s+"), SPACE)]),
                     sequence([split(r"\p{P}+", "merged_with_next"), split(r"\p{N}", "contiguous"),
                               pre_tokenizers.Digits(), split("[aeiou]", "removed")]), fallback=False, fuse_unk=True)
    yield "odd", add(odd, ["<|x|>"], [AddedToken("ﬁ", normalized=True), AddedToken(" the", normalized=True)])


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, t in families():
        path = folder / f"{name}.json"
        # One line per section, not per token: the files are data, not to be read by eye.
        path.write_text(json.dumps(json.loads(t.to_str()), ensure_ascii=True, separators=(",", ":")) + "\n")
        answers = parity.peer_json(path, N_CASES, 11)
        lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in answers["cases"])
        (folder / f"{name}.cases.json").write_text(f'{{"peer":"{answers["peer"]}","cases":[\n{lines}\n]}}\n')
        print(name, t.get_vocab_size(), path.stat().st_size)


if __name__ == "__main__":
    main()
