// GGUF vocabularies. Byte-level ones: the ids of the tokenizer.json they are made from. Those with
// scores: a slow twin of SentencePiece's search, over strings. Both give llama.cpp's ids on random
// strings (testing/peers/tokenizer_parity.py).
#include "gyre/model/tokenizer/gguf_vocab.h"

#include <map>

#include "gyre/base/rng.h"
#include "gyre/model/tokenizer/gguf_pre.h"
#include "gyre/model/tokenizer/tokenizer_testing.h"
#include "gyre/tensor/gguf_testing.h"

namespace gyre::model {
namespace {

using tensor::GgufBuilder;
using tensor::GgufType;

std::string floats(const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) {
    bytes += tensor::raw_bytes(value);
  }
  return bytes;
}

std::string int32s(const std::vector<int32_t>& values) {
  std::string bytes;
  for (const int32_t value : values) {
    bytes += tensor::raw_bytes(value);
  }
  return bytes;
}

/// The vocabulary of a tokenizer.json as a converter writes it.
GgufBuilder byte_level_gguf(const std::string& name, const std::string& pre) {
  const TestJson json = read_test_json(name + ".json");
  std::vector<std::string> tokens(json.at("model").at("vocab").size());
  for (const auto& [token, id] : json.at("model").at("vocab").items()) {
    tokens[id.get<size_t>()] = token;
  }
  std::vector<int32_t> types(tokens.size(), GgufVocab::Normal);
  for (const TestJson& each : json.at("added_tokens")) {
    tokens.push_back(each.at("content"));
    types.push_back(each.at("special").get<bool>() ? GgufVocab::Control : GgufVocab::UserDefined);
  }
  std::vector<std::string> merges;
  for (const TestJson& merge : json.at("model").at("merges")) {
    merges.push_back(merge[0].get<std::string>() + " " + merge[1].get<std::string>());
  }
  GgufBuilder file;
  file.text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", pre);
  file.texts("tokenizer.ggml.tokens", tokens).texts("tokenizer.ggml.merges", merges);
  file.array("tokenizer.ggml.token_type", GgufType::I32, types.size(), int32s(types));
  return file;
}

class GgufFamilies : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(GgufFamilies, GiveTheIdsOfTheTokenizerTheyAreMadeFrom) {
  const auto [name, pre] = GetParam();
  const std::string bytes = byte_level_gguf(name, pre).bytes();
  const auto t = gguf_tokenizer(read_gguf_vocab(tensor::gguf_of(bytes)));
  EXPECT_EQ(t->kind(), "gguf");
  EXPECT_EQ(count_differences(*t, read_test_json(str(name, ".cases.json"))), 0);
}

INSTANTIATE_TEST_SUITE_P(GgufVocab, GgufFamilies,
                         ::testing::Values(std::pair{"llama3", "llama-bpe"},
                                           std::pair{"qwen2", "qwen2"},
                                           std::pair{"tekken", "tekken"},
                                           std::pair{"smollm", "smollm"}));

struct Scored {
  std::vector<std::string> tokens;
  std::vector<float> scores;
  std::vector<int32_t> types;
};

/// <unk>, bytes, then random words over a few characters, some of which are no token by themselves.
Scored random_scored(uint64_t seed) {
  Scored v{{"<unk>", "<s>", "</s>"},
           {0, 0, 0},
           {GgufVocab::Unknown, GgufVocab::Control, GgufVocab::Control}};
  for (int b = 0; b < 256; ++b) {
    char name[8];
    std::snprintf(name, sizeof(name), "<0x%02X>", static_cast<unsigned>(b));
    v.tokens.emplace_back(name);
    v.scores.push_back(0);
    v.types.push_back(GgufVocab::Byte);
  }
  Rng rng(seed, "scored");
  const std::vector<std::string> characters = {"a", "b", "c", "\xc3\xa9", "\xe2\x96\x81", "z"};
  std::map<std::string, bool> known;
  for (int i = 0; i < 60; ++i) {
    std::string word;
    for (uint64_t n = 1 + rng.below(4); n > 0; --n) {
      word += characters[rng.below(characters.size() - (word.empty() ? 1 : 0))];
    }
    if (!known[word] && word != "z") {
      known[word] = true;
      v.tokens.push_back(word);
      v.scores.push_back(-static_cast<float>(rng.below(20)));  // scores tie
      v.types.push_back(GgufVocab::Normal);
    }
  }
  return v;
}

std::string scored_gguf(const Scored& v, bool prefix) {
  GgufBuilder file;
  file.text("tokenizer.ggml.model", "llama").texts("tokenizer.ggml.tokens", v.tokens);
  file.array("tokenizer.ggml.scores", GgufType::F32, v.scores.size(), floats(v.scores));
  file.array("tokenizer.ggml.token_type", GgufType::I32, v.types.size(), int32s(v.types));
  file.u32("tokenizer.ggml.bos_token_id", 1).u32("tokenizer.ggml.eos_token_id", 2);
  file.boolean("tokenizer.ggml.add_space_prefix", prefix);
  return file.bytes();
}

/// The best-scored neighbours whose joined text is a token become one, leftmost first.
std::vector<int32_t> slow_scored(const Scored& v, std::string text) {
  for (size_t at = text.find(' '); at != std::string::npos; at = text.find(' ', at)) {
    text.replace(at, 1, "\xe2\x96\x81");
  }
  std::map<std::string, int32_t> ids;
  for (size_t i = 0; i < v.tokens.size(); ++i) {
    ids[v.tokens[i]] = static_cast<int32_t>(i);
  }
  std::vector<std::string> parts;
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const size_t n = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    parts.push_back(text.substr(i, n));
    i += n;
  }
  while (true) {
    size_t best = parts.size();
    float score = 0;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto found = ids.find(parts[i] + parts[i + 1]);
      if (found == ids.end()) {
        continue;
      }
      const float here = v.scores[static_cast<size_t>(found->second)];
      if (best == parts.size() || here > score) {
        best = i;
        score = here;
      }
    }
    if (best == parts.size()) {
      break;
    }
    parts[best] += parts[best + 1];
    parts.erase(parts.begin() + static_cast<int64_t>(best) + 1);
  }
  std::vector<int32_t> out;
  for (const std::string& part : parts) {
    if (ids.count(part) != 0) {
      out.push_back(ids[part]);
      continue;
    }
    for (const char c : part) {
      out.push_back(3 + static_cast<unsigned char>(c));  // its byte token
    }
  }
  return out;
}

