// JSON and terminal text of a resolved model, and a run.
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "gyre/inspect/test_models.h"
#include "gyre/position/scheme.h"

namespace gyre::inspect {
namespace {

using Json = nlohmann::json;
using testing::fixture;

TEST(InspectJson, HasWhatOtherToolsRelyOn) {
  const Finding finding{"some-rule", Severity::Warning, "rope_theta", "what is wrong", "1", "2"};
  const Json json = Json::parse(to_json(fixture("gemma-3-4b.json"), {finding}));
  EXPECT_EQ(json["schema"], "gyre.inspect/1");
  EXPECT_EQ(json["n_layers"], 34);
  EXPECT_EQ(json["original_length"], nullptr);
  ASSERT_EQ(json["layers"].size(), 2u);
  const Json& global = json["layers"][1];
  EXPECT_EQ(global["kind"], "full_attention");
  EXPECT_EQ(global["scheme"], "linear");
  EXPECT_EQ(global["head_dim"], 256);
  EXPECT_EQ(global["rotary_dim"], 256);
  EXPECT_EQ(global["base"], 1e6);
  EXPECT_EQ(global["pairing"], "halves");
  EXPECT_EQ(global["inv_freq"].size(), 128u);
  EXPECT_EQ(global["inv_freq"][0], 0.125);
  EXPECT_EQ(global["attention_factor"], 1.0);
  EXPECT_EQ(global["window"], nullptr);
  EXPECT_EQ(global["layers"], Json({5, 11, 17, 23, 29}));
  EXPECT_EQ(json["layers"][0]["window"], 1024);
  EXPECT_EQ(json["findings"][0], Json({{"id", "some-rule"},
                                       {"severity", "warning"},
                                       {"key", "rope_theta"},
                                       {"message", "what is wrong"},
                                       {"expected", "1"},
                                       {"found", "2"}}));
}

TEST(InspectJson, PairsThatDoNotTurnHaveNoWavelength) {
  const Json json = Json::parse(to_json(fixture("gemma-4.json"), {}));
  const Json& global = json["layers"][1];
  EXPECT_EQ(global["wavelength"][64], nullptr);
  EXPECT_EQ(global["turns_max"][64], 0.0);
  EXPECT_TRUE(global["moved_pairs"].empty());
}

// Counted apart from gyre, on the table that a stand-alone script computes from the published rule.
TEST(InspectText, NamesTheBandsThatNeverTurn) {
  const std::string text = describe(fixture("llama-3.1-8b.json"), {});
  EXPECT_NE(text.find("never complete one: pairs 32-63 (32 of 64)"), std::string::npos) << text;
  EXPECT_NE(text.find("128 channels, all rotate: 64 pairs, halves (0,64) (1,65) ..."),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("nested key rope_scaling.factor"), std::string::npos) << text;
  EXPECT_NE(text.find("class default LlamaConfig"), std::string::npos) << text;
  EXPECT_NE(text.find("no findings"), std::string::npos) << text;
}

TEST(InspectText, AnUnknownTypeSaysSo) {
  const std::string text = describe(
      testing::from_text(R"({"model_type": "brand_new", "head_dim": 8, "num_hidden_layers": 1})"),
      {});
  EXPECT_NE(text.find("model type not known: resolved by what the keys say"), std::string::npos);
}

TEST(InspectText, ControlCharactersOfAFileStayOut) {
  const std::string text =
      describe(testing::from_text("{\"model_type\": \"a\\u001b[31mb\", \"head_dim\": 8, "
                                  "\"rope_scaling\": {\"type\": \"\\u0007x\"}}"),
               {});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
}

TEST(InspectText, Ranges) {
  EXPECT_EQ(ranges({0, 1, 2, 5, 7, 8}), "0-2, 5, 7-8");
  EXPECT_EQ(ranges({}), "none");
}

class InspectRun : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    dir_ = std::filesystem::temp_directory_path() /
           str("gyre-inspect-run-", ::getpid(), "-", info->name());
    std::filesystem::create_directories(dir_);
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  void put(const std::string& scheme, const std::string& masks) {
    const auto plan = position::make_plan(
        scheme, masks, {.n_layers = 4, .n_heads = 2, .head_dim = 8, .train_length = 256});
    const Json manifest{{"schema", "gyre.manifest/1"},
                        {"train_length", 256},
                        {"scheme", scheme},
                        {"mask", masks},
                        {"dtype", "fp32"},
                        {"model", {{"width", 16}, {"heads", 2}, {"kv-heads", 0}}},
                        {"plan", Json::parse(position::plan_to_json(plan))}};
    write_file_atomic(dir_ / "manifest.json", manifest.dump());
  }

  std::filesystem::path dir_;
};

TEST_F(InspectRun, KindsAreLayersWithEqualPlans) {
  put("rope:base=500", "window:16/full");
  const ResolvedModel model = resolve(dir_);
  EXPECT_EQ(model.source, SourceKind::Run);
  ASSERT_EQ(model.kinds.size(), 2u);
  EXPECT_EQ(model.kinds[0].name, "sliding_attention");
  EXPECT_EQ(model.kinds[0].layers, (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(model.kinds[0].plan.mask.window, 16);
  EXPECT_EQ(model.kinds[1].base, 500.0);
  EXPECT_EQ(model.original_length, 256);
}

// Two bases in one scheme: what a layer's own table says.
TEST_F(InspectRun, BasesComeFromTheTable) {
  put("gemma3:every=2,window=16", "full");
  const ResolvedModel model = resolve(dir_);
  ASSERT_EQ(model.kinds.size(), 2u);
  EXPECT_EQ(model.kinds[0].base, 1e4);
  EXPECT_EQ(model.kinds[0].factor, 1.0);
  EXPECT_EQ(model.kinds[1].base, 1e6);
  EXPECT_EQ(model.kinds[1].factor, 8.0);
}

TEST_F(InspectRun, TheSchemesOriginalLengthIsTheOriginal) {
  put("yarn:factor=4,original=64", "full");
  const ResolvedModel model = resolve(dir_);
  EXPECT_EQ(model.original_length, 64);
  EXPECT_EQ(model.max_length, 256);
}

TEST_F(InspectRun, DecayIsShown) {
  put("xpos", "full");
  EXPECT_NE(describe(resolve(dir_), {}).find("nats per token of distance"), std::string::npos);
}

TEST_F(InspectRun, LearnedFrequenciesAreTheLastOnes) {
  put("lerope:share=all", "full");
  write_file_atomic(dir_ / "frequencies.jsonl",
                    "{\"schema\":\"gyre.frequency/1\",\"step\":9,\"alpha\":[],"
                    "\"inv_freq\":[[[0.9,0.5,0.25,0.125]]]}\n");
  const ResolvedModel model = resolve(dir_);
  EXPECT_EQ(bands_of(model.kinds.at(0)), (std::vector<double>{0.9, 0.5, 0.25, 0.125}));
  EXPECT_EQ(testing::origin_of(model, model.kinds[0], "frequencies"),
            "frequencies.jsonl, last line");
}

TEST_F(InspectRun, ABrokenManifestIsNamed) {
  write_file_atomic(dir_ / "manifest.json", R"({"schema": "gyre.manifest/1", "dtype": "fp32"})");
  try {
    resolve(dir_);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              (dir_ / "manifest.json").string() + ": field 'train_length' is missing");
  }
}

}  // namespace
}  // namespace gyre::inspect
