// Rules about keys of the rope block: names, types, places, doubles.
#include "gyre/inspect/lint/test_models.h"

namespace gyre::inspect {
namespace {

constexpr const char* kYarn =
    R"("rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024)";

// Case 47: "yarm" is accepted by transformers with a log line.
TEST(LintRopeType, MisspelledTypeIsAnErrorWithTheNearestName) {
  expect_findings("rope-type-unknown", scaled(R"("rope_type": "yarm", "factor": 4.0)"),
                  "error rope-type-unknown | rope_scaling.rope_type | yarm | yarn | unknown rope "
                  "type 'yarm'; did you mean 'yarn'?\n");
}

TEST(LintRopeType, OldKeyAndNestedBlocksAreRead) {
  expect_findings("rope-type-unknown", scaled(R"("type": "YaRN", "factor": 4.0)"),
                  "error rope-type-unknown | rope_scaling.type | YaRN | yarn | unknown rope type "
                  "'YaRN'; did you mean 'yarn'?\n");
  expect_findings(
      "rope-type-unknown",
      resolve_config(R"({"model_type": "gemma3_text", "num_hidden_layers": 1,
        "layer_types": ["full_attention"], "rope_parameters": {"full_attention":
        {"rope_type": "liner", "factor": 8.0, "rope_theta": 1000000.0}}})",
                     "config.json"),
      "error rope-type-unknown | rope_parameters.full_attention.rope_type | liner | linear | "
      "unknown rope type 'liner'; did you mean 'linear'?\n");
}

TEST(LintRopeType, ForeignTypeIsAWarning) {
  expect_findings("rope-type-unknown",
                  config(R"("model_type": "mine", "rope_scaling": {"rope_type": "helix",
                             "factor": 4.0})",
                         "model_type"),
                  "warning rope-type-unknown | rope_scaling.rope_type | helix |  | unknown rope "
                  "type 'helix'; transformers reads default, linear, dynamic, yarn, longrope, "
                  "llama3, proportional\n");
  expect_findings("rope-type-unknown",
                  scaled(R"("rope_type": "yarn2", "factor": 4.0)",
                         R"("auto_map": {"AutoConfig": "configuration_x.XConfig"})"),
                  "warning rope-type-unknown | rope_scaling.rope_type | yarn2 | yarn | unknown "
                  "rope type 'yarn2'; did you mean 'yarn'?\n");
}

TEST(LintRopeType, KnownTypesAndAliasesAreSilent) {
  for (const char* type : {"default", "linear", "dynamic", "yarn", "longrope", "llama3", "su",
                           "proportional", "mrope", "deepseek_yarn"}) {
    ResolvedModel model;
    model.raw = RawConfig::from_json(str(R"({"rope_scaling": {"type": ")", type, R"("}})"), "c");
    expect_silent("rope-type-unknown", model);
  }
  expect_silent("rope-type-unknown", config(R"("rope_scaling": null)"));
  expect_silent("rope-type-unknown", config(R"("vision_config": {"rope_scaling": {"type": "x"}})"));
}

// Case 6: an alias of yarn, max position already extended.
TEST(LintRopeType, AliasNamesTheTypeAndTheUsableLength) {
  expect_findings("rope-type-alias",
                  scaled(R"("type": "deepseek_yarn", "factor": 40,
                            "original_max_position_embeddings": 4096)",
                         R"("max_position_embeddings": 131072)", "max_position_embeddings"),
                  "note rope-type-alias | rope_scaling.type | deepseek_yarn | yarn | "
                  "'deepseek_yarn' is another name of 'yarn'; the usable length stays 131072, not "
                  "5242880 as in a reader that does not know the name\n");
  expect_silent("rope-type-alias", scaled(kYarn));
}

TEST(LintRopeType, TwoTypesThatDisagree) {
  expect_findings("rope-type-conflict",
                  scaled(R"("rope_type": "yarn", "type": "linear", "factor": 4.0)"),
                  "warning rope-type-conflict | rope_scaling.type | linear | yarn | rope_type is "
                  "'yarn' and type is 'linear'; newer readers take rope_type, older ones type; "
                  "keep one\n");
  expect_silent("rope-type-conflict", scaled(R"("rope_type": "default", "type": "mrope")"));
}

// Case 47.
TEST(LintRopeKeys, MisspelledKeyIsAnErrorWithTheNearestName) {
  expect_findings("rope-key-unknown", scaled(R"("rope_type": "linear", "facter": 2.0)"),
                  "error rope-key-unknown | rope_scaling.facter | facter | factor | unknown key "
                  "'facter' in rope_scaling; did you mean 'factor'?\n");
}

