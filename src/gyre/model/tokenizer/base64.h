// Base64 (RFC 4648, with padding), for binary tokenizer models inside JSON.
#pragma once

#include <string>
#include <string_view>

namespace gyre::model {

std::string base64_encode(std::string_view bytes);
/// Error(Format) on anything but whole, padded base64.
std::string base64_decode(std::string_view text);

}  // namespace gyre::model
