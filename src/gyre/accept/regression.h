// Did a change cost anything at the original length? The same items of two runs, before and after,
// compared by exact McNemar and against a margin of non-inferiority. The model, its calibration and
// so the filler may differ between the runs; an item is the same when its task, arm and dials are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "gyre/accept/result.h"

namespace gyre::accept {

/// Items of the short arm (levels 2 and 3), which stand at the original length. PASS when the loss
/// is below the margin at 95 %, FAIL when it is above it, else undecided. Failed requests count as
/// wrong answers.
Regression compare_runs(const std::vector<Sample>& before, const std::vector<Sample>& after,
                        double margin = 0.02);

/// The folder of an earlier run against the samples of this one. Without a common item its status
/// is NotRun and `says` tells why.
///
/// throws  Error(File) when the folder holds no run
Regression compare_with(const std::filesystem::path& before, const std::vector<Sample>& after);

/// In process: nats per token of the same texts before and after; mean difference with a paired
/// bootstrap over the texts. lo and hi are NaN for fewer than two texts.
///
/// throws  Error(Internal) when the lists differ in length
Measure nll_delta(std::span<const double> before, std::span<const double> after, int64_t length);

}  // namespace gyre::accept
