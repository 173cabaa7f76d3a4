// Normalizers and pre-tokenizers of tokenizer.json.
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/model/tokenizer/hf_parts.h"
#include "gyre/tensor/header_text.h"

namespace gyre::model {
namespace {

using Json = nlohmann::json;

[[noreturn]] void unknown(const char* what, const std::string& type, const char* known) {
  throw Error(Code::Format, what, " of type '", tensor::printable(type),
              "' is not supported; known: ", known);
}

std::string type_of(const Json& json) {
  return json.at("type").get<std::string>();
}

void read_pattern(const Json& json, std::string& text, std::shared_ptr<const Regex>& regex) {
  if (json.contains("Regex")) {
    regex = std::make_shared<Regex>(json.at("Regex").get<std::string>());
  } else {
    text = json.at("String").get<std::string>();
  }
}

void add_normalizer(const Json& json, std::vector<NormalStep>& steps) {
  if (json.is_null()) {
    return;
  }
  const std::string type = type_of(json);
  if (type == "Sequence") {
    for (const Json& each : json.at("normalizers")) {
      add_normalizer(each, steps);
    }
    return;
  }
  NormalStep step;
  using Kind = NormalStep::Kind;
  if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") {
    step.kind = type == "NFC"    ? Kind::Nfc
                : type == "NFD"  ? Kind::Nfd
                : type == "NFKC" ? Kind::Nfkc
                                 : Kind::Nfkd;
  } else if (type == "Replace") {
    step.kind = Kind::Replace;
    read_pattern(json.at("pattern"), step.from, step.pattern);
    step.to = json.at("content").get<std::string>();
    if (step.pattern == nullptr && step.from.empty()) {
      throw Error(Code::Format, "normalizer Replace has an empty pattern");
    }
  } else if (type == "Prepend") {
    step.kind = Kind::Prepend;
    step.to = json.at("prepend").get<std::string>();
  } else if (type == "Strip") {
    step.kind = Kind::Strip;
    step.left = json.value("strip_left", true);
    step.right = json.value("strip_right", true);
  } else {
    unknown("normalizer", type, "NFC, NFD, NFKC, NFKD, Prepend, Replace, Sequence, Strip");
  }
  steps.push_back(std::move(step));
}

SplitStep::Behavior behavior_of(const std::string& name) {
  using Behavior = SplitStep::Behavior;
  constexpr std::pair<const char*, Behavior> kNames[] = {
      {"Removed", Behavior::Removed},
      {"Isolated", Behavior::Isolated},
      {"MergedWithPrevious", Behavior::MergedWithPrevious},
      {"MergedWithNext", Behavior::MergedWithNext},
      {"Contiguous", Behavior::Contiguous}};
  for (const auto& [known, behavior] : kNames) {
    if (name == known) {
      return behavior;
    }
  }
  unknown("Split behavior", name,
          "Contiguous, Isolated, MergedWithNext, MergedWithPrevious, Removed");
}

SplitStep split_by(const std::string& pattern, SplitStep::Behavior behavior, bool invert = false) {
  SplitStep step;
  step.pattern = std::make_shared<Regex>(pattern);
  step.behavior = behavior;
  step.invert = invert;
  return step;
}

SplitStep read_split(const Json& json) {
  SplitStep step;
  std::string text;
  read_pattern(json.at("pattern"), text, step.pattern);
  if (step.pattern == nullptr) {
    step.pattern = std::make_shared<Regex>(quote_pattern(text));
  }
  step.behavior = behavior_of(json.at("behavior").get<std::string>());
  step.invert = json.value("invert", false);
  return step;
}

SplitStep read_metaspace(const Json& json) {
  SplitStep step;
  step.kind = SplitStep::Kind::Metaspace;
  step.replacement = json.at("replacement").get<std::string>();
  if (step.replacement.empty()) {
    throw Error(Code::Format, "pre_tokenizer Metaspace has an empty replacement");
  }
  const std::string scheme =
      json.value("prepend_scheme", json.value("add_prefix_space", true) ? "always" : "never");
  if (scheme != "always" && scheme != "first" && scheme != "never") {
    unknown("Metaspace prepend_scheme", scheme, "always, first, never");
  }
  step.prepend = scheme == "always"  ? SplitStep::Prepend::Always
                 : scheme == "first" ? SplitStep::Prepend::First
                                     : SplitStep::Prepend::Never;
  step.split = json.value("split", true);
  return step;
}

void add_byte_level(const Json& json, PreTokenizerPart& part) {
  part.byte_level = true;
  if (json.value("add_prefix_space", true)) {
    SplitStep step;
    step.kind = SplitStep::Kind::SpacePrefix;
    part.steps.push_back(std::move(step));
  }
  if (json.value("use_regex", true)) {
    part.steps.push_back(split_by(kGpt2Pattern, SplitStep::Behavior::Isolated));
  }
}

void add_pre_tokenizer(const Json& json, PreTokenizerPart& part) {
  using Behavior = SplitStep::Behavior;
  if (json.is_null()) {
    return;
  }
  const std::string type = type_of(json);
  if (type == "Sequence") {
    for (const Json& each : json.at("pretokenizers")) {
      add_pre_tokenizer(each, part);
    }
    return;
  }
  if (part.byte_level) {
    throw Error(Code::Format, "pre_tokenizer '", type, "' after ByteLevel is not supported");
  }
  if (type == "Split") {
    part.steps.push_back(read_split(json));
  } else if (type == "ByteLevel") {
    add_byte_level(json, part);
  } else if (type == "Digits") {
    SplitStep step;
    step.kind = SplitStep::Kind::Digits;
    step.one_by_one = json.value("individual_digits", false);
    part.steps.push_back(std::move(step));
  } else if (type == "Metaspace") {
    part.steps.push_back(read_metaspace(json));
  } else if (type == "Whitespace") {
    part.steps.push_back(split_by(R"(\w+|[^\w\s]+)", Behavior::Removed, true));
  } else if (type == "WhitespaceSplit") {
    part.steps.push_back(split_by(R"(\s)", Behavior::Removed));
  } else {
    unknown("pre_tokenizer", type,
            "ByteLevel, Digits, Metaspace, Sequence, Split, Whitespace, WhitespaceSplit");
  }
}

}  // namespace

std::vector<NormalStep> read_normalizer(const std::string& json) {
  std::vector<NormalStep> steps;
  add_normalizer(Json::parse(json), steps);
  return steps;
}

PreTokenizerPart read_pre_tokenizer(const std::string& json) {
  PreTokenizerPart part;
  add_pre_tokenizer(Json::parse(json), part);
  return part;
}

}  // namespace gyre::model
