// A file's keys as they stand, flattened: "rope_scaling.factor" -> 4.0. Lint looks for misspelled,
// doubled and contradicting keys here; resolution marks what it used.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gyre::inspect {

enum class RawType { Null, Bool, Number, Text, List, Object };

struct RawKey {
  std::string path{};  // "rope_parameters.full_attention.rope_theta"
  RawType type = RawType::Null;
  std::string text{};                // text of a scalar as written; short form of lists and objects
  double number = 0.0;               // Number and Bool; NaN when it is none
  std::vector<double> numbers{};     // a list of numbers
  std::vector<std::string> texts{};  // a list of texts
  bool repeated = false;             // the same key stands twice in one object
  bool used = false;                 // resolution read it
};

class RawConfig {
 public:
  /// Throws Error(Format) naming `owner` on text that is no JSON object: truncated, nested deeper
  /// than 64 levels, not UTF-8, larger than 64 MiB. NaN and Infinity, which Python writes, are
  /// read.
  static RawConfig from_json(std::string_view text, const std::string& owner);

  void add(RawKey key);
  const RawKey* find(std::string_view path) const;  // null when absent
  /// find, and mark as used.
  const RawKey* use(std::string_view path);
  bool has(std::string_view path) const { return find(path) != nullptr; }
  const std::vector<RawKey>& keys() const { return keys_; }
  bool empty() const { return keys_.empty(); }

 private:
  std::vector<RawKey> keys_;
  std::unordered_map<std::string, size_t> index_;  // path -> place in keys_, the first of it
};

}  // namespace gyre::inspect
