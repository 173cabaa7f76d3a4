// The page of `gyre analyze`: report.html and figures/*.csv in the folder of an analysis, made from
// the Analysis alone.
#pragma once

#include <filesystem>
#include <string>

#include "gyre/analyze/analysis.h"

namespace gyre::report {

/// The whole page; `command` is shown beside each figure. `plotly_js` is inlined as it is.
std::string analyze_page(const analyze::Analysis& analysis, const std::string& command,
                         const std::string& plotly_js);

/// Writes out_dir/figures/*.csv, then out_dir/report.html.
///
/// throws   Error(File) when a file cannot be written or plotly.min.js is not found
void write_analyze_report(const analyze::Analysis& analysis, const std::string& command,
                          const std::filesystem::path& out_dir);

}  // namespace gyre::report
