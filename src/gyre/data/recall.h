// A synthetic corpus on which a small model learns to recall: random strings, each repeated a few
// times. After its first copy a string can only be predicted by finding the last place of the
// present letter and copying what followed (an induction head; Olsson et al. 2022,
// arXiv:2209.11895), which is what the needle ranking asks. Positive control of that ranking.
#pragma once

#include <cstdint>
#include <string>

namespace gyre::data {

/// About 50 kB: "abcdabcdabc xyxyxyxy ...". Strings of 2 to 24 different letters, repeated to 2 to
/// 6 times their length, a space between them. A pure function of `index`.
std::string recall_document(uint64_t index);

inline constexpr uint64_t kRecallDocuments = 240;

}  // namespace gyre::data
