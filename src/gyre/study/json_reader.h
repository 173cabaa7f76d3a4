// Reads values out of JSON with errors that name the file and the key. For .cpp files of this
// folder only, as it includes nlohmann/json.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/study/statistics.h"

namespace gyre::study {

using Json = nlohmann::ordered_json;

/// A JSON value with the path it was read from.
struct Source {
  const Json& json;
  std::string owner;

  Source at(const char* key) const {
    if (!json.is_object() || !json.contains(key)) {
      throw Error(Code::Format, owner, ": no '", key, "'; make it again with --force");
    }
    return {json.at(key), owner + ": " + key};
  }
  bool has(const char* key) const {
    return json.is_object() && json.contains(key) && !json.at(key).is_null();
  }
  double number() const { return json.is_null() ? kUnknown : as<double>("a number"); }
  int64_t integer() const { return as<int64_t>("a whole number"); }
  std::string text() const { return as<std::string>("text"); }
  std::vector<double> numbers() const {
    std::vector<double> out;
    for (const Source& item : items()) {
      out.push_back(item.number());
    }
    return out;
  }
  std::vector<Source> items() const {
    if (!json.is_array()) {
      throw Error(Code::Format, owner, ": expected a list, found ", json.type_name());
    }
    std::vector<Source> out;
    for (size_t i = 0; i < json.size(); ++i) {
      out.push_back({json[i], owner + "[" + std::to_string(i) + "]"});
    }
    return out;
  }

 private:
  template <class T>
  T as(const char* what) const {
    try {
      return json.get<T>();
    } catch (const Json::exception&) {
      throw Error(Code::Format, owner, ": expected ", what, ", found ", json.type_name());
    }
  }
};

inline Json parse_file(const std::filesystem::path& path) {
  Json json = Json::parse(read_file(path), nullptr, false);
  if (!json.is_object()) {
    throw Error(Code::Format, path.string(), ": not a JSON object");
  }
  return json;
}

}  // namespace gyre::study
