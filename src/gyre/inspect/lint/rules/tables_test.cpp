// Rules about GGUF keys and stored tables.
#include <cmath>
#include <limits>

#include "gyre/inspect/lint/tables.h"
#include "gyre/inspect/lint/test_models.h"
#include "gyre/position/extension.h"

namespace gyre::inspect {
namespace {

constexpr const char* kName = "model.layers.0.self_attn.rotary_emb.inv_freq";

ResolvedModel with_table(const std::vector<double>& values, const std::string& dtype = "F32",
                         double base = 1e4, int64_t head_dim = 128, int64_t length = 4096) {
  ResolvedModel model;
  model.source = SourceKind::Folder;
  model.max_length = length;
  model.kinds = {rotating_kind(base, head_dim)};
  model.tables = {{kName, dtype, values}};
  return model;
}

std::vector<double> table(double base = 1e4, int64_t head_dim = 128) {
  return plain_table(rotating_kind(base, head_dim));
}

// llama3 divisors over a base of 500000, written out from the definition: pair k has wavelength w;
// 1 below 8192/4, `factor` above 8192, blended between.
std::vector<double> llama3_divisors(double factor) {
  std::vector<double> out;
  for (const double f : table(5e5)) {
    const double wave = 2.0 * 3.14159265358979323846 / f;
    const double t = (8192.0 / wave - 1.0) / 3.0;
    out.push_back(wave < 2048.0 ? 1.0 : wave > 8192.0 ? factor : 1.0 / ((1.0 - t) / factor + t));
  }
  return out;
}

// Case 20: f0 = 1, strictly decreasing.
TEST(LintTable, Unusable) {
  const auto message = [](const std::string& what) {
    return "stored frequency table is not usable: " + what +
           "; it must begin at 1 and fall, as after a load that left memory uninitialised; "
           "recompute it from the base";
  };
  const auto found = [](std::vector<double> values) {
    const std::vector<Finding> all = findings_of(rule("table-invalid"), with_table(values));
    return all.size() == 1 && all[0].severity == Severity::Error ? all[0].message
                                                                 : written(all) + " none";
  };
  std::vector<double> values = table();
  values[5] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(found(values), message("pair 5 is nan"));
  EXPECT_EQ(found(std::vector<double>(64, 0.0)), message("all 64 values are 0"));
  values = table();
  values[7] = values[6];
  EXPECT_EQ(found(values), message("pair 7 is 0.4216965034, not below pair 6 with 0.4216965034"));
  values = table();
  values[63] = -1e-3;
  EXPECT_EQ(found(values), message("pair 63 is -0.001, not above 0"));
  expect_silent("table-invalid", with_table(table()));
}

TEST(LintTable, AlikeTablesAreToldOnce) {
  ResolvedModel model = with_table(std::vector<double>(64, 0.0));
  for (int i = 1; i < 32; ++i) {
    model.tables.push_back(model.tables[0]);
  }
  const std::vector<Finding> found = findings_of(rule("table-invalid"), model);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].key, str(kName, " and 31 more"));
}

TEST(LintTable, KeysThatGiveAnUnusableTable) {
  ResolvedModel model;
  model.kinds = {rotating_kind(1e4, 8)};
  model.kinds[0].plan.inv_freq[0][2] = std::numeric_limits<double>::infinity();
  expect_findings(
      "table-invalid", model,
      "error table-invalid | all: frequencies | 1 | falling values above 0 | the file's "
      "keys give an unusable frequency table: pair 2 is inf; check base, factor and "
      "lists of divisors\n");
  model.kinds[0].plan.inv_freq[0] = {1.0, 0.1, 0.0, 0.0};  // slow pairs left unrotated
  expect_silent("table-invalid", model);
  model.kinds[0].plan.inv_freq[0] = {1.0, 0.1, 0.2, 0.01};  // learned
  model.source = SourceKind::Run;
  expect_silent("table-invalid", model);
}

TEST(LintTable, DifferentFromTheKeys) {
  expect_findings("table-mismatch", with_table(table(5e5)),
                  str("error table-mismatch | ", kName,
                      " | 2.455140791e-06 | 0.0001154781985 | stored frequency table differs from "
                      "what the keys give: pair 63 is 2.455140791e-06 instead of 0.0001154781985; "
                      "correct the keys or drop the table\n"));
}

TEST(LintTable, EqualUpToStorageIsSilent) {
  std::vector<double> values = table();
  for (double& f : values) {
    f = static_cast<double>(static_cast<float>(f));
  }
  expect_silent("table-mismatch", with_table(values));
  for (double& f : values) {
    f = round_to_bf16(f);
  }
  expect_silent("table-mismatch", with_table(values, "BF16"));
  expect_silent("table-mismatch", with_table(values));  // widened again
  // linear scaling that divides positions stores the table before extension
  ResolvedModel linear = with_table(table());
  for (double& f : linear.kinds[0].plan.inv_freq[0]) {
    f /= 8.0;
  }
  expect_silent("table-mismatch", linear);
  ResolvedModel vision = with_table(table(5e5));
  vision.tables[0].name = "visual.rotary_pos_emb.inv_freq";
  expect_silent("table-mismatch", vision);
}

