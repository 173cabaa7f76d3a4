// JSON lines: one object per line, one text field of it is the document.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gyre::data {

/// The field's texts in order; blank lines are skipped. Error(Format) names `path`, the line's
/// number and, for a missing field, the nearest one.
std::vector<std::string> read_json_lines(std::string_view bytes, const std::string& field,
                                         const std::string& path);

}  // namespace gyre::data
