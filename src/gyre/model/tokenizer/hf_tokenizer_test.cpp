// tokenizer.json. Expected ids: what the PyPI package `tokenizers` answers for small tokenizers in
// the configuration of each family (testing/peers/make_small_tokenizers.py).
#include "gyre/model/tokenizer/hf_tokenizer.h"

#include "gyre/model/tokenizer/tokenizer_testing.h"

namespace gyre::model {
namespace {

class Families : public ::testing::TestWithParam<const char*> {};

TEST_P(Families, GiveTheIdsOfThePeer) {
  const auto t = load_tokenizer(tokenizer_testdata() / str(GetParam(), ".json"));
  const TestJson peer = read_test_json(str(GetParam(), ".cases.json"));
  ASSERT_GE(peer.at("cases").size(), 80U);
  EXPECT_EQ(count_differences(*t, peer), 0);
}

INSTANTIATE_TEST_SUITE_P(HfTokenizer, Families,
                         ::testing::Values("llama3", "qwen2", "tekken", "gpt2", "smollm", "gemma",
                                           "llama2", "phi3", "metaspace", "odd"),
                         [](const auto& one) { return std::string(one.param); });

/// Answers of the peers for real tokenizers: testing/peers/tokenizer_parity.py sets the variable.
TEST(TokenizerPeer, GivesTheSameIds) {
  const char* path = std::getenv("GYRE_TOKENIZER_PEER");
  if (path == nullptr) {
    GTEST_SKIP() << "GYRE_TOKENIZER_PEER names no file of testing/peers/tokenizer_parity.py";
  }
  const TestJson peer = TestJson::parse(read_file(path));
  const auto t = load_tokenizer(peer.at("tokenizer").get<std::string>());
  EXPECT_EQ(count_differences(*t, peer), 0) << "of " << peer.at("cases").size() << " strings";
}

using HfTokenizer = TokenizerFiles;

std::string source_of(const char* name) {
  return read_file(tokenizer_testdata() / str(name, ".json"));
}

TEST_F(HfTokenizer, TakesTheIdsAroundATextFromTheTemplateAndTheFilesBeside) {
  put("tokenizer.json", source_of("llama3"));
  const auto bare = load_tokenizer(folder_);
  EXPECT_EQ(bare->special_ids().bos, 520);
  EXPECT_TRUE(bare->special_ids().add_bos);
  EXPECT_TRUE(bare->special_ids().eos.empty());
  put("tokenizer_config.json", R"({"add_bos_token": false,
      "eos_token": {"content": "<|eot_id|>"}})");
  put("generation_config.json", R"({"eos_token_id": [7, 521]})");
  const auto t = load_tokenizer(folder_);
  EXPECT_EQ(t->special_ids().eos, (std::vector<int64_t>{521, 7}));
  EXPECT_FALSE(t->special_ids().add_bos);
  EXPECT_EQ(t->end_of_document(), 521);
  std::vector<int32_t> expected = t->encode("a");
  EXPECT_EQ(encode_prompt(*t, "a", Specials::AsText), expected);
  expected.insert(expected.begin(), 520);
  EXPECT_EQ(encode_prompt(*bare, "a", Specials::AsText), expected);
  EXPECT_NE(tokenizer_hash(*t), tokenizer_hash(*bare));
}

TEST_F(HfTokenizer, SurvivesSerialisation) {
  for (const char* name : {"qwen2", "llama2"}) {
    const auto t = load_tokenizer(tokenizer_testdata() / str(name, ".json"));
    const auto again = load_tokenizer(put("own.json", t->serialize()));
    EXPECT_EQ(count_differences(*again, read_test_json(str(name, ".cases.json"))), 0);
    EXPECT_EQ(tokenizer_hash(*again), tokenizer_hash(*t));
    EXPECT_EQ(again->special_ids().eos, t->special_ids().eos);
    EXPECT_EQ(again->kind(), "tokenizer.json");
  }
}

TEST_F(HfTokenizer, ParsesSpecialTokensOnlyWhenAsked) {
  const auto t = load_tokenizer(tokenizer_testdata() / "qwen2.json");
  EXPECT_EQ(t->encode("<|im_end|>", Specials::Parse), (std::vector<int32_t>{522}));
  EXPECT_GT(t->encode("<|im_end|>").size(), 1U);
  EXPECT_EQ(t->decode(t->encode("<|im_end|>")), "<|im_end|>");
  EXPECT_EQ(t->encode("<tool_call>"), (std::vector<int32_t>{523}));  // added, yet not special
  EXPECT_TRUE(t->is_special(522));
  EXPECT_FALSE(t->is_special(523));
}

TEST_F(HfTokenizer, PiecesJoinToTheText) {
  const std::string text = "Größe 👩‍❤️‍💋‍👨 x\n\n  y 각";
  for (const char* name : {"llama3", "gemma", "llama2", "smollm"}) {
    const auto t = load_tokenizer(tokenizer_testdata() / str(name, ".json"));
    std::string joined;
    TextStream stream(*t);
    for (const int32_t id : t->encode(text)) {
      const std::string part = stream.push(id);
      std::string storage;
      EXPECT_NO_THROW(TestJson(part).dump()) << name;  // throws on a character cut in two
      joined += part;
    }
    EXPECT_EQ(joined + stream.finish(), text) << name;
  }
}

TEST_F(HfTokenizer, RefusesIdsOutsideTheVocabulary) {
  const auto t = load_tokenizer(tokenizer_testdata() / "gpt2.json");
  for (const int32_t id : {-1, 521}) {
    try {
      t->decode({id});
      ADD_FAILURE() << "accepted " << id;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()),
                str("tokenizer.json: id ", id, " is outside the vocabulary of 521"));
    }
  }
}

