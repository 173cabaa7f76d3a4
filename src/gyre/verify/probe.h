// What identities are written with: plain rows of doubles in and out of the subject's operations, a
// tally of deviations, and plain-double arithmetic that shares nothing with them.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "gyre/attention/reference.h"
#include "gyre/base/error.h"
#include "gyre/verify/identity.h"
#include "gyre/verify/subject.h"

namespace gyre::verify {

using Rows = attention::ReferenceTensor;  // row-major [B, heads, T, D] doubles

struct Shape {
  int64_t B = 1, H = 1, T = 1, D = 8;
};

enum class Precision { F64, F32, BF16 };

Rows zero_rows(const Shape& shape);
/// Standard normal draws of the named stream.
Rows normal_rows(const std::string& stream, const Shape& shape);
/// The same row at every token.
Rows repeated(const std::vector<double>& row, int64_t n_tokens);
std::vector<int64_t> count_from(int64_t first, int64_t n);

/// base^(-2m / width) by std::pow.
std::vector<double> geometric(double base, int64_t n_pairs, int64_t width);
/// One layer that turns these bands in the leading channels of a head of D.
position::PositionPlan plan_of(const std::vector<double>& inv_freq, int64_t head_dim,
                               position::PairLayout layout = position::PairLayout::Halves);
/// Request of one layer with H query and G key/value heads.
position::PlanRequest request_of(int64_t head_dim, int64_t n_heads = 1, int64_t n_kv_heads = 1);
/// cos and sin of delta * theta; the product in extended precision, exact to 1e-13 at 1e6 tokens.
double exact_cos(double theta, int64_t delta);
double exact_sin(double theta, int64_t delta);
/// Channels of pair m.
int64_t x_channel(const position::PositionPlan& plan, int64_t m);
int64_t y_channel(const position::PositionPlan& plan, int64_t m);

struct Turned {
  Rows q, k;
};
/// Subject's table and rotation of q and k, which have equal token counts.
Turned rotated(const Subject& subject, const Turned& raw, const std::vector<int64_t>& positions,
               const position::PositionPlan& plan, int64_t layer = 0,
               Precision precision = Precision::F64);

struct Keyed {
  Rows q, k, v;
};
Rows attended(const Subject& subject, const Keyed& in, const position::LayerPlan& layer,
              Precision precision = Precision::F64);
/// Softmax weights [B, H, T] x S, read out of the subject's attention with one-hot values.
Rows weights_of(const Subject& subject, const Turned& in, const position::LayerPlan& layer);

/// Score matrix q.k of head 0: [T of q][T of k], unscaled, by plain sums.
std::vector<std::vector<double>> dots(const Rows& q, const Rows& k);
double max_difference(const Rows& a, const Rows& b);

/// Rows of cos and sin of group 0: [T][P], as the subject's table holds them.
struct TableRows {
  std::vector<std::vector<double>> cos, sin;
};
TableRows table_rows(const Subject& subject, const position::PositionPlan& plan,
                     const std::vector<int64_t>& positions, bool exact = true);

/// Loss sum(attention * weight) differentiated through the subject's rotation and attention.
struct Differentiated {
  std::vector<double> theta;  // [P], group 0
  Rows q, k;                  // rotated
  Rows q_grad, k_grad;        // gradients of the rotated rows
};
Differentiated differentiate(const Subject& subject, const Keyed& raw, const Rows& weight,
                             const std::vector<int64_t>& positions,
                             const position::PositionPlan& plan);

/// Keeps the deviation that is largest in units of its tolerance.
class Tally {
 public:
  /// Passes when deviation <= tolerance; the parts are joined to say where.
  template <class... T>
  void at_most(double deviation, double tolerance, const T&... where) {
    const double share = tolerance > 0.0 ? deviation / tolerance : deviation > 0.0 ? INFINITY : 0.0;
    const double ratio = std::isnan(deviation) ? INFINITY : share;
    if (ratio > ratio_) {
      ratio_ = ratio;
      worst_ = deviation;
      tolerance_ = tolerance;
      where_ = str(where...);
    }
  }
  /// Passes when value >= floor: a difference that must be seen.
  template <class... T>
  void at_least(double value, double floor, const T&... where) {
    at_most(value >= floor      ? 0.0
            : std::isnan(value) ? value
                                : floor - value,
            0.0, where..., ": expected at least ", floor, ", got ", value);
  }
  template <class... T>
  void require(bool holds, const T&... where) {
    at_most(holds ? 0.0 : 1.0, 0.0, where...);
  }
  CheckResult result(std::string note, std::vector<Curve> curves = {}) const;

 private:
  double ratio_ = -1.0, worst_ = 0.0, tolerance_ = 0.0;
  std::string where_;
};

}  // namespace gyre::verify
