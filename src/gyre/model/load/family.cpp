#include "gyre/model/load/family.h"

#include <algorithm>

namespace gyre::model {
namespace {

using Names = std::vector<std::string> Family::*;

const Family* find(Names names, std::string_view name) {
  for (const Family& family : families()) {
    const auto& list = family.*names;
    if (std::find(list.begin(), list.end(), name) != list.end()) {
      return &family;
    }
  }
  return nullptr;
}

std::string join(Names names) {
  std::string out;
  for (const Family& family : families()) {
    for (const std::string& name : family.*names) {
      out += (out.empty() ? "" : ", ") + name;
    }
  }
  return out;
}

}  // namespace

const std::vector<Family>& families() {
  static const std::vector<Family> list = {
#define GYRE_FAMILY(...) Family{__VA_ARGS__},
#include "gyre/model/load/families.def"
#undef GYRE_FAMILY
  };
  return list;
}

const Family* find_family(std::string_view model_type) {
  return find(&Family::model_types, model_type);
}

const Family* find_gguf_family(std::string_view architecture) {
  return find(&Family::gguf, architecture);
}

std::string known_model_types() {
  return join(&Family::model_types);
}

std::string known_gguf_architectures() {
  return join(&Family::gguf);
}

}  // namespace gyre::model
