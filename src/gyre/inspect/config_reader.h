// Typed access to the keys of a config: marks what was read, says where each value came from,
// refuses sizes that no model has. Paths are relative to the part that describes the language model
// (text_config of a multimodal file).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gyre/inspect/architecture.h"
#include "gyre/inspect/resolved.h"

namespace gyre::inspect {

inline constexpr int64_t kMaxLength = int64_t{1} << 40;  // tokens
inline constexpr int64_t kMaxHeads = int64_t{1} << 20;
inline constexpr int64_t kMaxLayers = 100000;
inline constexpr int64_t kMaxHeadDim = 65536;

template <class T>
struct Found {
  T value{};
  Origin origin;
};

class ConfigReader {
 public:
  /// Finds the language model's part and its model_type. Error(Format) when the file is no model's
  /// config.
  ConfigReader(RawConfig& raw, std::string owner);

  const std::string& owner() const { return owner_; }
  const std::string& root() const { return root_; }  // "" or "text_config."
  const std::string& model_type() const { return model_type_; }
  const Architecture& rules() const { return *rules_; }
  bool known_type() const { return known_; }

  bool has(const std::string& path) const;      // present and not null
  bool is_null(const std::string& path) const;  // present and null: "none", said aloud
  /// Names of the members of an object, "" path = the root.
  std::vector<std::string> members(const std::string& path) const;

  std::optional<Found<double>> number(const std::string& path);
  std::optional<Found<bool>> flag(const std::string& path);
  std::optional<Found<std::string>> text(const std::string& path);
  const RawKey* list(const std::string& path);  // null when absent
  // The same for rope settings: a key of another type counts as absent, and lint says so.
  const RawKey* list_if(const std::string& path);
  const RawKey* text_if(const std::string& path);
  std::optional<Found<bool>> flag_if(const std::string& path);
  std::optional<Found<double>> setting(const std::string& path);
  /// A whole number in [least, most]; Error(Format) otherwise.
  std::optional<Found<int64_t>> size(const std::string& path, int64_t least = 1,
                                     int64_t most = kMaxLength);
  /// The first of several names for one size.
  std::optional<Found<int64_t>> size_of(const std::vector<std::string>& names, int64_t most);

  /// A value that the class or an assumption supplies.
  Origin default_origin() const;
  std::string full(const std::string& path) const { return root_ + path; }

 private:
  const RawKey* use(const std::string& path);
  Origin origin_of(const std::string& path) const;

  RawConfig* raw_;
  std::string owner_, root_, model_type_;
  const Architecture* rules_;
  bool known_ = false;
};

/// "131072", "0.25", "1e+30": reads back exactly.
std::string number_text(double value);
}  // namespace gyre::inspect
