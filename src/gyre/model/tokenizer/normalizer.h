// The normalizers of tokenizer.json, one after another over a text.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/model/tokenizer/regex.h"

namespace gyre::model {

struct NormalStep {
  enum class Kind { Nfc, Nfd, Nfkc, Nfkd, Replace, Prepend, Strip };
  Kind kind = Kind::Nfc;
  std::string from;                      // Replace: these bytes, unless there is a pattern
  std::shared_ptr<const Regex> pattern;  // Replace
  std::string to;                        // Replace, Prepend
  bool left = true, right = true;        // Strip
};

/// `text` is valid UTF-8 and comes back as it is when no step changes it; else `storage` holds the
/// result.
std::string_view normalize(const std::vector<NormalStep>& steps, std::string_view text,
                           std::string& storage);

}  // namespace gyre::model
