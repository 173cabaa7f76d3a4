#include "gyre/model/tokenizer/gguf_pre.h"

#include "gyre/model/tokenizer/hf_parts.h"

namespace gyre::model {
namespace {

GgufPre entry(std::string_view names, std::string_view flags,
              std::vector<std::string_view> patterns) {
  const auto has = [&](char flag) { return flags.find(flag) != std::string_view::npos; };
  return {names, has('W'), has('B'), has('N'), std::move(patterns)};
}

const std::vector<GgufPre>& table() {
  static const std::vector<GgufPre> list = {
#define GYRE_PRE(names, flags, ...) entry(names, flags, {__VA_ARGS__}),
#include "gyre/model/tokenizer/gguf_pre.def"
#undef GYRE_PRE
  };
  return list;
}

}  // namespace

const GgufPre* find_gguf_pre(std::string_view name) {
  for (const GgufPre& one : table()) {
    for (size_t begin = 0; begin < one.names.size();) {
      const size_t end = std::min(one.names.find(' ', begin), one.names.size());
      if (one.names.substr(begin, end - begin) == name) {
        return &one;
      }
      begin = end + 1;
    }
  }
  return nullptr;
}

std::string known_gguf_pres() {
  std::string names;
  for (const GgufPre& one : table()) {
    names += (names.empty() ? "" : " ") + std::string(one.names);
  }
  return names;
}

}  // namespace gyre::model
