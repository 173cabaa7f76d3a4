// Helpers of the inspect tests: fixtures of testdata/, configs written inline, one kind by name.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/inspect/inspect.h"
#include "gyre/inspect/spectrum.h"

namespace gyre::inspect::testing {

inline std::filesystem::path fixture_path(const std::string& name) {
  return std::filesystem::path(GYRE_SOURCE_DIR) / "src/gyre/inspect/testdata" / name;
}

inline ResolvedModel fixture(const std::string& name) {
  return resolve_config(read_file(fixture_path(name)), name);
}

inline ResolvedModel from_text(const std::string& text) {
  return resolve_config(text, "config.json");
}

inline const LayerKind& kind(const ResolvedModel& model, const std::string& name) {
  for (const LayerKind& one : model.kinds) {
    if (one.name == name) {
      return one;
    }
  }
  ADD_FAILURE() << "no layer kind '" << name << "'";
  return model.kinds.at(0);
}

inline double band(const LayerKind& kind, size_t m) {
  return bands_of(kind).at(m);
}

/// Published numbers are given with nine or ten digits.
inline void expect_close(double actual, double expected, double relative = 5e-9) {
  EXPECT_NEAR(actual, expected, std::abs(expected) * relative);
}

inline std::string origin_of(const ResolvedModel& model, const LayerKind& kind,
                             const std::string& field) {
  for (const auto* list : {&kind.origins, &model.origins}) {
    for (const Provenance& one : *list) {
      if (one.field == field) {
        return one.origin.where;
      }
    }
  }
  return "";
}

/// Reason for which a key is listed as ignored; "" = it is not.
inline std::string ignored_reason(const ResolvedModel& model, const std::string& key) {
  for (const IgnoredKey& one : model.ignored) {
    if (one.key == key) {
      return one.reason;
    }
  }
  return "";
}

inline std::string fault_of(const std::string& text) {
  try {
    from_text(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::Format);
    return error.what();
  }
  return "";
}

}  // namespace gyre::inspect::testing
