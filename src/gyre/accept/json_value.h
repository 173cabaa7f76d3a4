// For .cpp files: JSON of strangers. Parsing is bounded in depth and size, reading never throws.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gyre::accept {

using Json = nlohmann::json;

/// Empty when the text is no JSON, not UTF-8, holds half a surrogate pair, is nested deeper than
/// 100 or has more than 3 million values; `why` then says which in words.
std::optional<Json> parse_json(std::string_view text, std::string* why = nullptr);

/// object[key]; null when there is none or `value` is no object.
const Json& at(const Json& value, const char* key);
/// A string; "" when it is none.
std::string text_at(const Json& value, const char* key);
/// A whole number, also written as 12.0 or "12"; empty when it is none or negative.
std::optional<int64_t> count_of(const Json& value);
inline std::optional<int64_t> count_at(const Json& value, const char* key) {
  return count_of(at(value, key));
}
std::optional<double> number_at(const Json& value, const char* key);

}  // namespace gyre::accept
