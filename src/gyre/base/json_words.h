// What a user reads of a JSON text that cannot be read: the parser's reason without its exception's
// name and number, short, one line.
#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace gyre {

/// "line 3, column 7: invalid literal; last read: 'nul'", "key 'step' not found". Any other
/// library's words stay as they are; bytes that are no printable ASCII become '?'.
std::string json_words(std::string_view what);
inline std::string json_words(const std::exception& fault) {
  return json_words(std::string_view(fault.what()));
}

/// Readers and writers of nested values call themselves once per level: Error(Format) when brackets
/// outside strings are nested deeper than any file known needs.
void check_json_depth(std::string_view text);

/// A message as one line a terminal can show: control characters become '?', what is beyond
/// `longest` bytes "...", never within a character.
std::string one_line(std::string text, size_t longest = 1000);

}  // namespace gyre
