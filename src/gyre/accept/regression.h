// Did a change cost anything at the original length? The same items of two runs, before and after,
// compared by exact McNemar and against a margin of non-inferiority. The model, its calibration and
// so the filler may differ between the runs; an item is the same when its task, arm and dials are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "gyre/accept/result.h"

namespace gyre::accept {

/// Items of levels 2 and 3 at the original length: those of the short arm, ranked ones too. PASS
/// when the loss is below the margin at 95 %, FAIL when it is above it, else undecided. Failed
/// requests count as wrong answers.
Regression compare_runs(const std::vector<Sample>& before, const std::vector<Sample>& after,
                        int64_t original_length, double margin = 0.02);

/// An earlier run that a new one is to be compared with.
class Before {
 public:
  /// Before anything is sent: can the two be compared at all?
  ///
  /// throws  Error(File) when the folder holds no run
  ///         Error(Usage) when its items are others (--original-length, --seed, --levels), or when
  ///         it is the folder `out` of the new run itself
  Before(std::filesystem::path dir, const AcceptOptions& options, const std::filesystem::path& out);

  Regression compare(const std::vector<Sample>& after) const;
  const std::vector<Sample>& samples() const { return samples_; }

 private:
  std::filesystem::path dir_;
  int64_t original_length_ = 0;
  std::vector<Sample> samples_;
};

}  // namespace gyre::accept
