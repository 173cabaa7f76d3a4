// diff over pairs that agree, pairs that differ, and pairs that only look as if they did.
#include "gyre/inspect/lint/test_models.h"
#include "gyre/position/extension.h"

namespace gyre::inspect {
namespace {

using position::PairLayout;

/// A config of 4 layers and what its GGUF should resolve to.
ResolvedModel hf(double base = 1e4) {
  ResolvedModel model;
  model.source = SourceKind::Folder;
  model.model_type = "llama";
  model.n_layers = 4;
  model.original_length = model.max_length = 4096;
  model.kinds = {rotating_kind(base, 128)};
  return model;
}

ResolvedModel its_gguf(double base = 1e4, const std::string& architecture = "llama") {
  ResolvedModel model = gguf(architecture, {{"rope.freq_base", base}, {"context_length", 4096}});
  model.original_length = 4096;
  model.kinds[0].layout = PairLayout::Interleaved;
  return model;
}

void expect_diff(const ResolvedModel& a, const ResolvedModel& b, const std::string& expected) {
  EXPECT_EQ(written(diff(a, b)), expected);
}

TEST(Diff, EqualModelsAgree) {
  expect_diff(hf(), hf(), "");
}

// Llama's rows are permuted by the converter: the same rotation.
TEST(Diff, PermutedLayoutIsANote) {
  expect_diff(
      hf(), its_gguf(),
      "note diff-layout | pair layout | interleaved | halves | all layers: pair layout is "
      "halves in the config and interleaved in the GGUF; the converter permutes the rows of "
      "q and k, so the rotation is the same\n");
}

TEST(Diff, LayoutOfAnUnpermutedFamilyMustBeEqual) {
  for (const char* family : {"qwen2", "gemma2", "phi3", "gptneox", "qwen3moe", "gpt-oss"}) {
    expect_diff(hf(), its_gguf(1e4, family),
                str("error diff-layout | pair layout | interleaved | halves | all layers: pair "
                    "layout is halves in the config and interleaved in the GGUF; converters leave "
                    "the rows of '",
                    family, "' as they are, so one side pairs wrong channels\n"));
    ResolvedModel right = its_gguf(1e4, family);
    right.kinds[0].layout = PairLayout::Halves;
    expect_diff(hf(), right, "");
  }
}

TEST(Diff, LayoutOfTwoConfigs) {
  ResolvedModel other = hf();
  other.kinds[0].layout = PairLayout::Interleaved;
  expect_diff(hf(), other,
              "error diff-layout | pair layout | interleaved | halves | all layers: pair layout is "
              "halves in the first and interleaved in the second; one side pairs wrong channels "
              "unless rows of q and k were permuted\n");
}

// Case 27: pairs 35 to 63 (the last 29) are 8x too fast without the tensor.
TEST(Diff, MissingRopeFreqs) {
  ResolvedModel model = hf(5e5);
  model.kinds[0].scheme = "llama3";
  model.kinds[0].plan.inv_freq[0] =
      position::llama3_bands(model.kinds[0].plan.inv_freq[0], {}).bands;
  ResolvedModel other = its_gguf(5e5);
  other.kinds[0].layout = PairLayout::Halves;
  expect_diff(
      model, other,
      "error diff-table | frequency | 0.000764496988 | 9.55621235e-05 | all layers: "
      "frequency of pair 35 is 9.55621235e-05 in the config and 0.000764496988 in the GGUF; "
      "the largest difference, x8; the GGUF has no scaling, rope_freqs.weight is "
      "missing\n");
  other.kinds[0].plan.inv_freq = model.kinds[0].plan.inv_freq;  // divisors applied
  expect_diff(model, other, "");
}

// Case 28: the config says yarn 4 over 32768, the GGUF of Qwen3-MoE has no scaling keys.
TEST(Diff, YarnKeysMissingInTheGguf) {
  ResolvedModel model = resolve_config(
      config_text(R"("model_type": "qwen3_moe", "rope_theta": 1000000.0, "head_dim": 128,
          "max_position_embeddings": 131072, "rope_scaling": {"rope_type": "yarn", "factor": 4.0,
          "original_max_position_embeddings": 32768})",
                  "model_type rope_theta max_position_embeddings"),
      "c");
  ResolvedModel other = gguf("qwen3moe", {{"rope.freq_base", 1e6}, {"context_length", 131072}});
  const std::vector<Finding> found = diff(model, other);
  ASSERT_EQ(found.size(), 3U) << written(found);
  EXPECT_EQ(found[0].id, "diff-table");
  EXPECT_EQ(found[1].id, "diff-amplitude");
  EXPECT_EQ(
      found[1].message,
      "all layers: amplitude is 1.138629436 in the config and 1 in the GGUF; logits differ by "
      "x0.7713211");
  EXPECT_EQ(found[2].key, "qwen3moe.rope.scaling.type");
  EXPECT_EQ(found[2].message,
            "the config has rope type 'yarn' with factor 4 and the GGUF no scaling keys; write "
            "qwen3moe.rope.scaling.type = yarn, qwen3moe.rope.scaling.factor = 4, "
            "qwen3moe.rope.scaling.original_context_length = 32768");
}

TEST(Diff, BaseIsToldInsteadOfEveryPair) {
  expect_diff(hf(1e4), hf(1e6),
              "error diff-base | base | 1000000 | 10000 | all layers: base is 10000 in the first "
              "and 1000000 in the second\n");
}

TEST(Diff, WindowOffByOne) {
  ResolvedModel a = hf();
  ResolvedModel b = hf();
  a.kinds[0].plan.mask.window = 1024;
  b.kinds[0].plan.mask.window = 1025;
  expect_diff(a, b,
              "error diff-window | window | 1025 | 1024 | all layers: window is 1024 in the first "
              "and 1025 in the second; one of the two does not count the query itself\n");
  b.kinds[0].plan.mask.window = 0;
  expect_diff(a, b,
              "error diff-window | window | 0 | 1024 | all layers: window is 1024 in the first and "
              "0 in the second; 0 = none\n");
  a.kinds[0].plan.mask.window = 4096;  // sees everything
  expect_diff(a, b, "");
}

TEST(Diff, KindsAreMatchedByLayer) {
  ResolvedModel a = hf();
  ResolvedModel b = hf();
  b.kinds.push_back(b.kinds[0]);
  b.kinds[0].layers = {0, 1, 2};
  b.kinds[1].layers = {3};
  expect_diff(a, b, "");
  b.kinds[1].plan.inv_freq.clear();
  expect_diff(a, b,
              "error diff-rotation | rotation | no | yes | layer 3: positions rotate in the first "
              "and not in the second\n");
}

TEST(Diff, SlopesAndSoftmaxScale) {
  ResolvedModel a = hf();
  ResolvedModel b = hf();
  a.kinds[0].plan.slopes = {0.5, 0.25};
  b.kinds[0].plan.slopes = {1.0, 0.5};  // case 33: exponent off by one
  expect_diff(a, b,
              "error diff-slopes | slope | 1 | 0.5 | all layers: slope of head 0 is 0.5 in the "
              "first and 1 in the second\n");
  b.kinds[0].plan.slopes = a.kinds[0].plan.slopes;
  b.kinds[0].plan.logit_scale = 2.0;
  expect_diff(a, b,
              "error diff-logit-scale | softmax scale | 2 | 1 | all layers: factor on the softmax "
              "scale is 1 in the first and 2 in the second\n");
}

TEST(Diff, LengthsAreWarnings) {
  ResolvedModel b = hf();
  b.original_length = 2048;
  b.max_length = 8192;
  expect_diff(
      hf(), b,
      "warning diff-original-length | original length | 2048 | 4096 | original length is "
      "4096 in the first and 2048 in the second\n"
      "warning diff-max-length | max length | 8192 | 4096 | longest admitted length is 4096 "
      "in the first and 8192 in the second\n");
}

// A yarn block beside max_position_embeddings 32768 admits 131072; its GGUF says 32768 as well.
TEST(Diff, LengthsAreComparedAsTheFilesStateThem) {
  ResolvedModel a = hf();
  a.raw = RawConfig::from_json(R"({"max_position_embeddings": 32768})", "c");
  a.max_length = 131072;
  ResolvedModel b = gguf("qwen2", {{"context_length", 32768}});
  b.original_length = a.original_length;
  expect_diff(a, b, "");
}

TEST(Diff, TwoModelsOfDifferentDepth) {
  ResolvedModel b = hf();
  b.n_layers = 5;
  expect_diff(hf(), b,
              "error diff-layers | number of layers | 5 | 4 | number of layers is 4 in the first "
              "and 5 in the second; these are two models\n");
}

// A stored divisor of 1e30 and a 0 are the same pair at rest; so is a table cut off before it.
TEST(Diff, PairsAtRestAreEqual) {
  ResolvedModel a = hf();
  ResolvedModel b = hf();
  a.kinds[0].plan.inv_freq[0][63] = 0.0;
  b.kinds[0].plan.inv_freq[0][63] *= 1e-30;
  expect_diff(a, b, "");
}

TEST(Diff, SecondTablePastTheOriginalLength) {
  ResolvedModel a = hf();
  ResolvedModel b = hf();
  a.kinds[0].long_inv_freq = a.kinds[0].plan.inv_freq[0];
  expect_diff(a, b,
              "error diff-long-table | second table | none | one | all layers: only the first has "
              "another table past the original length\n");
  b.kinds[0].long_inv_freq = a.kinds[0].long_inv_freq;
  b.kinds[0].long_inv_freq[5] *= 2.0;
  const std::vector<Finding> found = diff(a, b);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].id, "diff-long-table");
  EXPECT_EQ(found[0].message,
            "all layers: frequency past the original length of pair 5 is 0.486967525 in the first "
            "and 0.97393505 in the second; the largest difference, x2");
}

}  // namespace
}  // namespace gyre::inspect
