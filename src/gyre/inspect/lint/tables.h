// Tables of positions stored in a checkpoint: which ones are inverse frequencies, what they should
// be, and what storage in half precision does to angles.
#pragma once

#include <string>
#include <vector>

#include "gyre/inspect/finding.h"
#include "gyre/inspect/resolved.h"

namespace gyre::inspect {

/// "...rotary_emb.inv_freq" of the language model, not of a vision tower.
bool is_inv_freq(const ResolvedModel::Table& table);
/// "...cos_cached", "...sin_cached" and the like.
bool is_angle_cache(const ResolvedModel::Table& table);

/// The tables a stored inv_freq may rightly be: of each kind, short, long and before extension
/// (linear scaling used to divide positions instead), all of n pairs.
std::vector<std::vector<double>> expected_tables(const ResolvedModel& model, size_t n);

/// max_m |a_m / b_m - 1| and the pair it is at; infinity when one is 0 and the other not.
struct Difference {
  double relative = 0.0;
  size_t pair = 0;
};
Difference difference(const std::vector<double>& a, const std::vector<double>& b);

enum class Half { None, Bf16, Fp16 };
Half half_of(const std::string& dtype);  // "BF16", "bfloat16", "torch.float16", "F16"
const char* half_name(Half half);
double rounded(double value, Half half);

/// max_m |p f_m - p' f'_m| in rad at position p; f' rounded, p' rounded too when `position`.
struct PhaseError {
  double rad = 0.0;
  size_t pair = 0;
};
PhaseError phase_error(const std::vector<double>& exact, double position, Half half,
                       bool round_position);

/// Findings that differ in their key alone become one: "layers.0...inv_freq and 31 more".
std::vector<Finding> merge_alike(std::vector<Finding> findings);

}  // namespace gyre::inspect
