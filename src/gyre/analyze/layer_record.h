// What one pass leaves of one layer: small plain values from which everything about usage, heads
// and bands is computed, and which are written as a line of layers.jsonl.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::analyze {

using Matrix = std::vector<std::vector<double>>;

/// Roles of heads, in the order of HeadRecord::score. A score is the mean attention weight on the
/// role's keys: oneself, the token before, what followed this token before, the first token, equal
/// tokens before.
enum class Role { Diagonal, Previous, Induction, Sink, Content };
inline constexpr size_t kRoles = 5;
inline constexpr std::array<const char*, kRoles> kRoleNames = {"diagonal", "previous", "induction",
                                                               "sink", "content"};

struct HeadRecord {
  std::array<double, kRoles> score{};
  double chance = 0.0;   // of content, under equal weights
  double logit = 0.0;    // attention-weighted mean logit on text
  double bound = 0.0;    // the same of its bound, sum over bands of |q_m| |k_m| times the scale
  double product = 0.0;  // the same of |q| |k| times the scale
};

/// A corner of the attention of one head: n queries x n keys, weights in 1/255.
struct Pattern {
  int64_t head = 0;
  size_t role = 0;  // index into kRoleNames
  double score = 0.0;
  int64_t n = 0;
  std::vector<uint8_t> cells;  // [n * n], row = query
};

struct LayerRecord {
  int64_t layer = 0;
  std::vector<double> wavelength;    // [P] tokens, mean frequency over groups; inf = at rest
  Matrix q_rows, k_rows, v_rows;     // [text row][P] mean chunk 2-norm over tokens and heads
  Matrix q_heads, k_heads, v_heads;  // [head][P] over all text rows; k, v per kv head
  double q_rest = 0, k_rest = 0, v_rest = 0;  // channels outside pairs, in twos; NaN = none
  std::vector<std::vector<std::complex<double>>> content;  // [H][P] A_m times the logit scale
  std::vector<HeadRecord> heads;                           // [H]
  std::vector<Pattern> patterns;  // per role the head of this layer with the highest score
};

std::string to_line(const LayerRecord& record);
/// throws  Error(Format) naming `owner`
LayerRecord layer_from_line(std::string_view line, const std::string& owner);

}  // namespace gyre::analyze