std::string spaces_for_marks(std::string text) {
  const std::string mark = "\xe2\x96\x81";
  for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
    text.replace(at, mark.size(), " ");
  }
  return text;
}

TEST(GgufScores, JoinAsTheSlowTwin) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const Scored v = random_scored(seed);
    const std::string bytes = scored_gguf(v, false);
    const auto t = gguf_tokenizer(read_gguf_vocab(tensor::gguf_of(bytes)));
    Rng rng(seed, "scored text");
    for (int i = 0; i < 40; ++i) {
      std::string text;
      for (uint64_t n = rng.below(i == 0 ? 200 : 25); n > 0; --n) {
        text += std::vector<std::string>{
            "a", "b", "c", "\xc3\xa9", " ", "z", "\xf0\x9f\x98\x80"}[rng.below(7)];
      }
      ASSERT_EQ(t->encode(text), slow_scored(v, text)) << shown(text) << " seed " << seed;
      // Where U+2581 is no token it goes as bytes and comes back as itself, not as a space.
      EXPECT_EQ(spaces_for_marks(t->decode(t->encode(text))), text);
    }
  }
}

TEST(GgufScores, PutASpaceBeforeEachStretchOfText) {
  const Scored v = random_scored(1);
  const std::string bytes = scored_gguf(v, true);
  const auto t = gguf_tokenizer(read_gguf_vocab(tensor::gguf_of(bytes)));
  std::vector<int32_t> expected = slow_scored(v, " ab");
  expected.push_back(2);
  const std::vector<int32_t> rest = slow_scored(v, " c");
  expected.insert(expected.end(), rest.begin(), rest.end());
  EXPECT_EQ(t->encode("ab</s>c", Specials::Parse), expected);
  EXPECT_EQ(t->decode(t->encode("ab")), "ab");
  EXPECT_EQ(t->special_ids().bos, 1);
  EXPECT_TRUE(t->special_ids().add_bos);  // the rule of this type when the file says nothing
  EXPECT_EQ(t->special_ids().eos, (std::vector<int64_t>{2}));
}

