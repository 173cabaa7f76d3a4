// Shapes that cannot fit are refused before anything is allocated: the system kills a process that
// fills the memory in small pieces, without a word.
#pragma once

#include "gyre/bench/bench.h"

namespace gyre::bench {

/// What a step surely holds at one moment, GiB: less than it will take.
double least_gib(const TrainShape& shape);
double least_gib(const AttentionShape& shape);  // of its largest case

/// Error(Usage) when `free_gib` is less than that. `free_gib` 0 = what the system has; shapes on
/// other devices than the CPU are not judged.
void check_fits(const TrainShape& shape, const Contest& contest, double free_gib = 0.0);
void check_fits(const AttentionShape& shape, const Contest& contest, double free_gib = 0.0);

}  // namespace gyre::bench
