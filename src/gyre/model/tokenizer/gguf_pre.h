// The table of gguf_pre.def.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gyre::model {

struct GgufPre {
  std::string_view names;  // separated by spaces
  bool whole_first = false, add_bos = false, nfc = false;
  std::vector<std::string_view> patterns;
};

/// The entry with this name, or null.
const GgufPre* find_gguf_pre(std::string_view name);
std::string known_gguf_pres();

}  // namespace gyre::model
