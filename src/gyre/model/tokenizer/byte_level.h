// The alphabet of byte-level BPE: each byte has a printable character, so that vocabularies can be
// written as text (GPT-2's bytes_to_unicode).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gyre::model {

/// The bytes a token's text stands for; nothing when it has a character outside the alphabet.
std::optional<std::string> bytes_of_level(std::string_view token);
/// The other way: each byte as its character.
std::string level_of_bytes(std::string_view bytes);

}  // namespace gyre::model
