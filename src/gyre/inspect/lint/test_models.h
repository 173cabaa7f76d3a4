// Models for lint tests: from a config's text, by hand, as a GGUF; and one expectation per finding.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gyre/inspect/inspect.h"
#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {

/// A llama-shaped config of 4 layers: 32 heads of 128, base 10000, 4096 positions, with `more` keys
/// after these. A key given again in `more` counts as doubled, so leave it out by `without`.
inline std::string config_text(const std::string& more, const std::string& without = "") {
  const std::vector<std::pair<std::string, std::string>> keys = {
      {"model_type", "\"llama\""},  {"hidden_size", "4096"},
      {"num_hidden_layers", "4"},   {"num_attention_heads", "32"},
      {"num_key_value_heads", "8"}, {"max_position_embeddings", "4096"},
      {"rope_theta", "10000.0"},    {"vocab_size", "50000"}};
  std::string text;
  for (const auto& [name, value] : keys) {
    if ((" " + without + " ").find(" " + name + " ") == std::string::npos) {
      text += (text.empty() ? "{\"" : ", \"") + name + "\": " + value;
    }
  }
  return text + (more.empty() ? "" : ", " + more) + "}";
}

inline ResolvedModel config(const std::string& more, const std::string& without = "") {
  return resolve_config(config_text(more, without), "config.json");
}

/// A config with one rope_scaling block.
inline ResolvedModel scaled(const std::string& block, const std::string& more = "",
                            const std::string& without = "") {
  return config("\"rope_scaling\": {" + block + "}" + (more.empty() ? "" : ", " + more), without);
}

inline RawKey number_key(const std::string& path, double number) {
  RawKey key;
  key.path = path;
  key.type = RawType::Number;
  key.text = text_of(number);
  key.number = number;
  return key;
}

inline RawKey text_raw_key(const std::string& path, const std::string& text) {
  RawKey key;
  key.path = path;
  key.type = RawType::Text;
  key.text = text;
  return key;
}

/// One kind of rotating layers with the plain table of its base.
inline LayerKind rotating_kind(double base, int64_t head_dim, int64_t n_layers = 4) {
  LayerKind kind;
  kind.name = "all";
  for (int64_t i = 0; i < n_layers; ++i) {
    kind.layers.push_back(i);
  }
  kind.scheme = "rope";
  kind.n_heads = 32;
  kind.n_kv_heads = 8;
  kind.head_dim = head_dim;
  kind.rotary_dim = head_dim;
  kind.base = base;
  kind.layout = position::PairLayout::Halves;
  kind.plan.inv_freq = {plain_table(kind)};
  return kind;
}

/// A GGUF of `architecture` with metadata numbers, without reading a file.
inline ResolvedModel gguf(const std::string& architecture,
                          const std::vector<std::pair<std::string, double>>& numbers) {
  ResolvedModel model;
  model.source = SourceKind::Gguf;
  model.model_type = architecture;
  model.known_type = true;
  model.n_layers = 4;
  model.raw.add(text_raw_key("general.architecture", architecture));
  double base = 10000.0;
  for (const auto& [name, value] : numbers) {
    model.raw.add(number_key(architecture + "." + name, value));
    base = name == "rope.freq_base" ? value : base;
    model.max_length = name == "context_length" ? static_cast<int64_t>(value) : model.max_length;
  }
  model.kinds = {rotating_kind(base, 128)};
  return model;
}

inline const Rule& rule(const std::string& id) {
  const auto found =
      std::find_if(rules().begin(), rules().end(), [&id](const Rule& one) { return one.id == id; });
  if (found == rules().end()) {
    throw Error(Code::Internal, "no lint rule '", id, "'");
  }
  return *found;
}

inline std::string written(const std::vector<Finding>& findings) {
  std::string out;
  for (const Finding& one : findings) {
    out += str(one.severity == Severity::Error     ? "error "
               : one.severity == Severity::Warning ? "warning "
                                                   : "note ",
               one.id, " | ", one.key, " | ", one.found, " | ", one.expected, " | ", one.message,
               "\n");
  }
  return out;
}

/// The rule gives exactly these findings, each "severity id | key | found | expected | message".
inline void expect_findings(const std::string& id, const ResolvedModel& model,
                            const std::string& expected) {
  EXPECT_EQ(written(findings_of(rule(id), model)), expected);
}

inline void expect_silent(const std::string& id, const ResolvedModel& model) {
  EXPECT_EQ(written(findings_of(rule(id), model)), "");
}

}  // namespace gyre::inspect
