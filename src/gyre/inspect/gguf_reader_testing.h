// What tests of the GGUF reader share: small files of any architecture, and the float64 tables of
// position/testdata/frequency_tables.json, made by an independent program.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/inspect/header_readers.h"
#include "gyre/position/scheme.h"
#include "gyre/tensor/gguf_testing.h"

namespace gyre::inspect {

using position::PairLayout;
using tensor::GgufBuilder;

/// Keys of a model of 4 layers, 8 heads over 2, and the given head dim.
inline GgufBuilder model_of(const std::string& arch, uint32_t head_dim = 128,
                            uint32_t n_layers = 4) {
  GgufBuilder builder;
  builder.text("general.architecture", arch)
      .u32(arch + ".block_count", n_layers)
      .u32(arch + ".embedding_length", 8 * head_dim)
      .u32(arch + ".context_length", 131072)
      .u32(arch + ".attention.head_count", 8)
      .u32(arch + ".attention.head_count_kv", 2);
  return builder;
}

inline ResolvedModel resolved(const GgufBuilder& builder) {
  const std::string bytes = builder.bytes();
  return resolve_gguf(tensor::gguf_of(bytes), "m.gguf");
}

inline std::string message(const GgufBuilder& builder) {
  try {
    resolved(builder);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::Format);
    return error.what();
  }
  return "";
}

inline const Provenance* origin(const std::vector<Provenance>& list, const std::string& field) {
  for (const Provenance& each : list) {
    if (each.field == field) {
      return &each;
    }
  }
  return nullptr;
}

inline nlohmann::json table(const std::string& name) {
  static const auto all = nlohmann::json::parse(
      read_file(GYRE_SOURCE_DIR "/src/gyre/position/testdata/frequency_tables.json"));
  for (const auto& each : all.at("tables")) {
    if (each.at("model") == name) {
      return each;
    }
  }
  throw Error(Code::Internal, "no table ", name);
}

inline void expect_table(const LayerKind& kind, const std::string& name, double rtol = 1e-12) {
  const auto expected = table(name).at("inv_freq").get<std::vector<double>>();
  ASSERT_EQ(kind.plan.inv_freq.size(), 1U);
  ASSERT_EQ(kind.plan.inv_freq[0].size(), expected.size()) << name;
  for (size_t m = 0; m < expected.size(); ++m) {
    EXPECT_NEAR(kind.plan.inv_freq[0][m], expected[m], rtol * expected[m]) << name << " pair " << m;
  }
}

inline std::vector<float> divisors_of(const std::string& name) {
  const nlohmann::json entry = table(name);
  return entry.contains("gguf_divisors") ? entry.at("gguf_divisors").get<std::vector<float>>()
                                         : std::vector<float>(entry.at("inv_freq").size(), 1.0F);
}

/// The spec rebuilds the plan.
inline void expect_rebuilt(const LayerKind& kind, double rtol = 1e-12) {
  position::PlanRequest request{.n_layers = 1,
                                .n_heads = kind.n_heads,
                                .n_kv_heads = kind.n_kv_heads,
                                .head_dim = kind.head_dim};
  const auto plan = position::make_scheme(kind.spec)->plan(request);
  EXPECT_EQ(plan.layout, kind.layout) << kind.spec;
  EXPECT_NEAR(plan.layers[0].amplitude, kind.plan.amplitude, 1e-9) << kind.spec;
  ASSERT_EQ(plan.layers[0].inv_freq.size() > 0, kind.plan.inv_freq.size() > 0) << kind.spec;
  if (kind.plan.inv_freq.empty()) {
    return;
  }
  ASSERT_EQ(plan.layers[0].inv_freq[0].size(), kind.plan.inv_freq[0].size()) << kind.spec;
  for (size_t m = 0; m < plan.layers[0].inv_freq[0].size(); ++m) {
    const double f = plan.layers[0].inv_freq[0][m];
    EXPECT_NEAR(kind.plan.inv_freq[0][m], f, rtol * f) << kind.spec << " pair " << m;
  }
}

}  // namespace gyre::inspect
