// The page of a comparison: one self-contained HTML file and one CSV file per figure, made from
// compare.json alone. Nothing is measured or decided here.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace gyre::report {

/// Reads out_dir/compare.json; writes out_dir/report.html and out_dir/figures/*.csv. The output is
/// a pure function of that file and of the charting library: no clock, no randomness.
///
/// throws   Error(Format) naming the key that compare.json lacks or whose type is wrong;
///          Error(File) when a file cannot be read or written or plotly.min.js is not found
void write_report(const std::filesystem::path& out_dir);

/// What write_report leaves in out_dir: report.html first, then the CSV files by name.
std::vector<std::filesystem::path> report_files(const std::filesystem::path& out_dir);

/// The charting library that is inlined in the page: <program dir>/share/gyre/plotly.min.js, then
/// <program dir>/../share/gyre/plotly.min.js, then $GYRE_PLOTLY_JS; Error(File) when none is there.
/// An empty `program_dir` stands for the folder of the running program.
std::filesystem::path find_plotly(const std::filesystem::path& program_dir = {});

}  // namespace gyre::report
