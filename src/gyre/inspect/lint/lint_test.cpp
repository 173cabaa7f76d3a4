// The whole list: published configs stay silent, the false bugs stay silent, docs/lint.md names
// every rule. GYRE_WRITE_GOLDEN=1 writes docs/lint.md anew.
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "gyre/base/files.h"
#include "gyre/inspect/lint/test_models.h"

namespace gyre::inspect {
namespace {

using Json = nlohmann::json;

std::string loud(const ResolvedModel& model) {
  std::vector<Finding> found = lint(model);
  std::erase_if(found, [](const Finding& one) { return one.severity == Severity::Note; });
  return written(found);
}

TEST(Lint, PublishedConfigsGiveNoErrorOrWarning) {
  const std::string path =
      str(GYRE_SOURCE_DIR, "/src/gyre/inspect/lint/testdata/", "published_configs.json");
  const Json list = Json::parse(read_file(path));
  EXPECT_GE(list.size(), 50U);
  int n_unchecked = 0;
  for (const auto& [name, entry] : list.items()) {
    const ResolvedModel model = resolve_config(entry.at("config").dump(), name);
    EXPECT_EQ(loud(model), "") << name;
    EXPECT_FALSE(entry.at("source").get<std::string>().empty()) << name;
    n_unchecked += entry.at("checked").get<bool>() ? 0 : 1;
  }
  EXPECT_EQ(n_unchecked, 11) << "entries that no public copy confirms; count them when it changes";
}

TEST(Lint, ConfigsOfTheInspectTestsGiveNoErrorOrWarning) {
  for (const char* name : {"deepseek-v3", "gemma-3-4b", "gemma-4", "gpt-oss-20b", "llama-3.1-8b",
                           "phi-3-mini-128k", "phi-4-mini", "qwen2.5-7b-yarn", "smollm3"}) {
    const std::string path = str(GYRE_SOURCE_DIR, "/src/gyre/inspect/testdata/", name, ".json");
    EXPECT_EQ(loud(resolve_config(read_file(path), name)), "") << name;
  }
}

// Case 1: exactly the block that other loaders refuse.
TEST(Lint, Llama31BlockIsAccepted) {
  EXPECT_EQ(loud(resolve_config(
                R"({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
                    "num_hidden_layers": 2, "max_position_embeddings": 131072,
                    "rope_theta": 500000.0, "rope_scaling": {"rope_type": "llama3", "factor": 8,
                    "low_freq_factor": 1, "high_freq_factor": 4,
                    "original_max_position_embeddings": 8192}})",
                "c")),
            "");
}

// Case 26: interleaved and halves of DeepSeek differ by a permutation of both sides.
TEST(Lint, DeepSeekInterleavingIsNoFault) {
  for (const char* flag : {"true", "false"}) {
    EXPECT_EQ(loud(resolve_config(str(R"({"model_type": "deepseek_v3", "num_hidden_layers": 2,
                      "rope_theta": 10000, "max_position_embeddings": 163840,
                      "qk_rope_head_dim": 64, "rope_interleave": )",
                                      flag, R"(, "rope_scaling": {"type": "yarn", "factor": 40,
                      "mscale": 1.0, "mscale_all_dim": 1.0, "beta_fast": 32, "beta_slow": 1,
                      "original_max_position_embeddings": 4096}})"),
                                  "c")),
              "");
  }
}

TEST(Lint, ErrorsComeFirst) {
  const std::vector<Finding> found = lint(
      scaled(R"("type": "yarn", "factor": 4.0, "betafast": 32)", R"("torch_dtype": "bfloat16")"));
  ASSERT_GE(found.size(), 3U);
  EXPECT_EQ(found.front().severity, Severity::Error);
  EXPECT_EQ(found.back().severity, Severity::Note);
  for (size_t i = 1; i < found.size(); ++i) {
    EXPECT_GE(found[i - 1].severity, found[i].severity);
  }
}

TEST(Lint, HostileAndEmptyModelsAreSurvived) {
  EXPECT_EQ(written(lint(ResolvedModel{})), "");
  for (const char* text : {"{}", R"({"rope_scaling": {}})", R"({"rope_parameters": {"a": {}}})",
                           R"({"rope_scaling": {"type": null, "factor": 1e999, "a.b": {"c": 1}}})",
                           R"({"num_hidden_layers": 1e300, "no_rope_layers": [1, NaN],
                               "rope_scaling": {"type": "yarn", "factor": NaN,
                               "original_max_position_embeddings": Infinity}})",
                           R"({"rope_scaling": {"type": "dynamic", "factor": Infinity},
                               "max_position_embeddings": Infinity, "sliding_window": NaN})"}) {
    ResolvedModel model;
    try {
      model.raw = RawConfig::from_json(text, "c");
    } catch (const Error&) {
      continue;  // refused before lint
    }
    model.kinds = {rotating_kind(1e4, 64)};
    for (const Finding& one : lint(model)) {
      EXPECT_FALSE(one.id.empty());
      EXPECT_FALSE(one.message.empty());
    }
  }
}

TEST(Lint, RulesHaveUniqueIdsAndEveryField) {
  std::set<std::string> ids;
  for (const Rule& one : rules()) {
    EXPECT_TRUE(ids.insert(one.id).second) << one.id;
    EXPECT_FALSE(one.why.empty() || one.fix.empty() || one.source.empty()) << one.id;
    EXPECT_EQ(one.id.find('_'), std::string::npos) << one.id;
  }
  EXPECT_EQ(ids.size(), 55U);
}

const char* severity_name(Severity severity) {
  return severity == Severity::Error ? "error" : severity == Severity::Warning ? "warning" : "note";
}

std::string rules_page() {
  std::string text =
      "# Lint rules\n\n"
      "`gyre inspect` checks what it reads against this list. An *error* is certain and makes the "
      "exit code 1; a *warning* is\nlikely a fault; a *note* is legal, but readers are known to "
      "disagree about it. The severity given is that of most findings\nof a rule, single ones may "
      "be milder or, where the text says so, worse. This page is made from the rules:\n"
      "`GYRE_WRITE_GOLDEN=1 inspect_test --gtest_filter='Lint.*'`; a test keeps the two equal. To "
      "add a rule: a file in\n`src/gyre/inspect/lint/rules/`, a line in `rules.def`, a test that "
      "fires and one that does not.\n\n"
      "| rule | severity | what goes wrong | what to do | source |\n|---|---|---|---|---|\n";
  for (const Rule& one : rules()) {
    text += str("| `", one.id, "` | ", severity_name(one.severity), " | ", one.why, " | ", one.fix,
                " | ", one.source, " |\n");
  }
  return text;
}

TEST(Lint, PageOfRulesIsUpToDate) {
  const std::string path = str(GYRE_SOURCE_DIR, "/docs/lint.md");
  if (std::getenv("GYRE_WRITE_GOLDEN") != nullptr) {
    std::ofstream(path) << rules_page();
  }
  EXPECT_TRUE(read_file(path) == rules_page())
      << "docs/lint.md is out of date; run with GYRE_WRITE_GOLDEN=1";
}

}  // namespace
}  // namespace gyre::inspect
