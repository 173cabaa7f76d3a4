#include "gyre/base/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "gyre/base/error.h"

namespace gyre {
namespace {

using Json = nlohmann::ordered_json;

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row.back();
}

std::vector<std::string> names_of(const Fields& fields) {
  std::vector<std::string> names;
  for (const Field& field : fields) {
    names.push_back(field.name);
  }
  return names;
}

std::string join(const std::vector<std::string>& parts, const char* separator) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    out += (i == 0 ? "" : separator) + parts[i];
  }
  return out;
}

// Splits at commas outside brackets and quotes; quotes stay in the parts.
std::vector<std::string> split_top_level(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  bool quoted = false;
  bool escaped = false;
  for (const char c : text) {
    if (c == '"' && !escaped) {
      quoted = !quoted;
    }
    escaped = quoted && c == '\\' && !escaped;
    if (!quoted) {
      depth = std::max(0, depth + (c == '[' ? 1 : c == ']' ? -1 : 0));
    }
    if (c == ',' && depth == 0 && !quoted) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string unquote(const std::string& text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') {
    return text;
  }
  const Json value = Json::parse(text, nullptr, false);
  return value.is_string() ? value.get<std::string>() : text;
}

std::string quote_item(const std::string& text) {
  const bool plain = !text.empty() && text.find_first_of(",[]\"") == std::string::npos;
  return plain ? text : Json(text).dump();
}

std::vector<std::string> list_items(std::string_view text) {
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') {
    text = text.substr(1, text.size() - 2);
  }
  std::vector<std::string> items =
      text.empty() ? std::vector<std::string>{} : split_top_level(text);
  std::transform(items.begin(), items.end(), items.begin(), unquote);
  return items;
}

Json field_value(const Field& field) {
  const std::string text = field.get();
  switch (field.kind) {
    case FieldKind::Bool:
      return text == "true";
    case FieldKind::Int:
      return std::stoll(text);
    case FieldKind::Real: {
      double value = 0;
      detail::parse(text, value);
      return value;
    }
    case FieldKind::List:
      return Json(list_items(text));
    case FieldKind::Text:
    case FieldKind::Choice:
      break;
  }
  return text;
}

std::string scalar_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

std::string nearest_name(std::string_view wrong, const std::vector<std::string>& known) {
  std::string best;
  size_t best_distance = std::max<size_t>(2, wrong.size() / 2) + 1;
  for (const std::string& name : known) {
    const size_t distance = edit_distance(wrong, name);
    if (distance < best_distance) {
      best_distance = distance;
      best = name;
    }
  }
  return best;
}

void set_field(const Fields& fields, std::string_view owner, std::string_view key,
               std::string_view value) {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.name == key; });
  if (found == fields.end()) {
    const std::string near = nearest_name(key, names_of(fields));
    throw Error(Code::Usage, owner, ": unknown option '", key, "'",
                near.empty() ? "" : str("; did you mean '", near, "'?"), near.empty() ? ";" : "",
                " known: ", fields.empty() ? "none" : join(names_of(fields), ", "));
  }
  try {
    found->set(value);
  } catch (const Error& error) {
    throw Error(Code::Usage, owner, ": '", key, "' ", error.what());
  }
}

void set_from_spec(const Fields& fields, std::string_view owner, std::string_view spec) {
  std::vector<std::string> seen;
  for (const std::string& part : split_top_level(spec)) {
    const size_t equals = part.find('=');
    if (equals == std::string::npos) {
      throw Error(Code::Usage, owner, ": expected key=value, got '", part, "'");
    }
    const std::string key = part.substr(0, equals);
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
      throw Error(Code::Usage, owner, ": '", key, "' is given twice; keep one");
    }
    set_field(fields, owner, key, part.substr(equals + 1));
    seen.push_back(key);
  }
}

std::string fields_to_json(const Fields& fields) {
  Json object = Json::object();
  for (const Field& field : fields) {
    object[field.name] = field_value(field);
  }
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);  // names may be no UTF-8
}

