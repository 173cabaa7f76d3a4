// Arithmetic of phases for `gyre phase`, the page and the identities: curves, turns, recurrences,
// near-equal offsets, reach of a mask over layers. Phase is not attention weight and not accuracy.
#pragma once

#include <cstdint>
#include <vector>

#include "gyre/position/plan.h"

namespace gyre::verify {

/// cos(theta * delta) for delta = 0 .. distance; the product in extended precision.
std::vector<double> phase_curve(double theta, int64_t distance);

/// Turns of a frequency over `length` tokens, length * theta / (2 pi).
double turns(double theta, double length);

/// Pairs that complete less than one turn over `length` tokens, unrotated ones included.
std::vector<int64_t> never_completed(const std::vector<double>& inv_freq, double length);

/// Smallest delta > 0 with cos(theta * delta) > threshold after the phase has once left that range;
/// 0 when there is none up to `limit`.
int64_t first_recurrence(double theta, double threshold, int64_t limit);

/// Two offsets whose phases are nearly equal. The distance between the phase vectors
/// (e^{i a theta_m})_m and (e^{i b theta_m})_m depends on b - a alone: it is
/// sqrt(mean_m 4 sin^2((b - a) theta_m / 2)), 0 = not told apart, 2 = opposite in every band.
struct Collision {
  int64_t difference = 0;  // b - a, tokens
  double distance = 0.0;
};

/// The `n` closest differences in 1 .. range, closest first.
std::vector<Collision> collisions(const std::vector<double>& inv_freq, int64_t range, int64_t n);

/// Layers after which a token at query index i can depend on token j, for every j = 0 .. i; the
/// layers' masks in order from the input, cycled. -1 = never within `limit` layers.
std::vector<int64_t> layers_to_reach(const std::vector<position::MaskSpec>& masks, int64_t i,
                                     int64_t limit);

}  // namespace gyre::verify