TEST(LintRopeKeys, MisspelledKeyInNewerBlockAndAnotherFamily) {
  expect_findings(
      "rope-key-unknown",
      resolve_config(R"({"model_type": "qwen3", "rope_parameters": {"rope_type": "yarn",
        "factor": 4.0, "beta_fastt": 32, "rope_theta": 1000000.0}})",
                     "config.json"),
      "error rope-key-unknown | rope_parameters.beta_fastt | beta_fastt | beta_fast | unknown key "
      "'beta_fastt' in rope_parameters; did you mean 'beta_fast'?\n");
}

TEST(LintRopeKeys, ForeignKeyIsAWarning) {
  expect_findings("rope-key-unknown", scaled(R"("rope_type": "default", "zzz": 1)"),
                  "warning rope-key-unknown | rope_scaling.zzz | zzz |  | unknown key 'zzz' in "
                  "rope_scaling; no known key is near\n");
  expect_silent("rope-key-unknown", scaled(kYarn));
}

TEST(LintRopeKeys, MissingKeysAreNamed) {
  expect_findings("rope-key-missing", scaled(R"("type": "linear")"),
                  "error rope-key-missing | rope_scaling.factor | nothing | a value | rope type "
                  "'linear' needs 'factor' in rope_scaling, found none; add it\n");
  expect_findings("rope-key-missing",
                  scaled(R"("rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                            "original_max_position_embeddings": 1024)"),
                  "error rope-key-missing | rope_scaling.high_freq_factor | nothing | a value | "
                  "rope type 'llama3' needs 'high_freq_factor' in rope_scaling, found none; add "
                  "it\n");
  expect_silent("rope-key-missing", scaled(kYarn));
  expect_silent("rope-key-missing", scaled(R"("type": "dynamic", "alpha": 1000.0)"));
}

TEST(LintRopeKeys, FactorWithoutATypeScalesNothing) {
  expect_findings("rope-key-unused", scaled(R"("factor": 4.0)"),
                  "error rope-key-unused | rope_scaling.factor | 4.0 | a rope_type beside it | "
                  "factor 4.0 without a rope_type; no reader scales anything; add \"rope_type\"\n");
  expect_findings("rope-key-unused", scaled(R"("rope_type": "default", "factor": 4.0)"),
                  "warning rope-key-unused | rope_scaling.factor | 4.0 | 1 | factor 4.0 has no "
                  "effect with rope type 'default'; name the scaling or delete the factor\n");
}

TEST(LintRopeKeys, KeyOfAnotherTypeIsANote) {
  expect_findings("rope-key-unused",
                  scaled(R"("rope_type": "linear", "factor": 2.0, "low_freq_factor": 1.0)"),
                  "note rope-key-unused | rope_scaling.low_freq_factor | 1.0 |  | "
                  "'low_freq_factor' has no effect with rope type 'linear'; llama3 reads it\n");
  expect_silent("rope-key-unused", scaled(R"("rope_type": "default", "factor": 1.0)"));
  expect_silent("rope-key-unused", scaled(kYarn));
}

TEST(LintRopeKeys, NumbersInQuotes) {
  ResolvedModel model;
  model.raw = RawConfig::from_json(
      R"({"rope_scaling": {"type": "linear", "factor": "4.0", "attention_factor": true}})", "c");
  expect_findings("rope-value-type", model,
                  "error rope-value-type | rope_scaling.factor | 4.0 | a number | 'factor' must be "
                  "a number, found the text '4.0'\nerror rope-value-type | "
                  "rope_scaling.attention_factor | true | a number | 'attention_factor' must be a "
                  "number, found true\n");
  expect_silent("rope-value-type", scaled(R"("type": "yarn", "factor": 4.0, "mscale": null)"));
}

TEST(LintRopeKeys, TwoBlocksThatDisagree) {
  ResolvedModel model;
  model.raw = RawConfig::from_json(R"({"rope_scaling": {"type": "linear", "factor": 4.0},
      "rope_parameters": {"rope_type": "linear", "factor": 8.0, "rope_theta": 10000.0}})",
                                   "c");
  expect_findings(
      "rope-block-double", model,
      "warning rope-block-double | rope_scaling.factor | 4.0 | 8.0 | "
      "rope_scaling.factor is 4.0 and rope_parameters.factor is 8.0; transformers takes "
      "rope_scaling whenever it is not empty; keep one block\n");
  model.raw = RawConfig::from_json(R"({"rope_scaling": {"type": "linear", "factor": 4.0},
      "rope_parameters": {"rope_type": "linear", "factor": 4.0}})",
                                   "c");
  expect_silent("rope-block-double", model);
}

