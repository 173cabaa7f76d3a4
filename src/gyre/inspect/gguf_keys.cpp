#include "gyre/inspect/gguf_keys.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "gyre/base/error.h"
#include "gyre/base/options.h"
#include "gyre/tensor/header_text.h"

namespace gyre::inspect {
namespace {

using tensor::GgufType;
using tensor::GgufValue;

constexpr size_t kMaxShownText = 200;

RawKey raw_key(const std::string& path, const GgufValue& value) {
  RawKey key{.path = path, .number = std::numeric_limits<double>::quiet_NaN()};
  if (value.type == GgufType::String) {
    key.type = RawType::Text;
    key.text = value.text.size() <= kMaxShownText ? value.text : str(value.count, " bytes of text");
  } else if (value.type == GgufType::Array) {
    key.type = RawType::List;
    key.text = str("[", value.count, value.item == GgufType::String ? " texts]" : " numbers]");
    key.numbers = value.numbers;
  } else {
    key.type = value.type == GgufType::Bool ? RawType::Bool : RawType::Number;
    key.number = value.number;
    key.text = gguf_number_text(value);
  }
  return key;
}

bool is_whole(double value) {
  return std::isfinite(value) && value == std::trunc(value);
}

// Endings of "ARCH.attention.*" that say nothing about positions.
constexpr std::string_view kOtherAttentionKeys[] = {"layer_norm_epsilon",
                                                    "layer_norm_rms_epsilon",
                                                    "group_norm_epsilon",
                                                    "group_norm_groups",
                                                    "clamp_kqv",
                                                    "q_lora_rank",
                                                    "kv_lora_rank",
                                                    "decay_lora_rank",
                                                    "iclr_lora_rank",
                                                    "gate_lora_rank",
                                                    "value_length",
                                                    "value_length_mla",
                                                    "value_length_swa",
                                                    "output_scale",
                                                    "shared_kv_layers",
                                                    "causal",
                                                    "relative_buckets_count",
                                                    "value_residual_mix_lora_rank"};

bool about_positions(std::string_view name) {
  if (name.starts_with("rope.")) {
    return true;
  }
  if (!name.starts_with("attention.") || name.starts_with("attention.indexer.")) {
    return false;
  }
  name.remove_prefix(std::string_view("attention.").size());
  return std::find(std::begin(kOtherAttentionKeys), std::end(kOtherAttentionKeys), name) ==
         std::end(kOtherAttentionKeys);
}

}  // namespace

std::string gguf_number_text(const GgufValue& value) {
  if (value.type == GgufType::Bool) {
    return value.number != 0 ? "true" : "false";
  }
  if (value.type != GgufType::F32 || !std::isfinite(value.number)) {
    return detail::format(value.number);
  }
  // 0.1 as a float, not the 0.10000000149011612 that it is as a double.
  std::array<char, 32> buffer{};
  const auto result =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), static_cast<float>(value.number));
  return {buffer.data(), result.ptr};
}

GgufKeys::GgufKeys(const tensor::GgufFile& file, std::string owner, RawConfig& raw)
    : file_(file), owner_(std::move(owner)), raw_(raw) {
  for (const auto& [key, value] : file.metadata()) {
    raw_.add(raw_key(key, value));
  }
  architecture_ = file.text("general.architecture", "");
  raw_.use("general.architecture");
  if (architecture_.empty()) {
    throw Error(Code::Format, owner_, ": no general.architecture, so this is no model's GGUF");
  }
  if (!tensor::is_name(architecture_) || architecture_.size() > 64) {
    throw Error(Code::Format, owner_, ": general.architecture '", tensor::printable(architecture_),
                "' is no name");
  }
  const auto type = file.metadata().find("general.type");
  const bool other = type != file.metadata().end() && type->second.type == GgufType::String &&
                     type->second.text != "model";
  if (other || architecture_ == "clip") {
    throw Error(Code::Format, owner_, ": holds ",
                other ? "a '" + tensor::printable(type->second.text) + "'" : "an image encoder",
                ", not a language model; give the model's own GGUF");
  }
}

const GgufValue* GgufKeys::use(const std::string& name) {
  const auto found = file_.metadata().find(full(name));
  if (found == file_.metadata().end()) {
    return nullptr;
  }
  raw_.use(found->first);
  return &found->second;
}

