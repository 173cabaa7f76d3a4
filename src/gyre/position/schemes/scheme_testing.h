// Helpers of the scheme tests: a plan's bands, a run directory, and the text of an expected fault.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "gyre/position/scheme.h"

namespace gyre::position::testing {

/// First layer, first group of a plan; empty when nothing rotates.
std::vector<double> bands_of(const std::string& spec, int64_t head_dim);
std::vector<double> bands_of(const std::string& spec, const PlanRequest& request);

/// A run directory whose last frequencies are the given text, "[[[1.0,0.5]]]"; removed at the end.
class TemporaryRun {
 public:
  explicit TemporaryRun(const std::string& inv_freq);
  ~TemporaryRun();
  TemporaryRun(const TemporaryRun&) = delete;
  TemporaryRun& operator=(const TemporaryRun&) = delete;
  std::string path() const { return folder_.string(); }

 private:
  std::filesystem::path folder_;
};

/// Element by element, to a relative tolerance; says which entry differs.
void expect_close(const std::vector<double>& actual, const std::vector<double>& expected,
                  double relative = 1e-14);

void expect_usage_error(const std::string& spec, const PlanRequest& request,
                        const std::string& message);

}  // namespace gyre::position::testing
