// Reads JSON with errors that name the whole path of a key: "pairs[1].delta_nats". For .cpp files
// of this folder only, as it includes nlohmann/json.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "gyre/base/error.h"
#include "gyre/report/comparison.h"

namespace gyre::report {

class Node {
 public:
  using Json = nlohmann::ordered_json;

  Node(const Json& json, std::string origin, std::string path)
      : json_(&json), origin_(std::move(origin)), path_(std::move(path)) {}

  const Json& json() const { return *json_; }
  bool is_null() const { return json_->is_null(); }
  bool has(const char* key) const {
    return json_->is_object() && json_->contains(key) && !json_->at(key).is_null();
  }

  Node at(const char* key) const {
    const std::string full = path_.empty() ? key : path_ + "." + key;
    if (!json_->is_object()) {
      fail("an object");
    }
    if (!json_->contains(key)) {
      throw Error(Code::Format, origin_, ": missing key '", full,
                  "'; make the file again with: gyre compare");
    }
    return {json_->at(key), origin_, full};
  }

  /// The elements of an array; null counts as empty.
  std::vector<Node> items() const {
    std::vector<Node> out;
    if (is_null()) {
      return out;
    }
    if (!json_->is_array()) {
      fail("an array");
    }
    for (size_t i = 0; i < json_->size(); ++i) {
      out.emplace_back((*json_)[i], origin_, path_ + "[" + std::to_string(i) + "]");
    }
    return out;
  }

  double number() const {
    if (is_null()) {
      return kUnknown;
    }
    if (!json_->is_number()) {
      fail("a number");
    }
    return json_->get<double>();
  }

  int64_t integer() const {
    if (!json_->is_number()) {
      fail("a whole number");
    }
    return json_->get<int64_t>();
  }

  bool boolean() const {
    if (!json_->is_boolean()) {
      fail("true or false");
    }
    return json_->get<bool>();
  }

  /// A string as it is, null as "", anything else as its JSON text.
  std::string text() const {
    if (is_null()) {
      return "";
    }
    return json_->is_string() ? json_->get<std::string>() : json_->dump();
  }

  std::vector<double> numbers() const {
    std::vector<double> out;
    for (const Node& item : items()) {
      out.push_back(item.number());
    }
    return out;
  }

  std::vector<std::string> texts() const {
    std::vector<std::string> out;
    for (const Node& item : items()) {
      out.push_back(item.text());
    }
    return out;
  }

  Interval interval() const {
    const std::vector<double> ends = numbers();
    if (ends.empty()) {
      return {};
    }
    if (ends.size() != 2) {
      fail("[lo, hi]");
    }
    return {ends[0], ends[1]};
  }

 private:
  [[noreturn]] void fail(const char* expected) const {
    throw Error(Code::Format, origin_, ": key '", path_, "' is ", json_->type_name(), ", expected ",
                expected, "; see docs/file-formats.md");
  }

  const Json* json_;
  std::string origin_;
  std::string path_;
};

}  // namespace gyre::report
