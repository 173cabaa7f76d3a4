// Typed access to a GGUF's metadata: notes what was read, says where each value came from, refuses
// numbers that no model has. Names are relative to the architecture: "rope.freq_base" is read from
// "llama.rope.freq_base".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gyre/inspect/resolved.h"
#include "gyre/tensor/gguf.h"

namespace gyre::inspect {

template <class T>
struct GgufFound {
  T value{};
  Origin origin;
};

class GgufKeys {
 public:
  /// Fills raw with every key. Error(Format) when general.architecture is missing or the file holds
  /// no language model.
  GgufKeys(const tensor::GgufFile& file, std::string owner, RawConfig& raw);

  const std::string& owner() const { return owner_; }
  const std::string& architecture() const { return architecture_; }
  std::string full(const std::string& name) const { return architecture_ + "." + name; }

  /// Error(Format) when it is no number or not finite.
  std::optional<GgufFound<double>> number(const std::string& name);
  /// A number that must lie in [least, most].
  std::optional<GgufFound<double>> number(const std::string& name, double least, double most);
  /// A whole number in [least, most].
  std::optional<GgufFound<int64_t>> size(const std::string& name, int64_t least, int64_t most);
  std::optional<GgufFound<std::string>> text(const std::string& name);
  /// One number for all layers, or a list with one entry per layer; whole, in [0, most].
  std::optional<GgufFound<std::vector<int64_t>>> per_layer(const std::string& name,
                                                           int64_t n_layers, int64_t most);
  bool is_list(const std::string& name) const;
  /// Counts the key as read; false when it is absent.
  bool mark(const std::string& name) { return use(name) != nullptr; }

 private:
  const tensor::GgufFile& file_;
  std::string owner_;
  RawConfig& raw_;
  std::string architecture_;

  const tensor::GgufValue* use(const std::string& name);
  [[noreturn]] void refuse(const std::string& name, const std::string& found,
                           const std::string& expected) const;
};

/// "131072", "0.25": as few digits as read back exactly in the type the file stores.
std::string gguf_number_text(const tensor::GgufValue& value);

/// Keys about positions that nothing above read, and why.
std::vector<IgnoredKey> ignored_gguf_keys(const RawConfig& raw, const std::string& architecture);

}  // namespace gyre::inspect
