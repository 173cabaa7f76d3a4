#include "gyre/data/json_lines.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/json_words.h"
#include "gyre/base/options.h"

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

std::string text_of_line(std::string_view line, const std::string& field,
                         const std::string& where) {
  Json object;
  try {
    object = Json::parse(line);
  } catch (const Json::exception& e) {
    throw Error(Code::Format, where, ": not JSON: ", json_words(e));
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
