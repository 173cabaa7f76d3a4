#include "gyre/inspect/config_reader.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "gyre/base/error.h"
#include "gyre/base/options.h"

namespace gyre::inspect {
namespace {

// Where multimodal configs keep their language model.
constexpr const char* kParts[] = {"text_config", "llm_config", "language_config",
                                  "thinker_config.text_config", "language_model"};
// One of these says that a file is a model's config.
constexpr const char* kMarks[] = {"model_type",   "hidden_size", "num_hidden_layers",
                                  "n_layer",      "n_layers",    "num_attention_heads",
                                  "n_head",       "d_model",     "rope_parameters",
                                  "rope_scaling", "rope_theta",  "head_dim"};

bool is_object(const RawConfig& raw, const std::string& path) {
  const RawKey* key = raw.find(path);
  return key != nullptr && key->type == RawType::Object;
}

bool is_model(const RawConfig& raw, const std::string& root) {
  return std::any_of(std::begin(kMarks), std::end(kMarks),
                     [&](const char* mark) { return raw.has(root + mark); });
}

std::string find_root(const RawConfig& raw, const std::string& owner) {
  for (const char* part : kParts) {
    const std::string root = std::string(part) + ".";
    if (is_object(raw, part) && is_model(raw, root)) {
      return root;
    }
  }
  if (!is_model(raw, "")) {
    throw Error(Code::Format, owner,
                ": no model's config; none of model_type, hidden_size, num_attention_heads, "
                "rope_parameters, rope_scaling is there");
  }
  return "";
}

const char* type_name(RawType type) {
  switch (type) {
    case RawType::Null:
      return "null";
    case RawType::Bool:
      return "true or false";
    case RawType::Number:
      return "a number";
    case RawType::Text:
      return "text";
    case RawType::List:
      return "a list";
    case RawType::Object:
      break;
  }
  return "an object";
}

[[noreturn]] void wrong_type(const std::string& owner, const RawKey& key, const char* expected) {
  throw Error(Code::Format, owner, ": ", key.path, " must be ", expected, ", found ",
              type_name(key.type), " (", key.text.substr(0, 60), ")");
}

}  // namespace

ConfigReader::ConfigReader(RawConfig& raw, std::string owner)
    : raw_(&raw), owner_(std::move(owner)), root_(find_root(raw, owner_)) {
  const auto own = text("model_type");
  const RawKey* whole = raw.find("model_type");
  model_type_ = own.has_value() ? own->value : whole != nullptr ? whole->text : "";
  std::transform(model_type_.begin(), model_type_.end(), model_type_.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const Architecture* found = find_architecture(model_type_);
  known_ = found != nullptr;
  rules_ = known_ ? found : &unknown_architecture();
}

bool ConfigReader::has(const std::string& path) const {
  const RawKey* key = path.empty() ? nullptr : raw_->find(full(path));
  return key != nullptr && key->type != RawType::Null;
}

bool ConfigReader::is_null(const std::string& path) const {
  const RawKey* key = path.empty() ? nullptr : raw_->find(full(path));
  return key != nullptr && key->type == RawType::Null;
}

std::vector<std::string> ConfigReader::members(const std::string& path) const {
  const std::string prefix = path.empty() ? root_ : full(path) + ".";
  std::vector<std::string> names;
  for (const RawKey& key : raw_->keys()) {
    if (key.path.starts_with(prefix) && key.path.find('.', prefix.size()) == std::string::npos) {
      names.push_back(key.path.substr(prefix.size()));
    }
  }
  return names;
}

const RawKey* ConfigReader::use(const std::string& path) {
  if (path.empty()) {
    return nullptr;
  }
  const RawKey* key = raw_->use(full(path));
  return key == nullptr || key->type == RawType::Null ? nullptr : key;
}

Origin ConfigReader::origin_of(const std::string& path) const {
  const bool nested = path.find('.') != std::string::npos || !root_.empty();
  return {nested ? OriginKind::NestedKey : OriginKind::Key, full(path)};
}

std::optional<Found<double>> ConfigReader::number(const std::string& path) {
  const RawKey* key = use(path);
  if (key == nullptr) {
    return std::nullopt;
  }
  if (key->type != RawType::Number) {
    wrong_type(owner_, *key, "a number");
  }
  return Found<double>{key->number, origin_of(path)};
}

std::optional<Found<double>> ConfigReader::setting(const std::string& path) {
  const RawKey* key = path.empty() ? nullptr : raw_->find(full(path));
  return key != nullptr && key->type == RawType::Number ? number(path) : std::nullopt;
}

std::optional<Found<bool>> ConfigReader::flag(const std::string& path) {
  const RawKey* key = use(path);
  if (key == nullptr) {
    return std::nullopt;
  }
  if (key->type != RawType::Bool && key->type != RawType::Number) {
    wrong_type(owner_, *key, "true or false");
  }
  return Found<bool>{key->number != 0.0, origin_of(path)};
}

std::optional<Found<std::string>> ConfigReader::text(const std::string& path) {
  const RawKey* key = use(path);
  if (key == nullptr) {
    return std::nullopt;
  }
  if (key->type != RawType::Text) {
    wrong_type(owner_, *key, "text");
  }
  return Found<std::string>{key->text, origin_of(path)};
}

const RawKey* ConfigReader::list(const std::string& path) {
  const RawKey* key = use(path);
  if (key != nullptr && key->type != RawType::List) {
    wrong_type(owner_, *key, "a list");
  }
  return key;
}

const RawKey* ConfigReader::text_if(const std::string& path) {
  const RawKey* key = path.empty() ? nullptr : raw_->find(full(path));
  return key != nullptr && key->type == RawType::Text ? use(path) : nullptr;
}

std::optional<Found<bool>> ConfigReader::flag_if(const std::string& path) {
  const RawKey* key = path.empty() ? nullptr : raw_->find(full(path));
  return key != nullptr && key->type == RawType::Bool ? flag(path) : std::nullopt;
}

const RawKey* ConfigReader::list_if(const std::string& path) {
  const RawKey* key = path.empty() ? nullptr : raw_->find(full(path));
  return key != nullptr && key->type == RawType::List ? list(path) : nullptr;
}

std::optional<Found<int64_t>> ConfigReader::size(const std::string& path, int64_t least,
                                                 int64_t most) {
  const auto found = number(path);
  if (!found.has_value()) {
    return std::nullopt;
  }
  const double value = found->value;
  if (!(value >= static_cast<double>(least) && value <= static_cast<double>(most)) ||
      value != std::floor(value)) {
    throw Error(Code::Format, owner_, ": ", full(path), " must be a whole number from ", least,
                " to ", most, ", got ", number_text(value));
  }
  return Found<int64_t>{static_cast<int64_t>(value), found->origin};
}

std::optional<Found<int64_t>> ConfigReader::size_of(const std::vector<std::string>& names,
                                                    int64_t most) {
  for (const std::string& name : names) {
    if (auto found = size(name, 1, most); found.has_value()) {
      return found;
    }
  }
  return std::nullopt;
}

Origin ConfigReader::default_origin() const {
  return known_ ? Origin{OriginKind::ClassDefault, rules_->reader}
                : Origin{OriginKind::Assumed, "model type not known"};
}

std::string number_text(double value) {
  // 1000000 rather than 1e+06
  return value == std::floor(value) && std::abs(value) < 1e15
             ? std::to_string(static_cast<int64_t>(value))
             : detail::format(value);
}

}  // namespace gyre::inspect
