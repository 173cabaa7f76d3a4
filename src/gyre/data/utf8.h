// UTF-8 checks and the one conversion that old packages need.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gyre::data {

/// Offset of the first byte that is no valid UTF-8 (overlong forms, surrogates and code points past
/// U+10FFFF count as invalid), or npos.
size_t invalid_utf8_at(std::string_view text);

/// ISO 8859-1 to UTF-8.
std::string latin1_to_utf8(std::string_view text);

}  // namespace gyre::data
