// Helpers of the field cases: models written inline and read by the public calls alone, findings as
// text, published numbers compared to their last printed digit, formulas written out once more.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <string>
#include <vector>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/inspect/inspect.h"
#include "gyre/inspect/lint/rule.h"
#include "gyre/tensor/gguf_testing.h"

namespace gyre::inspect::cases {

using position::PairLayout;
using tensor::GgufBuilder;
using Layers = std::vector<int64_t>;

/// A config of one model type.
inline ResolvedModel config(const std::string& model_type, const std::string& more) {
  return resolve_config("{\"model_type\": \"" + model_type + "\", " + more + "}", "config.json");
}

/// A llama of 4 layers, 32 heads over 8 of 128 channels.
inline ResolvedModel llama(const std::string& more) {
  return config("llama", R"("hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 4,
      "num_key_value_heads": 8, )" +
                             more);
}

inline ResolvedModel fixture(const std::string& name) {
  const std::string path = GYRE_SOURCE_DIR "/src/gyre/inspect/testdata/" + name + ".json";
  return resolve_config(read_file(path), name);
}

/// A folder or file of this test alone, gone with it.
class Scratch {
 public:
  explicit Scratch(const std::string& name) {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              ("gyre-" + std::to_string(getpid()) + "-" + test->test_suite_name() + "-" +
               test->name() + "-" + name);
    std::filesystem::create_directories(folder_);
  }
  ~Scratch() { std::filesystem::remove_all(folder_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }

 private:
  std::filesystem::path folder_;
};

/// Written to a file and read as `gyre inspect FILE` does.
inline ResolvedModel read(const GgufBuilder& builder) {
  const Scratch scratch("gguf");
  return resolve(scratch.write("m.gguf", builder.bytes()));
}

/// A GGUF of 4 layers, 32 heads over 8 of 128 channels, base 1e4, as a converter writes llama's.
inline GgufBuilder gguf(const std::string& arch, uint32_t context, float base = 1e4F,
                        uint32_t head_dim = 128, uint32_t n_layers = 4, uint32_t n_heads = 32) {
  GgufBuilder builder;
  builder.text("general.architecture", arch)
      .u32(arch + ".block_count", n_layers)
      .u32(arch + ".embedding_length", n_heads * head_dim)
      .u32(arch + ".context_length", context)
      .u32(arch + ".attention.head_count", n_heads)
      .u32(arch + ".attention.head_count_kv", 8)
      .f32(arch + ".rope.freq_base", base);
  return builder;
}

inline const LayerKind& kind(const ResolvedModel& model, const std::string& name) {
  for (const LayerKind& one : model.kinds) {
    if (one.name == name) {
      return one;
    }
  }
  throw Error(Code::Internal, "no layer kind '", name, "'");
}
inline const LayerKind& only(const ResolvedModel& model) {
  EXPECT_EQ(model.kinds.size(), 1U);
  return model.kinds.at(0);
}
inline double band(const LayerKind& kind, size_t m) {
  return kind.plan.inv_freq.at(0).at(m);
}

/// `actual` printed with as many digits as `published` has.
inline std::string printed(double actual, const std::string& published) {
  const size_t end = std::min(published.find('e'), published.size());
  const size_t point = std::min(published.find('.'), end - 1);
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, end < published.size() ? "%.*e" : "%.*f",
                static_cast<int>(end - point - 1), actual);
  return buffer;
}
inline void expect_printed(double actual, const std::string& published) {
  EXPECT_EQ(printed(actual, published), published);
}
inline void expect_near(double actual, double expected, double relative = 1e-12) {
  EXPECT_NEAR(actual, expected, std::abs(expected) * relative);
}

/// b^(-2m/width), by hand.
inline double plain(size_t m, double base, double width) {
  return std::exp(-2.0 * static_cast<double>(m) / width * std::log(base));
}
/// The pair that turns `turns` times inside `original` tokens, arXiv:2309.00071 sec. 3.2.
inline double yarn_place(double turns, double base, double width, double original) {
  return width / 2.0 * std::log(original / (2.0 * std::numbers::pi * turns)) / std::log(base);
}
/// YaRN's frequency of a pair between two ends.
inline double yarn_band(size_t m, double base, double width, double factor, double low,
                        double high) {
  const double place = (static_cast<double>(m) - low) / (high - low);
  const double share = place < 0.0 ? 0.0 : place > 1.0 ? 1.0 : place;
  return plain(m, base, width) * (1.0 - share + share / factor);
}
/// Llama 3.1's frequency, with its usual bounds of 1 and 4 turns inside 8192 tokens.
inline double llama3_band(size_t m, double base, double width, double factor) {
  const double f = plain(m, base, width);
  const double turns = 8192.0 * f / (2.0 * std::numbers::pi);
  const double kept = turns <= 1.0 ? 0.0 : turns >= 4.0 ? 1.0 : (turns - 1.0) / 3.0;
  return f * (kept + (1.0 - kept) / factor);
}
/// What a converter stores in rope_freqs.weight for it.
inline std::vector<float> llama3_divisors(size_t n_pairs, double factor) {
  std::vector<float> out;
  for (size_t m = 0; m < n_pairs; ++m) {
    const double width = 2.0 * static_cast<double>(n_pairs);
    out.push_back(static_cast<float>(plain(m, 5e5, width) / llama3_band(m, 5e5, width, factor)));
  }
  return out;
}

inline std::string name_of_severity(Severity severity) {
  return severity == Severity::Error ? "error" : severity == Severity::Warning ? "warning" : "note";
}
inline std::string line_of(const Finding& one) {
  return name_of_severity(one.severity) + " " + one.id + " " + one.key + " '" + one.found +
         "', expected '" + one.expected + "'\n";
}
/// Errors and warnings, one per line.
inline std::string loud(const std::vector<Finding>& findings) {
  std::string out;
  for (const Finding& one : findings) {
    out += one.severity == Severity::Note ? "" : line_of(one);
  }
  return out;
}
inline std::string loud(const ResolvedModel& model) {
  return loud(lint(model));
}
inline std::string of_rule(const std::vector<Finding>& findings, const std::string& id) {
  std::string out;
  for (const Finding& one : findings) {
    out += one.id == id ? line_of(one) : "";
  }
  return out;
}
/// What one rule of lint says about a model, one finding per line.
inline std::string told(const ResolvedModel& model, const std::string& id) {
  return of_rule(lint(model), id);
}
inline std::string messages(const std::vector<Finding>& findings, const std::string& id) {
  std::string out;
  for (const Finding& one : findings) {
    out += one.id == id ? one.message + "\n" : "";
  }
  return out;
}
inline void expect_says(const ResolvedModel& model, const std::string& id,
                        const std::string& words) {
  const std::string text = messages(lint(model), id);
  EXPECT_NE(text.find(words), std::string::npos) << id << " says: " << text;
}
inline void expect_contains(const std::string& text, const std::string& words) {
  EXPECT_NE(text.find(words), std::string::npos) << "'" << words << "' is not in: " << text;
}
/// Reason for which a key is listed as read by nobody; "" = it is not.
inline std::string ignored(const ResolvedModel& model, const std::string& key) {
  for (const IgnoredKey& one : model.ignored) {
    if (one.key == key) {
      return one.reason;
    }
  }
  return "";
}

}  // namespace gyre::inspect::cases
