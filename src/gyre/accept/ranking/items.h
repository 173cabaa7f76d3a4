// What ranking mode asks, and the mean that it tells: shared by the cells and their controls.
#pragma once

#include <string>
#include <vector>

#include "gyre/accept/quality/examiner.h"

namespace gyre::accept {

inline constexpr int64_t kCandidates = 10;
inline constexpr int64_t kRankedDistractors = 4;

Item ranked_item(const Slot& slot, Arm arm, const Frame& frame);
/// A continuation needs the endpoint that continues, and no room for an answer in words.
Frame ranked_frame(Examiner& examiner, int64_t length);
/// Why a length has no room for the sentences of an item; "" = it has.
std::string no_room(Examiner& examiner, int64_t length);

/// Mean with its bootstrap interval, NaN for fewer than two values.
struct Mean {
  int64_t n = 0;
  double value = kUnknown, lo = kUnknown, hi = kUnknown;
};
Mean mean_of(const std::vector<double>& values);

}  // namespace gyre::accept
