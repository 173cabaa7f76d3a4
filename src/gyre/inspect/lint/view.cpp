#include "gyre/inspect/lint/view.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "gyre/position/schemes/common.h"

namespace gyre::inspect {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Parts of multimodal configs that hold the language model.
constexpr std::array<const char*, 5> kTextScopes = {"thinker_config.text_config.", "text_config.",
                                                    "llm_config.", "language_config.", ""};

bool is_text_scope(std::string_view scope) {
  return std::find(kTextScopes.begin(), kTextScopes.end(), scope) != kTextScopes.end();
}

bool is_other_tower(std::string_view path) {
  for (const char* word : {"vision", "audio", "visual", "image", "speech", "encoder_config"}) {
    if (path.find(word) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

// "a.b" is a child of "a" and "a.b.c" is not; "\." is part of a name.
bool is_child(std::string_view path, std::string_view parent) {
  if (path.size() <= parent.size() + 1 || !path.starts_with(parent) || path[parent.size()] != '.') {
    return false;
  }
  for (size_t i = parent.size() + 1; i < path.size(); ++i) {
    if (path[i] == '.' && path[i - 1] != '\\') {
      return false;
    }
  }
  return true;
}

RopeBlock read_block(const RawConfig& raw, const std::string& path) {
  RopeBlock block;
  block.path = path;
  for (const RawKey& key : raw.keys()) {
    if (key.type != RawType::Object && is_child(key.path, path)) {
      block.keys.push_back(&key);
    }
  }
  for (const char* name : {"rope_type", "type"}) {
    const RawKey* key = block.find(name);
    if (key != nullptr && key->type == RawType::Text) {
      block.spelled = key->text;
      break;
    }
  }
  block.type = canonical_type(block.spelled);
  return block;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

Finding finding(Severity severity, std::string key, std::string found, std::string expected,
                std::string message) {
  Finding result;
  result.severity = severity;
  result.key = std::move(key);
  result.found = std::move(found);
  result.expected = std::move(expected);
  result.message = std::move(message);
  return result;
}

}  // namespace

const RawKey* RopeBlock::find(std::string_view name) const {
  for (const RawKey* key : keys) {
    if (last_part(key->path) == name) {
      return key->type == RawType::Null ? nullptr : key;
    }
  }
  return nullptr;
}

double RopeBlock::number(std::string_view name) const {
  return key_number(find(name));
}

std::vector<RopeBlock> rope_blocks(const ResolvedModel& model) {
  std::vector<RopeBlock> blocks;
  for (const RawKey& key : model.raw.keys()) {
    const std::string name = last_part(key.path);
    if (key.type != RawType::Object || (name != "rope_scaling" && name != "rope_parameters") ||
        is_other_tower(key.path) ||
        !is_text_scope(std::string_view(key.path).substr(0, key.path.size() - name.size()))) {
      continue;
    }
    std::vector<RopeBlock> found;
    for (const RawKey& child : model.raw.keys()) {
      if (child.type == RawType::Object && is_child(child.path, key.path)) {
        found.push_back(read_block(model.raw, child.path));
        found.back().kind = last_part(child.path);
      }
    }
    if (found.empty()) {
      found.push_back(read_block(model.raw, key.path));
    }
    for (RopeBlock& block : found) {
      block.scope = key.path.substr(0, key.path.size() - name.size());
      block.parameters = name == "rope_parameters";
      blocks.push_back(std::move(block));
    }
  }
  return blocks;
}

std::vector<const LayerKind*> kinds_of(const ResolvedModel& model, const RopeBlock& block) {
  std::vector<const LayerKind*> result;
  for (const LayerKind& kind : model.kinds) {
    if (kind.rotary_dim > 0 && kind.base > 0.0 && (block.kind.empty() || kind.name == block.kind)) {
      result.push_back(&kind);
    }
  }
  return result;
}

const RawKey* beside(const ResolvedModel& model, const RopeBlock& block, std::string_view name) {
  for (const std::string& scope : {block.scope, std::string()}) {
    const RawKey* key = model.raw.find(scope + std::string(name));
    if (key != nullptr && key->type != RawType::Null) {
      return key;
    }
  }
  return nullptr;
}

const RawKey* text_key(const ResolvedModel& model, std::string_view name) {
  for (const char* scope : kTextScopes) {
    const RawKey* key = model.raw.find(scope + std::string(name));
    if (key != nullptr && key->type != RawType::Null) {
      return key;
    }
  }
  return nullptr;
}

double text_number(const ResolvedModel& model, std::string_view name) {
  return key_number(text_key(model, name));
}

double original_length(const ResolvedModel& model, const RopeBlock& block) {
  const double own = block.number("original_max_position_embeddings");
  return std::isnan(own) ? key_number(beside(model, block, "original_max_position_embeddings"))
                         : own;
}

double max_length(const ResolvedModel& model) {
  for (const char* name : {"max_position_embeddings", "n_positions", "seq_length", "max_seq_len",
                           "max_sequence_length"}) {
    const double value = text_number(model, name);
    if (!std::isnan(value)) {
      return value;
    }
  }
  return kNone;
}

const RawKey* gguf_key(const ResolvedModel& model, std::string_view name) {
  if (model.source != SourceKind::Gguf) {
    return nullptr;
  }
  return model.raw.find(model.model_type + "." + std::string(name));
}

double gguf_number(const ResolvedModel& model, std::string_view name) {
  return key_number(gguf_key(model, name));
}

std::string canonical_type(std::string_view name) {
  static const std::vector<std::pair<std::string, std::string>> kAliases = {
      {"su", "longrope"},   {"deepseek_yarn", "yarn"}, {"telechat3-yarn", "yarn"},
      {"mrope", "default"}, {"xdrope", "dynamic"},     {"mllama4", "llama3"},
      {"none", "default"},  {"dynamic_ntk", "dynamic"}};
  for (const auto& [alias, type] : kAliases) {
    if (name == alias) {
      return type;
    }
  }
  return std::string(name);
}

const std::vector<std::string>& rope_types() {
  static const std::vector<std::string> kTypes = {"default",  "linear", "dynamic",     "yarn",
                                                  "longrope", "llama3", "proportional"};
  return kTypes;
}

bool is_near(std::string_view a, std::string_view b, size_t most) {
  const std::string x = lower(a);
  const std::string y = lower(b);
  std::vector<size_t> row(y.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) {
    row[j] = j;
  }
  for (size_t i = 1; i <= x.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= y.size(); ++j) {
      const size_t edit = diagonal + (x[i - 1] == y[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({edit, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row[y.size()] <= most && row[y.size()] < std::max<size_t>(x.size(), 1);
}

std::string last_part(std::string_view path) {
  for (size_t i = path.size(); i-- > 0;) {
    if (path[i] == '.' && (i == 0 || path[i - 1] != '\\')) {
      return std::string(path.substr(i + 1));
    }
  }
  return std::string(path);
}

double key_number(const RawKey* key) {
  return key != nullptr && key->type == RawType::Number ? key->number : kNone;
}

std::string digits(double value, int count) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.*g", count, value);
  return buffer.data();
}

std::string text_of(double value) {
  return is_whole(value) && std::abs(value) < 1e15 ? std::to_string(static_cast<int64_t>(value))
                                                   : detail::format(value);
}

bool is_whole(double value) {
  return std::isfinite(value) && value == std::floor(value);
}

std::vector<double> plain_table(const LayerKind& kind) {
  return position::geometric_bands(kind.base, kind.n_pairs(), kind.rotary_dim);
}

namespace {

// Keeps `bits` significant bits, ties to even; `least` = exponent of the smallest step.
double round_to_bits(double value, int bits, int least) {
  if (value == 0.0 || !std::isfinite(value)) {
    return value;
  }
  const int step = std::max(std::ilogb(value) - bits + 1, least);
  return std::ldexp(std::nearbyint(std::ldexp(value, -step)), step);
}

}  // namespace

double round_to_bf16(double value) {
  return round_to_bits(value, 8, -133);
}

double round_to_fp16(double value) {
  const double rounded = round_to_bits(value, 11, -24);
  return std::abs(rounded) > 65504.0 ? std::copysign(std::numeric_limits<double>::infinity(), value)
                                     : rounded;
}

Finding error(std::string key, std::string found, std::string expected, std::string message) {
  return finding(Severity::Error, std::move(key), std::move(found), std::move(expected),
                 std::move(message));
}

Finding warning(std::string key, std::string found, std::string expected, std::string message) {
  return finding(Severity::Warning, std::move(key), std::move(found), std::move(expected),
                 std::move(message));
}

Finding note(std::string key, std::string found, std::string expected, std::string message) {
  return finding(Severity::Note, std::move(key), std::move(found), std::move(expected),
                 std::move(message));
}

std::vector<Finding> findings_of(const Rule& rule, const ResolvedModel& model) {
  std::vector<Finding> found = rule.check(model);
  for (Finding& one : found) {
    one.id = rule.id;
  }
  return found;
}

}  // namespace gyre::inspect
