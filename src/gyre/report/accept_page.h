// The page of `gyre accept`: report.html and figures/*.csv in the folder of a run, made from the
// Acceptance alone.
#pragma once

#include <filesystem>
#include <string>

#include "gyre/accept/result.h"

namespace gyre::report {

/// The whole page. `plotly_js` is inlined as it is.
std::string accept_page(const accept::Acceptance& acceptance, const std::string& plotly_js);

/// Writes out_dir/figures/*.csv, then out_dir/report.html.
///
/// throws   Error(File) when a file cannot be written or plotly.min.js is not found
void write_accept_report(const accept::Acceptance& acceptance,
                         const std::filesystem::path& out_dir);

}  // namespace gyre::report
