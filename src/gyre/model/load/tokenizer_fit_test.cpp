// A checkpoint's tokenizer: needed or not, broken, of another model.
#include "gyre/base/log.h"
#include "gyre/model/load/load_testing.h"

namespace gyre::model {
namespace {

class TokenizerOfModel : public LoadTest {
 protected:
  TokenizerOfModel() {
    const Json tiny = tiny_case("llama");
    write_checkpoint(folder_, tiny.at("config"), tiny_tensors(tiny));
    old_sink_ = set_log_sink([this](Level, std::string_view line) { lines_.emplace_back(line); });
  }
  ~TokenizerOfModel() override { set_log_sink(old_sink_); }
  /// Letters, and one more token of the id and kind given.
  void put_tokenizer(int64_t id, bool special) const {
    const Json level = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
    write_file_atomic(
        folder_ / "tokenizer.json",
        Json{{"model",
              {{"type", "BPE"}, {"vocab", {{"a", 0}, {"b", 1}}}, {"merges", Json::array()}}},
             {"pre_tokenizer", level},
             {"decoder", level},
             {"added_tokens", {{{"id", id}, {"content", "<img>"}, {"special", special}}}}}
            .dump());
  }
  std::string fault() const {
    return message_of([&] { load_model(folder_, {.text_for = "generate"}); });
  }
  std::vector<std::string> lines_;
  LogSink old_sink_;
};

TEST_F(TokenizerOfModel, ThatIsNeededAndBrokenIsOneLine) {
  write_file_atomic(folder_ / "tokenizer.json", "{\"model\": nonsense}");
  const std::string text = fault();
  EXPECT_TRUE(text.starts_with("DIR/tokenizer.json: damaged tokenizer file: line 1, column 12: "))
      << text;
  EXPECT_EQ(text.find("json.exception"), std::string::npos) << text;
  EXPECT_TRUE(lines_.empty()) << lines_[0];
}

TEST_F(TokenizerOfModel, ThatIsNotNeededAndBrokenIsAWarning) {
  write_file_atomic(folder_ / "tokenizer.json", "{\"model\": {}}");
  EXPECT_EQ(load_model(folder_).tokenizer, nullptr);
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_TRUE(lines_[0].starts_with("tokens have no text: " + folder_.string())) << lines_[0];
}

TEST_F(TokenizerOfModel, ThatIsNeededAndMissingIsAFaultOfUsage) {
  try {
    load_model(folder_, {.text_for = "generate"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::Usage);
    EXPECT_EQ(std::string(error.what()),
              "generate: " + folder_.string() +
                  " has no tokenizer, and texts need one; gyre logits --tokens takes ids");
  }
}

TEST_F(TokenizerOfModel, OfAnotherModelIsNamedAsSuch) {
  put_tokenizer(96, false);
  EXPECT_EQ(fault(),
            "DIR: the tokenizer has ids up to 96, the model's vocabulary is 96; they are not of "
            "one checkpoint, fetch the model's own tokenizer");
  put_tokenizer(95, false);
  EXPECT_EQ(fault(), "no error");
}

TEST_F(TokenizerOfModel, MayHaveSpecialTokensThatTheModelHasNot) {
  put_tokenizer(96, true);
  EXPECT_EQ(load_model(folder_, {.text_for = "generate"}).tokenizer->vocab(), 97);
}

TEST_F(TokenizerOfModel, FilesBesideItAreReadOrRefused) {
  put_tokenizer(95, true);
  write_file_atomic(folder_ / "tokenizer_config.json", "{\"add_bos_token\": tru}");
  const std::string text = fault();
  EXPECT_TRUE(text.starts_with("DIR/tokenizer_config.json: no JSON: line 1, column 22: ")) << text;
  write_file_atomic(folder_ / "tokenizer_config.json", "[]");
  EXPECT_EQ(fault(), "DIR/tokenizer_config.json: expected a JSON object");
  write_file_atomic(folder_ / "tokenizer_config.json", "");
  EXPECT_TRUE(fault().starts_with("DIR/tokenizer_config.json: no JSON: line 1, column 1: "))
      << fault();
  write_file_atomic(folder_ / "tokenizer_config.json", "{}");
  write_file_atomic(folder_ / "generation_config.json", std::string(100000, '['));
  EXPECT_EQ(fault(), "DIR/generation_config.json: nested deeper than 64 levels");
  std::filesystem::remove(folder_ / "generation_config.json");
  EXPECT_EQ(fault(), "no error");
}

}  // namespace
}  // namespace gyre::model
