#include "gyre/model/load/config_keys.h"

#include <cmath>

#include "gyre/base/error.h"
#include "gyre/tensor/header_text.h"

namespace gyre::model {

using inspect::RawKey;
using inspect::RawType;

ConfigKeys::ConfigKeys(const inspect::ResolvedModel& model)
    : raw_(model.raw), owner_(model.path), gguf_(model.source == inspect::SourceKind::Gguf) {
  const RawKey* part = raw_.find("text_config");
  root_ = gguf_                                              ? model.model_type + "."
          : part != nullptr && part->type == RawType::Object ? "text_config."
                                                             : "";
}

double ConfigKeys::number(const std::string& name, double absent) const {
  const RawKey* key = find(name);
  if (key == nullptr || key->type == RawType::Null) {
    return absent;
  }
  if (key->type != RawType::Number || !std::isfinite(key->number)) {
    wrong(*key, "a finite number");
  }
  return key->number;
}

int64_t ConfigKeys::size(const std::string& name, int64_t absent) const {
  constexpr int64_t kMost = 1000000000;
  const double value = number(name, static_cast<double>(absent));
  if (!(value >= 1 && value <= static_cast<double>(kMost)) || value != std::floor(value)) {
    wrong(*find(name), str("a whole number from 1 to ", kMost));
  }
  return static_cast<int64_t>(value);
}

double ConfigKeys::cap(const std::string& name, double by_class) const {
  if (name.empty()) {
    return 0.0;
  }
  const RawKey* key = find(name);
  const bool null = key != nullptr && key->type == RawType::Null;
  const double value = null ? 0.0 : number(name, by_class);
  if (value < 0) {
    wrong(*key, "a cap above 0 or null");
  }
  return value;
}

bool ConfigKeys::flag(const std::string& name, bool absent) const {
  const RawKey* key = name.empty() ? nullptr : find(name);
  if (key == nullptr || key->type == RawType::Null) {
    return absent;
  }
  if (key->type != RawType::Bool) {
    wrong(*key, "true or false");
  }
  return key->number != 0.0;
}

std::string ConfigKeys::text(const std::string& name, const std::string& absent) const {
  const RawKey* key = find(name);
  if (key == nullptr || key->type == RawType::Null) {
    return absent;
  }
  if (key->type != RawType::Text) {
    wrong(*key, "a text");
  }
  return key->text;
}

bool ConfigKeys::tied(bool by_class) const {
  const RawKey* whole = raw_.find("tie_word_embeddings");
  return whole != nullptr && whole->type == RawType::Bool ? whole->number != 0.0
                                                          : flag("tie_word_embeddings", by_class);
}

void ConfigKeys::wrong(const RawKey& key, const std::string& expected) const {
  throw Error(Code::Format, owner_, ": ", key.path, " must be ", expected, ", found ",
              tensor::printable(key.text));
}

}  // namespace gyre::model