struct Fault {
  const char* pointer;  // what is changed in gpt2's tokenizer.json
  const char* value;
  const char* message;
};

class HfFaults : public TokenizerFiles, public ::testing::WithParamInterface<Fault> {};

TEST_P(HfFaults, AreNamed) {
  TestJson json = TestJson::parse(source_of("gpt2"));
  json[TestJson::json_pointer(GetParam().pointer)] = TestJson::parse(GetParam().value);
  const std::string fault = fault_of(put("tokenizer.json", json.dump()));
  EXPECT_NE(fault.find(GetParam().message), std::string::npos) << fault;
}

INSTANTIATE_TEST_SUITE_P(
    HfTokenizer, HfFaults,
    ::testing::Values(
        Fault{"/model/type", "\"Unigram\"", "model of type 'Unigram' is not supported; known: BPE"},
        Fault{"/model/dropout", "0.1", "'dropout' is 0.1: ids would be random"},
        Fault{"/model/end_of_word_suffix", "\"</w>\"",
              "'end_of_word_suffix' is \"</w>\", which is not supported"},
        Fault{"/model/merges/0", "[\"q\", \"zz\"]",
              "merge 0 uses 'zz', which is not in the vocabulary"},
        Fault{"/model/merges/0", "\"a b c\"",
              "merge 0 is 'a b c', not two tokens with a space between"},
        Fault{"/model/vocab/a", "-5", "token 'a' has id -5, outside [0, 16777216)"},
        Fault{"/model/vocab", "[]", "'model.vocab' is no object of token: id"},
        Fault{"/model/unk_token", "\"<none>\"", "'unk_token' <none> is not in the vocabulary"},
        Fault{"/normalizer", R"({"type": "Precompiled"})",
              "normalizer of type 'Precompiled' is not supported; known: NFC"},
        Fault{"/pre_tokenizer", R"({"type": "UnicodeScripts"})",
              "pre_tokenizer of type 'UnicodeScripts' is not supported; known: ByteLevel"},
        Fault{
            "/pre_tokenizer",
            R"({"type": "Sequence", "pretokenizers": [{"type": "ByteLevel"}, {"type": "Digits"}]})",
            "pre_tokenizer 'Digits' after ByteLevel is not supported"},
        Fault{"/pre_tokenizer",
              R"({"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated"})",
              "pattern '(': missing closing parenthesis"},
        Fault{"/pre_tokenizer",
              R"({"type": "Split", "pattern": {"Regex": "a{2}+"}, "behavior": "Isolated"})",
              "pattern 'a{2}+': '}+' means something else in the library used here"},
        Fault{"/pre_tokenizer",
              R"({"type": "Split", "pattern": {"String": "a"}, "behavior": "Lost"})",
              "Split behavior of type 'Lost' is not supported; known: Contiguous"},
        Fault{"/decoder", R"({"type": "CTC"})", "decoder of type 'CTC' is not supported"},
        Fault{"/decoder", "null", "'decoder' is null: nothing says how tokens become text"},
        Fault{"/post_processor", R"({"type": "BertProcessing"})",
              "post_processor of type 'BertProcessing' is not supported; known: ByteLevel"},
        Fault{"/post_processor",
              R"({"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "x"}},
                  {"Sequence": {"id": "A"}}], "special_tokens": {"x": {"ids": [1, 2]}}})",
              "puts 2 tokens before a text and 0 after it; at most one each is supported"},
        Fault{"/model/vocab/a", "200000", "token 'a' has id 200000, the file has 521 tokens"},
        Fault{"/added_tokens", "[{\"id\": 1}]",
              "damaged tokenizer file: key 'content' not found"}));

TEST_F(HfTokenizer, ABrokenFileIsOneShortLine) {
  const std::string broken = fault_of(put("tokenizer.json", "{\"model\": {\"vocab\": {\n\x01"));
  EXPECT_TRUE(broken.starts_with("damaged tokenizer file: line 2, column ")) << broken;
  EXPECT_EQ(broken.find("json.exception"), std::string::npos) << broken;
  EXPECT_EQ(broken.find('\n'), std::string::npos) << broken;
  TestJson json = TestJson::parse(source_of("gpt2"));
  json["decoder"]["type"] = std::string(100000, 'x') + "\n";
  const std::string longest = fault_of(put("tokenizer.json", json.dump()));
  EXPECT_TRUE(longest.starts_with("decoder of type '" + std::string(80, 'x') + "...' is not"))
      << longest.substr(0, 300);
}

TEST_F(HfTokenizer, NestingHasAnEnd) {
  TestJson json = TestJson::parse(source_of("gpt2"));
  std::string text = json.dump();
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  text.insert(1, "\"normalizer\": " + deep + ",");
  EXPECT_EQ(fault_of(put("tokenizer.json", text)), "nested deeper than 64 levels");
}

TEST_F(HfTokenizer, FindsTheTokenizerOfAFolderOrSaysWhatIsMissing) {
  EXPECT_NE(fault_of(folder_).find("no tokenizer.json, tokenizer.model or single .gguf file"),
            std::string::npos);
  put("tokenizer.json", source_of("gpt2"));
  EXPECT_EQ(load_tokenizer(folder_)->vocab(), 521);
}

}  // namespace
}  // namespace gyre::model