// Case 18: bfloat16 frequencies alone at 4095 tokens: 5.009 rad at pair 1 (computed with Python's
// struct); with bfloat16 positions too 5.88 rad, float32 1.4e-4.
TEST(LintPrecision, StoredBf16Table) {
  std::vector<double> values = table();
  for (double& f : values) {
    f = round_to_bf16(f);
  }
  expect_findings("table-precision", with_table(values, "BF16"),
                  str("warning table-precision | ", kName,
                      " | bfloat16 | float32 | frequency table stored in bfloat16: phase error up "
                      "to 5.009 rad (pair 1) at position 4095; recompute it in float32\n"));
  expect_findings("table-precision", with_table(values, "F32"),
                  str("warning table-precision | ", kName,
                      " | bfloat16 | float32 | frequency table went through bfloat16: phase error "
                      "up to 5.009 rad (pair 1) at position 4095; recompute it in float32\n"));
  expect_silent("table-precision", with_table(table()));
}

TEST(LintPrecision, Bf16ModelIsANoteWithTheErrorOfACast) {
  ResolvedModel model = config(R"("torch_dtype": "bfloat16")");
  expect_findings("table-precision", model,
                  "note table-precision | dtype | bfloat16 |  | weights are bfloat16; frequencies "
                  "and positions must not follow: at position 4095 the phase error would be up to "
                  "5.876 rad (pair 1); keep them in float32\n");
  model.dtype = "float32";
  expect_silent("table-precision", model);
}

TEST(LintPrecision, PositionsOverflowFloat16) {
  ResolvedModel model = config(R"("torch_dtype": "float16", "max_position_embeddings": 131072)",
                               "max_position_embeddings");
  expect_findings(
      "table-precision", model,
      "note table-precision | dtype | float16 |  | weights are float16; frequencies and "
      "positions must not follow: at position 131071 the position itself would "
      "overflow; keep them in float32\n");
}

// Case 17: d = 32, b = 1e4, position 1857, pair 1: angle 1044.267854. numpy float16 as reference
// for the roundings; case 19: bfloat16 is exact up to 256 only.
TEST(LintPrecision, Roundings) {
  const std::vector<double> f = table(1e4, 32);
  EXPECT_NEAR(1857 * f[1], 1044.267854, 2e-5);
  EXPECT_EQ(round_to_fp16(round_to_fp16(1857) * round_to_fp16(f[1])), 1045.0);
  EXPECT_EQ(round_to_bf16(256), 256.0);
  EXPECT_EQ(round_to_bf16(257), 256.0);
  EXPECT_EQ(round_to_bf16(511), 512.0);
  EXPECT_EQ(round_to_bf16(513), 512.0);
  EXPECT_EQ(round_to_fp16(65519), 65504.0);
  EXPECT_TRUE(std::isinf(round_to_fp16(65520)));
  EXPECT_EQ(round_to_fp16(0x1p-25), 0.0);
  EXPECT_EQ(round_to_fp16(0x1.8p-24), 0x1p-23);
  EXPECT_LT(phase_error(table(), 4095, Half::None, true).rad, 1.4e-4);
}

// Case 40: 4096 rows, max 40960.
TEST(LintStoredTable, ShorterThanTheAdmittedLength) {
  ResolvedModel model = with_table({}, "F32", 1e4, 128, 40960);
  model.tables = {{"model.layers.0.self_attn.rotary_emb.cos_cached", "F32",
                   std::vector<double>(4096 * 128, 1.0)}};
  expect_findings(
      "stored-table-short", model,
      "error stored-table-short | model.layers.0.self_attn.rotary_emb.cos_cached | 4096 "
      "rows | 40960 rows | stored table has 4096 rows, but the file admits 40960 "
      "tokens: position 4096 has no angle; rebuild the table or lower the length\n");
  model.max_length = 4096;
  expect_silent("stored-table-short", model);
  model.max_length = 8192;  // or 8192 rows of one value per pair
  expect_silent("stored-table-short", model);
}

// Case 27.
TEST(LintGguf, Llama31WithoutItsTensor) {
  const std::vector<std::pair<std::string, double>> keys = {
      {"context_length", 131072}, {"rope.freq_base", 5e5}, {"vocab_size", 128256}};
  ResolvedModel model = gguf("llama", keys);
  expect_findings(
      "gguf-llama3-freqs", model,
      "error gguf-llama3-freqs | rope_freqs.weight | nothing | 64 values, the first 29 "
      "are 1, the last 29 are 8 | base 500000 and length 131072 as in Llama 3.1, but no "
      "rope_freqs.weight tensor; GGUF has no other way to say llama3 scaling, so long "
      "contexts degrade; convert again\n");
  model.tables = {{"rope_freqs.weight", "F32", llama3_divisors(8.0)}};
  expect_silent("gguf-llama3-freqs", model);
  expect_silent("rope-freqs", model);
  model.tables[0].values = llama3_divisors(32.0);  // Llama 3.2
  expect_silent("rope-freqs", model);
}