TEST(LintRopeKeys, BlocksOfUnmatchedKinds) {
  ResolvedModel model;
  model.raw = RawConfig::from_json(R"({"layer_types": ["full_attention", "sliding_attention"],
      "rope_parameters": {"full_atention": {"rope_theta": 1e6},
                          "sliding_attention": {"rope_theta": 1e4}}})",
                                   "c");
  expect_findings("rope-kind-unmatched", model,
                  "error rope-kind-unmatched | rope_parameters.full_atention | full_atention | "
                  "full_attention | no layer is of kind 'full_atention'; did you mean "
                  "'full_attention'?\n");
  model.raw = RawConfig::from_json(R"({"layer_types": ["full_attention", "sliding_attention"],
      "rope_parameters": {"sliding_attention": {"rope_theta": 1e4}}})",
                                   "c");
  expect_findings("rope-kind-unmatched", model,
                  "error rope-kind-unmatched | rope_parameters | nothing | full_attention | layers "
                  "of kind 'full_attention' have no block in rope_parameters; add one, or null for "
                  "no rotation\n");
  model.raw = RawConfig::from_json(R"({"layer_types": ["full_attention", "sliding_attention"],
      "rope_parameters": {"full_attention": null, "sliding_attention": {"rope_theta": 1e4}}})",
                                   "c");
  expect_silent("rope-kind-unmatched", model);
}

TEST(LintRopeKeys, DoubledKey) {
  expect_findings("duplicate-key", config(R"("rope_theta": 500000.0)"),
                  "error duplicate-key | rope_theta | two values | one value | 'rope_theta' stands "
                  "twice in one object; Python keeps the last, 500000.0; other readers keep the "
                  "first or stop; delete one\n");
  const std::vector<Finding> other =
      findings_of(rule("duplicate-key"), config(R"("use_cache": true, "use_cache": true)"));
  ASSERT_EQ(other.size(), 1U);
  EXPECT_EQ(other[0].severity, Severity::Warning);
  // the same name in two objects is none
  expect_silent("duplicate-key", config(R"("rope_scaling": {"rope_theta": 10000.0})"));
}

TEST(LintThetaPlace, TwoValuesAreAnError) {
  expect_findings(
      "theta-place",
      config(R"("rope_parameters": {"rope_type": "default", "rope_theta": 500000.0})"),
      "error theta-place | rope_parameters.rope_theta | 500000.0 | 10000.0 | rope_theta "
      "is 10000.0 at rope_theta and 500000.0 at rope_parameters.rope_theta; "
      "transformers v5 takes the one in rope_parameters, v4 and many converters the "
      "other; make them equal\n");
  expect_silent("theta-place",
                config(R"("rope_parameters": {"rope_type": "default", "rope_theta": 10000})"));
}

TEST(LintThetaPlace, NestedAloneIsSeenByOneGeneration) {
  expect_findings(
      "theta-place",
      config(R"("rope_parameters": {"rope_type": "default", "rope_theta": 500000.0})",
             "rope_theta"),
      "note theta-place | rope_parameters.rope_theta | 500000.0 |  | rope_theta stands in "
      "rope_parameters alone; a v4 reader does not look there and uses its class default instead "
      "of "
      "500000.0\n");
  expect_findings(
      "theta-place",
      config(R"("rope_scaling": {"type": "linear", "factor": 2, "rope_theta": 500000.0})",
             "rope_theta"),
      "warning theta-place | rope_scaling.rope_theta | 500000.0 |  | rope_theta stands in "
      "rope_scaling alone; a v4 reader does not look there and uses its class default instead of "
      "500000.0; write it beside rope_scaling\n");
}

TEST(LintThetaPlace, OuterValueMayBeOfOneLayerKind) {
  const char* text = R"({"rope_theta": 1000000.0, "rope_parameters": {
      "full_attention": {"rope_theta": 1000000.0}, "sliding_attention": {"rope_theta": 10000.0}}})";
  ResolvedModel model;
  model.raw = RawConfig::from_json(text, "c");
  expect_silent("theta-place", model);
}

TEST(LintBase, MustBeAboveOne) {
  ResolvedModel model;
  model.raw = RawConfig::from_json(R"({"rope_theta": "1e6", "rope_local_base_freq": 0,
      "rope_parameters": {"rope_theta": NaN}, "vision_config": {"hidden_size": 4}})",
                                   "c");
  expect_findings("base-invalid", model,
                  "error base-invalid | rope_theta | 1e6 | a number above 1 | base must be a "
                  "number above 1, found 1e6\n"
                  "error base-invalid | rope_local_base_freq | 0 | a number above 1 | base must be "
                  "a number above 1, found 0\n"
                  "error base-invalid | rope_parameters.rope_theta | NaN | a number above 1 | base "
                  "must be a number above 1, found NaN\n");
  expect_silent("base-invalid", config(""));
}

}  // namespace
}  // namespace gyre::inspect
