// Text out of a file's header that nothing vouches for: is it UTF-8, and how does it look in an
// error, which is one line.
#pragma once

#include <string>
#include <string_view>

namespace gyre::tensor {

/// Well-formed UTF-8 (Unicode 15, table 3-7): no surrogates, no overlong forms.
bool is_utf8(std::string_view text);

/// A name may be any UTF-8 without control characters.
bool is_name(std::string_view text);

/// For messages: bytes outside printable ASCII as \xNN unless the text is a name, cut after 80
/// bytes with "...".
std::string printable(std::string_view text);

}  // namespace gyre::tensor
