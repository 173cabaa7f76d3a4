#include "gyre/data/json_lines.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/options.h"
#include "gyre/data/utf8.h"

namespace gyre::data {
namespace {

using Json = nlohmann::json;

[[noreturn]] void missing_field(const Json& object, const std::string& field,
                                const std::string& where) {
  std::vector<std::string> keys;
  std::string listed;
  for (const auto& [key, value] : object.items()) {
    keys.push_back(key);
    if (keys.size() <= 8) {
      listed += (listed.empty() ? "" : ", ") + key;
    }
  }
  const std::string near = nearest_name(field, keys);
  throw Error(Code::Format, where, ": no field '", field,
              "'; found: ", listed.empty() ? "none" : listed,
              near.empty() ? "" : "; nearest: " + near, "; choose one with --field");
}

/// The parser's message without its number; it quotes what it read, which may be long or no UTF-8.
std::string parser_words(std::string_view what) {
  const size_t detail = what.find("] ");
  what = what.substr(detail == std::string_view::npos ? 0 : detail + 2);
  const size_t kept = std::min({what.size(), invalid_utf8_at(what), size_t{160}});
  return std::string(what.substr(0, kept)) + (kept < what.size() ? "..." : "");
}

std::string text_of_line(std::string_view line, const std::string& field,
                         const std::string& where) {
  Json object;
  try {
    object = Json::parse(line);
  } catch (const Json::exception& e) {
    throw Error(Code::Format, where, ": not JSON: ", parser_words(e.what()));
  }
  if (!object.is_object()) {
    throw Error(Code::Format, where, ": expected a JSON object, found ", object.type_name());
  }
  const auto found = object.find(field);
  if (found == object.end()) {
    missing_field(object, field, where);
  }
  if (!found->is_string()) {
    throw Error(Code::Format, where, ": field '", field, "' is ", found->type_name(),
                ", expected a string");
  }
  return found->get<std::string>();
}

}  // namespace

std::vector<std::string> read_json_lines(std::string_view bytes, const std::string& field,
                                         const std::string& path) {
  std::vector<std::string> texts;
  int64_t number = 0;
  for (size_t begin = 0; begin < bytes.size();) {
    const size_t end = std::min(bytes.find('\n', begin), bytes.size());
    const std::string_view line = bytes.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
      texts.push_back(text_of_line(line, field, str(path, ":", number)));
    }
  }
  return texts;
}

}  // namespace gyre::data
