// The whole evaluation of a small untrained model, and its record.
#include "gyre/evaluate/evaluate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "gyre/base/log.h"
#include "gyre/evaluate/eval_record.h"
#include "gyre/evaluate/fixtures.h"

namespace gyre::evaluate {
namespace {

using Json = nlohmann::json;
using testing::TempFolder;

model::ModelConfig small_config() {
  model::ModelConfig config;
  config.layout = position::PairLayout::Halves;
  config.vocab = 257;
  config.width = 32;
  config.layers = 2;
  config.heads = 2;
  config.head_dim = 16;
  config.hidden = 32;
  return config;
}

position::PositionPlan small_plan(bool rotating) {
  position::PositionPlan plan;
  plan.layout = position::PairLayout::Halves;
  plan.head_dim = 16;
  plan.rotary_dim = rotating ? 8 : 0;
  position::LayerPlan layer;
  if (rotating) {
    layer.inv_freq = {{1.0, 0.3, 0.1, 0.03}};
  }
  plan.layers.assign(2, layer);
  return plan;
}

train::Run small_run(bool rotating = true) {
  train::RunManifest manifest;
  manifest.train_length = 32;
  manifest.scheme = "some:x=1";
  manifest.mask = "full";
  manifest.plan = small_plan(rotating);
  manifest.model = small_config();
  manifest.tokenizer_kind = "bytes";
  manifest.tokenizer_hash = "tokenizer-one";
  manifest.corpus_hash = "corpus-one";
  manifest.seed = 4;
  manifest.step = 12;
  model::Transformer model(manifest.model, manifest.plan);
  model.init(4);
  return {"somewhere/run", manifest, std::move(model)};
}

data::Dataset small_dataset(const TempFolder& folder) {
  data::Dataset dataset;
  dataset.corpus_hash = "corpus-one";
  dataset.tokenizer_hash = "tokenizer-one";
  dataset.tokenizer = model::byte_tokenizer();
  dataset.vocab = 257;
  dataset.val_bytes_per_token = 1.0;
  dataset.val = testing::make_stream(folder.path / "val.bin", testing::random_tokens(700, 256));
  return dataset;
}

EvalOptions small_options() {
  EvalOptions options;
  options.val_tokens = 320;
  options.length_tokens = 256;
  options.distractors = {0, 3};
  options.needle_items = 16;
  options.band_windows = 2;
  return options;
}

class Quiet {  // keeps the warnings of expected notes out of the test's output
 public:
  Quiet() : old_(set_log_sink([](Level, std::string_view) {})) {}
  ~Quiet() { set_log_sink(old_); }