void GgufKeys::refuse(const std::string& name, const std::string& found,
                      const std::string& expected) const {
  throw Error(Code::Format, owner_, ": ", full(name), " is ", found, ", expected ", expected);
}

std::optional<GgufFound<double>> GgufKeys::number(const std::string& name) {
  return number(name, -std::numeric_limits<double>::max(), std::numeric_limits<double>::max());
}

std::optional<GgufFound<double>> GgufKeys::number(const std::string& name, double least,
                                                  double most) {
  const GgufValue* value = use(name);
  if (value == nullptr) {
    return std::nullopt;
  }
  const double number = file_.number(full(name), 0.0);
  if (!(number >= least && number <= most)) {
    const bool any = least == -std::numeric_limits<double>::max();
    refuse(name, gguf_number_text(*value),
           any ? "a finite number"
               : str("a number from ", detail::format(least), " to ", detail::format(most)));
  }
  return GgufFound<double>{number, {OriginKind::Key, full(name)}};
}

std::optional<GgufFound<int64_t>> GgufKeys::size(const std::string& name, int64_t least,
                                                 int64_t most) {
  const GgufValue* value = use(name);
  if (value == nullptr) {
    return std::nullopt;
  }
  const double number = file_.number(full(name), 0.0);
  if (!is_whole(number) || number < static_cast<double>(least) ||
      number > static_cast<double>(most)) {
    refuse(name, gguf_number_text(*value), str("a whole number from ", least, " to ", most));
  }
  return GgufFound<int64_t>{static_cast<int64_t>(number), {OriginKind::Key, full(name)}};
}

std::optional<GgufFound<std::string>> GgufKeys::text(const std::string& name) {
  if (use(name) == nullptr) {
    return std::nullopt;
  }
  return GgufFound<std::string>{file_.text(full(name), ""), {OriginKind::Key, full(name)}};
}

bool GgufKeys::is_list(const std::string& name) const {
  const auto found = file_.metadata().find(full(name));
  return found != file_.metadata().end() && found->second.type == GgufType::Array;
}

std::optional<GgufFound<std::vector<int64_t>>> GgufKeys::per_layer(const std::string& name,
                                                                   int64_t n_layers, int64_t most) {
  if (!is_list(name)) {
    const auto one = size(name, 0, most);
    if (!one.has_value()) {
      return std::nullopt;
    }
    return GgufFound<std::vector<int64_t>>{
        std::vector<int64_t>(static_cast<size_t>(n_layers), one->value), one->origin};
  }
  const GgufValue* value = use(name);
  if (value->numbers.size() < static_cast<size_t>(n_layers)) {
    refuse(name, str("a list of ", value->count, value->item == GgufType::String ? " texts" : ""),
           str(n_layers, " numbers, one per layer"));
  }
  GgufFound<std::vector<int64_t>> out{{}, {OriginKind::Key, full(name)}};
  for (int64_t i = 0; i < n_layers; ++i) {
    const double number = value->numbers[static_cast<size_t>(i)];
    if (!is_whole(number) || number < 0 || number > static_cast<double>(most)) {
      refuse(name, str(detail::format(number), " for layer ", i),
             str("a whole number from 0 to ", most));
    }
    out.value.push_back(static_cast<int64_t>(number));
  }
  return out;
}

std::vector<IgnoredKey> ignored_gguf_keys(const RawConfig& raw, const std::string& architecture) {
  std::vector<IgnoredKey> out;
  for (const RawKey& key : raw.keys()) {
    const size_t dot = key.path.find('.');
    if (key.used || dot == std::string::npos) {
      continue;
    }
    const std::string prefix = key.path.substr(0, dot);
    const std::string name = key.path.substr(dot + 1);
    // "llama.rope.freq_base" or "rope.freq_base", in whatever file.
    if (prefix == architecture
            ? about_positions(name)
            : prefix == "rope" ||
                  (prefix != "tokenizer" && prefix != "general" && name.starts_with("rope."))) {
      out.push_back({key.path, key.text,
                     prefix == architecture
                         ? str("llama.cpp does not read it for ", architecture)
                         : str("a ", architecture, " file is read under ", architecture, ".")});
    }
  }
  return out;
}

}  // namespace gyre::inspect
