#include "gyre/accept/json_value.h"

#include <charconv>
#include <cmath>

namespace gyre::accept {

namespace {

constexpr int64_t kMostDepth = 100, kMostValues = 3'000'000;

/// What the parser would need for it, counted before it begins. "" = bearable.
const char* excess(std::string_view text) {
  int64_t depth = 0, values = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      i += c == '\\' ? 1 : 0;
      quoted = c != '"';
      continue;
    }
    quoted = c == '"';
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    values += c == ',' || c == '[' || c == '{' ? 1 : 0;
    if (depth > kMostDepth) {
      return "JSON nested deeper than 100";
    }
    if (values > kMostValues) {
      return "JSON of more than 3 million values";
    }
  }
  return "";
}

}  // namespace

std::optional<Json> parse_json(std::string_view text, std::string* why) {
  const std::string too_much = excess(text);
  if (!too_much.empty()) {
    if (why != nullptr) {
      *why = too_much;
    }
    return std::nullopt;
  }
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    if (why != nullptr) {
      const std::string words = error.what();  // "[json.exception...] parse error ...: why"
      const size_t from = words.find("] ");
      *why = "not JSON: " + (from == std::string::npos ? words : words.substr(from + 2, 160));
    }
    return std::nullopt;
  }
}

const Json& at(const Json& value, const char* key) {
  static const Json none;
  if (!value.is_object()) {
    return none;
  }
  const auto found = value.find(key);
  return found == value.end() ? none : *found;
}

std::string text_at(const Json& value, const char* key) {
  const Json& found = at(value, key);
  return found.is_string() ? found.get<std::string>() : "";
}

std::optional<int64_t> count_of(const Json& value) {
  constexpr double kMost = 1e15;
  double number = -1;
  if (value.is_number()) {
    number = value.get<double>();
  } else if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (fault != std::errc() || end != text.data() + text.size()) {
      return std::nullopt;
    }
  }
  if (!(number >= 0 && number <= kMost) || number != std::floor(number)) {
    return std::nullopt;
  }
  return static_cast<int64_t>(number);
}

std::optional<double> number_at(const Json& value, const char* key) {
  const Json& found = at(value, key);
  return found.is_number() ? std::optional(found.get<double>()) : std::nullopt;
}

}  // namespace gyre::accept