 private:
  LogSink old_;
};

TEST(Evaluate, RecordHoldsEveryPart) {
  const TempFolder folder("evaluate-record");
  const train::Run run = small_run();
  const Evaluation result = evaluate(run, small_dataset(folder), small_options());
  const Json json = Json::parse(to_json(result, run));
  EXPECT_EQ(json.at("schema"), "gyre.eval/1");
  EXPECT_EQ(json.at("scheme"), "some:x=1");
  EXPECT_EQ(json.at("step"), 12);
  EXPECT_EQ(json.at("val").at("n_tokens"), 320);
  EXPECT_EQ(json.at("val").at("blocks").size(), 10U);
  EXPECT_EQ(json.at("lengths").size(), 8U);
  EXPECT_EQ(json.at("lengths")[7].at("windows"), "sliding");
  EXPECT_EQ(json.at("lengths")[7].at("length"), 256);
  EXPECT_EQ(json.at("needle").size(), 2U);
  EXPECT_EQ(json.at("needle")[1].at("chance"), 0.25);
  EXPECT_EQ(json.at("needle")[1].at("n"), 16);
  EXPECT_EQ(json.at("needle")[1].at("no_evidence").at("n"), 16);
  EXPECT_EQ(json.at("needle")[1].at("worst_bucket").at("ci95").size(), 2U);
  EXPECT_EQ(json.at("bands").at("q_norm").size(), 2U);
  EXPECT_EQ(json.at("bands").at("contribution")[1].size(), 4U);
  EXPECT_EQ(json.at("options").at("needle-items"), 16);
  EXPECT_TRUE(json.at("own_corpus"));
  EXPECT_TRUE(json.at("notes").empty()) << json.at("notes");
  // an untrained model is near uniform over 257 ids
  EXPECT_NEAR(json.at("val").at("loss").get<double>(), std::log(257.0), 0.1);
}

TEST(Evaluate, NothingRotatingGivesNullBands) {
  const TempFolder folder("evaluate-null");
  const train::Run run = small_run(false);
  const Evaluation result = evaluate(run, small_dataset(folder), small_options());
  EXPECT_TRUE(Json::parse(to_json(result, run)).at("bands").is_null());
}

TEST(Evaluate, ShortDataIsNotedAndWritten) {
  const Quiet quiet;
  const TempFolder folder("evaluate-short");
  const train::Run run = small_run();
  data::Dataset dataset = small_dataset(folder);
  dataset.tokenizer = nullptr;
  dataset.val = testing::make_stream(folder.path / "short.bin", testing::random_tokens(120, 256));
  const Json json = Json::parse(to_json(evaluate(run, dataset, small_options()), run));
  EXPECT_TRUE(json.at("lengths")[3].at("loss").is_null());
  EXPECT_TRUE(json.at("lengths")[3].contains("skipped"));
  EXPECT_TRUE(json.at("needle").empty());
  const std::string notes = json.at("notes").dump();
  EXPECT_NE(notes.find("validation: 320 tokens asked, the split holds 96"), std::string::npos);
  EXPECT_NE(notes.find("needle: skipped, token shards without a tokenizer"), std::string::npos);
}

TEST(Evaluate, AnotherTokenizerIsRefused) {
  const TempFolder folder("evaluate-tokenizer");
  const train::Run run = small_run();
  data::Dataset dataset = small_dataset(folder);
  dataset.tokenizer_hash = "tokenizer-two";
  try {
    evaluate(run, dataset, small_options());
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "eval: the run was trained with tokenizer tokenizer-on, the data is tokenised "
                 "with tokenizer-tw; prepare it with the run's tokenizer");
  }
}

TEST(Evaluate, TooManyDistractorsForTheTokenizerAreSkippedWithANote) {
  const Quiet quiet;
  const TempFolder folder("evaluate-letters");
  const train::Run run = small_run();
  EvalOptions options = small_options();
  options.distractors = {1, 63};
  const Evaluation result = evaluate(run, small_dataset(folder), options);
  EXPECT_EQ(result.needle.size(), 1U);
  ASSERT_EQ(result.notes.size(), 1U);
  EXPECT_EQ(result.notes[0].find("skipped: needle: 63 distractors need 66 letters"), 0U);
}

TEST(EvalRecord, SameEvaluationLooksAtStepOptionsAndCorpus) {
  const TempFolder folder("evaluate-same");
  train::Run run = small_run();
  const std::string text = to_json(evaluate(run, small_dataset(folder), small_options()), run);
  EXPECT_TRUE(same_evaluation(text, run, "corpus-one", small_options()));
  EXPECT_FALSE(same_evaluation(text, run, "corpus-two", small_options()));
  EvalOptions other = small_options();
  other.needle_items = 17;
  EXPECT_FALSE(same_evaluation(text, run, "corpus-one", other));
  run.manifest.step = 13;
  EXPECT_FALSE(same_evaluation(text, run, "corpus-one", small_options()));
  EXPECT_FALSE(same_evaluation("{\"schema\": \"gyre.eval/1\"}", run, "corpus-one", other));
  EXPECT_FALSE(same_evaluation("half a fi", run, "corpus-one", other));
}

TEST(EvalRecord, TableShowsEveryPart) {
  const TempFolder folder("evaluate-table");
  const train::Run run = small_run();
  const std::string table =
      eval_table(to_json(evaluate(run, small_dataset(folder), small_options()), run));
  for (const char* part : {"some:x=1, step 12, training length 32", "bits/byte over 320 tokens",
                           "disjoint", "sliding", "no evidence", "bands: dominant"}) {
    EXPECT_NE(table.find(part), std::string::npos) << part << "\n" << table;
  }
}

}  // namespace
}  // namespace gyre::evaluate
