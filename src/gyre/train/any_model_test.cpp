// One way to open runs and checkpoints: what comes out, what is said of doubtful positions.
#include "gyre/train/any_model.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <c10/core/GradMode.h>

#include "gyre/base/log.h"
#include "gyre/model/load/load_testing.h"
#include "gyre/train/run_dir.h"
#include "gyre/train/run_testing.h"

namespace gyre::train {
namespace {

using AnyCheckpoint = model::LoadTest;
using Lines = std::vector<std::string>;

/// What is logged while the model of a tiny Llama with one more key is opened.
Lines lines_with(const std::filesystem::path& folder, const char* key, const model::Json& value) {
  const model::Json tiny = model::tiny_case("llama");
  model::Json config = tiny.at("config");
  config[key] = value;
  model::write_checkpoint(folder, config, model::tiny_tensors(tiny));
  Lines lines;
  const LogSink old = set_log_sink([&](Level, std::string_view line) { lines.emplace_back(line); });
  load_any_model(folder);
  set_log_sink(old);
  return lines;
}

TEST_F(AnyCheckpoint, SaysWhatInspectCallsAnError) {
  const Lines lines = lines_with(folder_, "partial_rotary_factor", 0.0);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0], folder_.string() +
                          ": rotary-dim-invalid partial_rotary_factor: partial factor must be "
                          "above 0 and at most 1, found 0.0; see: gyre inspect");
}

TEST_F(AnyCheckpoint, SaysNothingOfASoundOne) {
  EXPECT_EQ(lines_with(folder_, "use_cache", true), Lines());
}

TEST_F(AnyCheckpoint, ATokenBeyondTheVocabularyIsNamedWithBothSides) {
  const model::Json tiny = model::tiny_case("llama");
  model::write_checkpoint(folder_, tiny.at("config"), model::tiny_tensors(tiny));
  const model::Json level = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
  const model::Json bpe = {
      {"type", "BPE"}, {"vocab", {{"a", 0}, {"b", 1}}}, {"merges", model::Json::array()}};
  const model::Json image = {{"id", 96}, {"content", "<img>"}, {"special", true}};
  write_file_atomic(
      folder_ / "tokenizer.json",
      model::Json{
          {"model", bpe}, {"pre_tokenizer", level}, {"decoder", level}, {"added_tokens", {image}}}
          .dump());
  const AnyModel any = load_any_model(folder_, {.text_for = "generate"});
  EXPECT_EQ(any.prompt("ab", model::Specials::Parse), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(message_of([&] { (void)any.prompt("a<img>", model::Specials::Parse); }),
            "DIR: the text has the token <img>, id 96 of the tokenizer, and the model's vocabulary "
            "is 96; leave it out of the text");
}

TEST(AnyRun, IsTheTrainedModelWithItsTokenizer) {
  const data::TestFolder folder;
  RunSetup setup = small_setup(folder, "run");
  setup.train.tokens = 2 * 4 * 32;
  run(setup);
  const c10::NoGradGuard no_grad;
  const AnyModel any = load_any_model(setup.out, {.text_for = "generate"});
  EXPECT_EQ(any.family, "gyre");
  EXPECT_EQ(any.max_length, 32);
  ASSERT_NE(any.tokenizer, nullptr);
  EXPECT_EQ(any.prompt("hi", model::Specials::Parse), (std::vector<int64_t>{'h', 'i'}));
  model::Transformer trained = load_run(setup.out).model;
  trained.set_compute_dtype(at::kFloat);
  const at::Tensor tokens = at::tensor({104, 105, 106}, at::kLong).view({1, 3});
  EXPECT_TRUE(at::equal(any.model.forward(tokens), trained.forward(tokens)));
  EXPECT_EQ(any.plan_at_length(64).layers.size(), 2U);
}

}  // namespace
}  // namespace gyre::train
