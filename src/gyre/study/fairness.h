// Refuses comparisons that are not fair: arms may differ in positions, mask and nothing else, and
// every seed of one arm must be a seed of the others.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gyre/study/record.h"

namespace gyre::study {

/// Compares every cell with the first: tokens, training length, batch, dtype, corpus, tokenizer,
/// truncation, model shape, training options, evaluation data and options, validation blocks.
/// failed: (arm, seed) of cells that ran and failed; any other missing cell is a fault.
///
/// throws  Error(CheckFailed) naming both cells, the field and both values
void check_comparable(const std::vector<CellRecord>& cells, const std::vector<std::string>& arms,
                      const std::set<std::pair<size_t, int64_t>>& failed);

}  // namespace gyre::study