void fields_from_json(const Fields& fields, std::string_view owner, std::string_view json_text) {
  const Json object = Json::parse(json_text, nullptr, false);
  if (!object.is_object()) {
    throw Error(Code::Format, owner, ": expected a JSON object");
  }
  for (const auto& [key, value] : object.items()) {
    std::string text;
    if (value.is_array()) {
      std::vector<std::string> items;
      std::transform(value.begin(), value.end(), std::back_inserter(items), scalar_text);
      text = detail::format(items);
    } else {
      text = scalar_text(value);
    }
    set_field(fields, owner, key, text);
  }
}

std::string fields_summary(const Fields& fields, const Fields& defaults) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i >= defaults.size() || fields[i].get() != defaults[i].get()) {
      parts.push_back(fields[i].name + "=" + fields[i].get());
    }
  }
  return join(parts, ",");
}

namespace detail {

std::string format(bool value) {
  return value ? "true" : "false";
}

std::string format(int64_t value) {
  return std::to_string(value);
}

std::string format(double value) {
  char buffer[64];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return {buffer, result.ptr};
}

std::string format(const std::vector<std::string>& values) {
  std::vector<std::string> items;
  std::transform(values.begin(), values.end(), std::back_inserter(items), quote_item);
  return "[" + join(items, ",") + "]";
}

std::string format(const std::vector<int64_t>& values) {
  std::vector<std::string> parts;
  parts.reserve(values.size());
  for (const int64_t value : values) {
    parts.push_back(std::to_string(value));
  }
  return format(parts);
}

void parse(std::string_view text, bool& value) {
  if (text != "true" && text != "false" && text != "1" && text != "0") {
    throw Error(Code::Usage, "must be true or false, got '", text, "'");
  }
  value = text == "true" || text == "1";
}

void parse(std::string_view text, double& value) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  // JSON has no infinity and no NaN, so no option has either.
  if (text.empty() || result.ec != std::errc() || result.ptr != end || !std::isfinite(number)) {
    throw Error(Code::Usage, "must be a number, got '", text, "'");
  }
  value = number;
}

void parse(std::string_view text, int64_t& value) {
  double scale = 1;
  std::string_view digits = text;
  if (!text.empty()) {
    const char last = text.back();
    scale = last == 'k' || last == 'K' ? 1e3 : last == 'M' ? 1e6 : last == 'G' ? 1e9 : 1;
    digits = scale > 1 ? text.substr(0, text.size() - 1) : text;
  }
  int64_t whole = 0;
  const char* end = digits.data() + digits.size();
  const auto exact = std::from_chars(digits.data(), end, whole);
  if (scale <= 1 && !digits.empty() && exact.ec == std::errc() && exact.ptr == end) {
    value = whole;
    return;
  }
  double number = 0;
  const auto result = std::from_chars(digits.data(), end, number);
  const double scaled = number * scale;
  const double nearest = std::round(scaled);
  // 1.001k is 1000.9999999999999 in doubles: allow the product's rounding, and no more.
  const double rounding = std::numeric_limits<double>::epsilon() * std::abs(scaled);
  const bool read = !digits.empty() && result.ec == std::errc() && result.ptr == end;
  if (read && !(std::abs(scaled) < 9e15)) {
    throw Error(Code::Usage, "must be below 9e15 in size, got '", text, "'");
  }
  const bool whole_number = std::abs(scaled - nearest) <= rounding;
  if (!read || !whole_number) {
    throw Error(Code::Usage, "must be a whole number (k, M and G allowed), got '", text, "'");
  }
  value = static_cast<int64_t>(nearest);
}

void parse(std::string_view text, std::vector<std::string>& value) {
  value = list_items(text);
}

void parse(std::string_view text, std::vector<int64_t>& value) {
  std::vector<int64_t> numbers;
  for (const std::string& item : list_items(text)) {
    int64_t number = 0;
    parse(item, number);
    numbers.push_back(number);
  }
  value = std::move(numbers);
}

void bad_choice(std::string_view text, const std::vector<std::string>& choices) {
  const std::string near = nearest_name(text, choices);
  throw Error(Code::Usage, "must be one of ", join(choices, ", "), "; got '", text, "'",
              near.empty() ? "" : str("; did you mean '", near, "'?"));
}

}  // namespace detail
}  // namespace gyre
