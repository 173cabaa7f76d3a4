// The page of `gyre accept`: report.html and figures/*.csv in the folder of a run, made from the
// Acceptance and the prompts that the run kept.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "gyre/accept/result.h"

namespace gyre::report {

/// The prompt of an item by its sid; "" = not kept.
using PromptOf = std::function<std::string(const std::string& sid)>;

/// The whole page. `plotly_js` is inlined as it is.
std::string accept_page(const accept::Acceptance& acceptance, const std::string& plotly_js,
                        const PromptOf& prompt_of = {});

/// Writes out_dir/figures/*.csv, then out_dir/report.html, with excerpts of out_dir/prompts.
///
/// throws   Error(File) when a file cannot be written or plotly.min.js is not found
void write_accept_report(const accept::Acceptance& acceptance,
                         const std::filesystem::path& out_dir);

}  // namespace gyre::report
