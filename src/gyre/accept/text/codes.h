// Codes beyond filler.h: others that differ by one symbol, and codes with their places in a text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/base/rng.h"

namespace gyre::accept {

/// A code in a text: canonical form and the bytes [begin, end) that it takes.
struct FoundCode {
  std::string code;
  size_t begin = 0, end = 0;
};
std::vector<FoundCode> find_codes(std::string_view text);

/// The code with one symbol changed.
std::string near_code(Rng& rng, const std::string& code);

/// Draws codes that differ from each other and from those it was told of.
class CodeSource {
 public:
  CodeSource(uint64_t seed, std::string_view stream, uint64_t index) : rng_(seed, stream, index) {}
  std::string next();
  /// One symbol away from `code`, and not drawn before.
  std::string next_near(const std::string& code);
  void avoid(const std::string& code) { drawn_.push_back(code); }

 private:
  Rng rng_;
  std::vector<std::string> drawn_;
  bool add(const std::string& code);
};

}  // namespace gyre::accept