TEST(LintGguf, Llama3AndOthersNeedNoTensor) {
  expect_silent(
      "gguf-llama3-freqs",
      gguf("llama", {{"context_length", 8192}, {"rope.freq_base", 5e5}, {"vocab_size", 128256}}));
  expect_silent(
      "gguf-llama3-freqs",
      gguf("llama", {{"context_length", 131072}, {"rope.freq_base", 1e6}, {"vocab_size", 128256}}));
  const std::vector<Finding> longer = findings_of(
      rule("gguf-llama3-freqs"),
      gguf("llama", {{"context_length", 65536}, {"rope.freq_base", 5e5}, {"vocab_size", 128258}}));
  ASSERT_EQ(longer.size(), 1U);
  EXPECT_EQ(longer[0].severity, Severity::Warning);  // perhaps somebody's own extension
}

// Case 30.
TEST(LintGguf, RopeFreqsThatCannotBeRight) {
  ResolvedModel model =
      gguf("llama", {{"context_length", 131072}, {"rope.freq_base", 5e5}, {"vocab_size", 128256}});
  model.tables = {{"rope_freqs.weight", "F32", std::vector<double>(32, 1.0)}};
  expect_findings("rope-freqs", model,
                  "error rope-freqs | rope_freqs.weight | 32 | 64 | 'rope_freqs.weight' has 32 "
                  "divisors for 64 pairs\n");
  model.tables[0].values = std::vector<double>(64, 1.0);
  model.tables[0].values[3] = 0.0;
  expect_findings(
      "rope-freqs", model,
      "error rope-freqs | rope_freqs.weight | 0 | above 0 | 'rope_freqs.weight' value 3 "
      "is 0; divisors must be above 0\n");
  model.tables[0].values = llama3_divisors(4.0);
  expect_findings("rope-freqs", model,
                  "warning rope-freqs | rope_freqs.weight | 1 ... 4 | 1 ... 8 (Llama 3.1) or 1 ... "
                  "32 (Llama 3.2) | 'rope_freqs.weight' is not the llama3 table of factor 8 or 32 "
                  "that base 500000 points to\n");
}

TEST(LintGguf, DivisorsAndScalingKeysTogether) {
  ResolvedModel model = gguf("qwen2", {{"rope.scaling.factor", 4.0}});
  model.raw.add(text_raw_key("qwen2.rope.scaling.type", "linear"));
  model.tables = {{"rope_freqs.weight", "F32", llama3_divisors(8.0)}};
  expect_findings("rope-freqs", model,
                  "warning rope-freqs | rope_freqs.weight | divisors | one kind of scaling | "
                  "'rope_freqs.weight' divides frequencies and qwen2.rope.scaling.type is 'linear' "
                  "with factor 4; readers apply both\n");
}

TEST(LintGguf, ScalingKeys) {
  ResolvedModel model = gguf("qwen3moe", {{"context_length", 131072}});
  model.raw.add(text_raw_key("qwen3moe.rope.scaling.type", "yarn"));
  expect_findings(
      "gguf-scaling", model,
      "error gguf-scaling | qwen3moe.rope.scaling.factor | nothing | a value | rope "
      "scaling type 'yarn' without qwen3moe.rope.scaling.factor; nothing is scaled\n"
      "warning gguf-scaling | qwen3moe.rope.scaling.original_context_length | nothing | "
      "the length before extension | yarn without "
      "qwen3moe.rope.scaling.original_context_length; readers take context_length = "
      "131072 and put the ramp in the wrong place if that is the extended length\n");
  // Case 28, right.
  ResolvedModel good = gguf("qwen3moe", {{"context_length", 131072},
                                         {"rope.scaling.factor", 4},
                                         {"rope.scaling.original_context_length", 32768}});
  good.raw.add(text_raw_key("qwen3moe.rope.scaling.type", "yarn"));
  expect_silent("gguf-scaling", good);
}

TEST(LintGguf, ScalingTypes) {
  const auto model = [](const char* type) {
    ResolvedModel one = gguf("llama", {{"rope.scaling.factor", 8}});
    one.raw.add(text_raw_key("llama.rope.scaling.type", type));
    return one;
  };
  expect_findings("gguf-scaling", model("llama3"),
                  "error gguf-scaling | llama.rope.scaling.type | llama3 |  | GGUF has no rope "
                  "scaling type 'llama3'; it is stored as a rope_freqs.weight tensor\n");
  expect_findings("gguf-scaling", model("linera"),
                  "error gguf-scaling | llama.rope.scaling.type | linera | linear | GGUF has no "
                  "rope scaling type 'linera'; did you mean 'linear'?\n");
  expect_silent("gguf-scaling", model("none"));
  expect_silent("gguf-scaling", model("linear"));
}

}  // namespace
}  // namespace gyre::inspect
