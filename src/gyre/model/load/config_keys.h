// Keys of the language model's part of a config.json, or of a GGUF's architecture, each of the type
// it must have.
#pragma once

#include <string>

#include "gyre/inspect/resolved.h"

namespace gyre::model {

class ConfigKeys {
 public:
  /// Borrows the model.
  explicit ConfigKeys(const inspect::ResolvedModel& model);

  bool gguf() const { return gguf_; }
  const std::string& owner() const { return owner_; }
  const inspect::RawKey* find(const std::string& name) const { return raw_.find(full(name)); }
  /// The key's whole name: "llama.context_length", "text_config.hidden_size".
  std::string full(const std::string& name) const { return root_ + name; }

  /// Error(Format) on another type. `absent` when the key is not there or null.
  double number(const std::string& name, double absent) const;
  int64_t size(const std::string& name, int64_t absent) const;
  bool flag(const std::string& name, bool absent) const;
  std::string text(const std::string& name, const std::string& absent) const;
  /// A soft cap: null says none, absence the class default.
  double cap(const std::string& name, double by_class) const;
  /// The whole model's word goes before its language part's.
  bool tied(bool by_class) const;

  [[noreturn]] void wrong(const inspect::RawKey& key, const std::string& expected) const;

 private:
  const inspect::RawConfig& raw_;
  std::string owner_, root_;
  bool gguf_;
};

}  // namespace gyre::model
