// Small texts that the terminal, JUnit and the verb share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gyre/accept/result.h"

namespace gyre::accept {

std::string joined(const std::vector<std::string>& parts, const std::string& between);
/// 16384 -> "16,384".
std::string grouped(int64_t value);
std::string level_title(int64_t level);  // "length kept", "retrieval", "composition"
/// ", k 7, s 2"; "" without dials.
std::string dials_text(const std::map<std::string, std::string>& dials);
/// What a cell says in one line: accuracy twice, worst bucket with its bounds, what is missing.
std::string cell_message(const Cell& cell);
/// "0.62 (0.48-0.74)"; "-" when unknown.
std::string share_text(double value, double lower, double upper);
/// Bytes that are no UTF-8 become '?'.
std::string clean_utf8(const std::string& text);
/// For a terminal: also control characters become '?', line ends and tabs a space.
std::string one_line(const std::string& text, size_t most = 300);
/// Words of a text in lines of at most `width` columns; each line begins with `indent`.
std::string wrapped(const std::string& text, const std::string& indent, size_t width = 100);

}  // namespace gyre::accept
