// Decoders of tokenizer.json. The chain is applied to each token once, when the file is read; what
// acts on the whole text is the stripping of leading spaces alone.
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/model/tokenizer/byte_level.h"
#include "gyre/model/tokenizer/hf_parts.h"
#include "gyre/tensor/header_text.h"

namespace gyre::model {
namespace {

using Json = nlohmann::json;

void add_decoder(const Json& json, DecoderPart& part) {
  const std::string type = json.at("type").get<std::string>();
  if (type == "Sequence") {
    for (const Json& each : json.at("decoders")) {
      add_decoder(each, part);
    }
  } else if (type == "ByteLevel") {
    part.byte_level = true;
  } else if (type == "ByteFallback") {
    part.byte_fallback = true;
  } else if (type == "Replace" && json.at("pattern").contains("String")) {
    part.replacements.emplace_back(json.at("pattern").at("String").get<std::string>(),
                                   json.at("content").get<std::string>());
  } else if (type == "Metaspace") {
    part.replacements.emplace_back(json.at("replacement").get<std::string>(), " ");
    const bool prefix = json.value("add_prefix_space", true);
    part.strip_spaces =
        json.value("prepend_scheme", prefix ? "always" : "never") == std::string("never") ? 0 : 1;
  } else if (type == "Strip" && json.at("content") == " " && json.value("stop", 0) == 0) {
    part.strip_spaces = json.at("start").get<size_t>();
  } else if (type != "Fuse") {
    throw Error(Code::Format, "decoder of type '", tensor::printable(type),
                "' is not supported, or not with these settings; known: ByteFallback, ByteLevel, "
                "Fuse, Metaspace, Replace of a string, Sequence, Strip of leading spaces");
  }
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

DecoderPart read_decoder(const std::string& json) {
  const Json parsed = Json::parse(json);
  if (parsed.is_null()) {
    throw Error(Code::Format, "'decoder' is null: nothing says how tokens become text");
  }
  DecoderPart part;
  add_decoder(parsed, part);
  for (const auto& [from, to] : part.replacements) {
    if (from.empty()) {
      throw Error(Code::Format, "decoder Replace has an empty pattern");
    }
  }
  return part;
}

std::optional<int> fallback_byte(std::string_view token) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') {
    return std::nullopt;
  }
  const size_t high = kDigits.find(token[3]);
  const size_t low = kDigits.find(token[4]);
  if (high == std::string_view::npos || low == std::string_view::npos) {
    return std::nullopt;
  }
  return static_cast<int>(high * 16 + low);
}

std::string decoded_piece(const DecoderPart& decoder, const std::string& token) {
  if (decoder.byte_level) {
    return bytes_of_level(token).value_or(token);
  }
  if (const auto byte = fallback_byte(token); decoder.byte_fallback && byte) {
    return std::string(1, static_cast<char>(*byte));
  }
  std::string piece = token;
  for (const auto& [from, to] : decoder.replacements) {
    replace_all(piece, from, to);
  }
  return piece;
}

}  // namespace gyre::model