using GgufVocabFile = TokenizerFiles;

TEST_F(GgufVocabFile, SurvivesSerialisation) {
  const auto t = load_tokenizer(put("m.gguf", byte_level_gguf("qwen2", "qwen2").bytes()));
  const auto again = load_tokenizer(put("own.json", t->serialize()));
  EXPECT_EQ(count_differences(*again, read_test_json("qwen2.cases.json")), 0);
  EXPECT_EQ(tokenizer_hash(*again), tokenizer_hash(*t));
  EXPECT_EQ(t->special_ids().eos, (std::vector<int64_t>{520, 522}));  // by their texts
  std::filesystem::remove(folder_ / "own.json");
  EXPECT_EQ(tokenizer_hash(*load_tokenizer(folder_)), tokenizer_hash(*t));
}

TEST_F(GgufVocabFile, FaultsAreNamed) {
  const auto fault = [&](const GgufBuilder& file) { return fault_of(put("m.gguf", file.bytes())); };
  EXPECT_EQ(fault(GgufBuilder().text("tokenizer.ggml.model", "bert")),
            "tokenizer.ggml.model is 'bert', which is not supported; known: gpt2, llama, gemma4");
  EXPECT_EQ(fault(GgufBuilder().u32("x", 1)),
            "tokenizer.ggml.model is 'none', which is not supported; known: gpt2, llama, gemma4");
  EXPECT_EQ(fault(GgufBuilder().text("tokenizer.ggml.model", "gpt2")),
            "tokenizer.ggml.tokens is missing or empty");
  const auto base = [](const std::vector<std::string>& merges) {
    GgufBuilder file;
    file.text("tokenizer.ggml.model", "gpt2").texts("tokenizer.ggml.tokens", {"a", "b", "ab"});
    file.texts("tokenizer.ggml.merges", merges);
    return file;
  };
  EXPECT_EQ(fault(base({"ab"})),
            "tokenizer.ggml.merges: merge 0 is 'ab', not two tokens with a space between");
  EXPECT_EQ(
      fault(base({"a b", "b a"})),
      "tokenizer.ggml.merges: merge 1 'b a' uses or makes a token that is not in the vocabulary");
  EXPECT_EQ(fault(base({})), "tokenizer.ggml.merges is missing or empty; model 'gpt2' needs it");
  EXPECT_EQ(fault(base({"a b"}).u32("tokenizer.ggml.eos_token_id", 3)),
            "tokenizer.ggml.eos_token_id is 3, outside the vocabulary of 3");
  EXPECT_EQ(fault(base({"a b"}).array("tokenizer.ggml.token_type", GgufType::I32, 1, int32s({1}))),
            "tokenizer.ggml.token_type has 1 items for 3 tokens");
  EXPECT_NE(fault(base({"a b"}).text("tokenizer.ggml.pre", "kimi-k2"))
                .find("tokenizer.ggml.pre is 'kimi-k2', which is not supported; known: default"),
            std::string::npos);
  GgufBuilder broken;
  broken.text("tokenizer.ggml.model", "llama").texts("tokenizer.ggml.tokens", {"a", "\xff"});
  broken.array("tokenizer.ggml.scores", GgufType::F32, 2, floats({0, 0}));
  EXPECT_EQ(fault(broken), "tokenizer.ggml.tokens: token 1 is no UTF-8");
  GgufBuilder endless;
  endless.text("tokenizer.ggml.model", "gpt2");
  endless.texts("tokenizer.ggml.tokens", {"a", std::string(4097, 'b')});
  endless.texts("tokenizer.ggml.merges", {"a b"});
  EXPECT_EQ(fault(endless),
            "tokenizer.ggml.tokens: token 1 has 4097 bytes, at most 4096 are expected");
}

TEST(GgufPre, KnowsEveryNameOnce) {
  EXPECT_EQ(find_gguf_pre("none such"), nullptr);
  ASSERT_NE(find_gguf_pre("llama-bpe"), nullptr);
  EXPECT_TRUE(find_gguf_pre("llama-bpe")->whole_first);
  EXPECT_EQ(find_gguf_pre("smollm"), find_gguf_pre("starcoder"));
  EXPECT_EQ(find_gguf_pre("smol"), nullptr);
}

}  // namespace
}  // namespace gyre::model
