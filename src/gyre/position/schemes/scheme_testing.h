// Helpers of the scheme tests: published tables, and the text of an expected fault.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "gyre/position/scheme.h"

namespace gyre::position::testing {

/// First layer, first group of a plan; empty when nothing rotates.
std::vector<double> bands_of(const std::string& spec, int64_t head_dim);

/// Every table of the given scheme in testdata/frequency_tables.json (its "source" says where the
/// numbers come from), to one unit in the last place of a double.
void expect_published_tables(const std::string& scheme);

/// Head count -> released ALiBi slopes, from the same file.
std::map<int64_t, std::vector<double>> published_slopes();

void expect_usage_error(const std::string& spec, const PlanRequest& request,
                        const std::string& message);

}  // namespace gyre::position::testing
