// Rotary rotation of queries and keys, and the gradient of its frequencies in the linear-cost form:
//   dL/dtheta_m = sum_i pos_i [ (q~ x dq~)_m + (k~ x dk~)_m ],   (a x b)_m = a_x b_y - a_y b_x
// with q~, k~ the rotated tensors. Angles in double, tables in the compute type's accumulate type.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <utility>

#include "gyre/position/plan.h"

namespace gyre::attention {

/// A table of angles for one call of the model; layers with equal frequencies share it.
struct Rotation {
  at::Tensor theta;      // [G, P] float64, rad per token; may require grad
  at::Tensor positions;  // [T] int64, tokens since the sequence start (any origin gives the same
                         // scores; a small one keeps the frequency gradient exact, see the gauge)
  at::Tensor cos, sin;   // [G, T, P] float32 (float64 when asked), amplitude folded in; of queries
  at::Tensor key_cos, key_sin;  // of keys: the same tensors unless the layer decays
  at::Tensor decay;             // [P] float64, nats per token; undefined = none
  at::Tensor query_gain;        // [T] float64, factor on whole queries; undefined = none
  position::PairLayout layout = position::PairLayout::Unstated;
  double amplitude = 1.0;
  bool identity() const { return !theta.defined() && !query_gain.defined(); }
};

/// Builds the table.
///
/// theta      [G, P] float64 with G = 1 or the number of key/value heads; undefined = no rotation
/// positions  [T] int64
/// layout     stated, unless nothing rotates
/// dtype      at::kFloat, or at::kDouble for exact work
Rotation make_rotation(const at::Tensor& theta, const at::Tensor& positions,
                       position::PairLayout layout, double amplitude, at::ScalarType dtype);

/// The same with everything else that a layer does to queries and keys: amplitude, decay and query
/// growth. Decay goes into the tables, queries times exp(-decay (pos - origin)), keys times
/// exp(+decay (pos - origin)), so that scores fall by exp(-decay (i - j)).
///
/// origin     tokens; none = the middle of `positions`, where tables of long sequences stay in
/// range.
///            Keys that are kept in a cache need the same origin in every call.
/// throws     c10::ValueError when a decay factor leaves the range of the table's type
Rotation make_rotation(const at::Tensor& theta, const at::Tensor& positions,
                       position::PairLayout layout, const position::LayerPlan& layer,
                       at::ScalarType dtype, std::optional<int64_t> origin = std::nullopt);

/// The table of the last n of its tokens.
Rotation last_rows(const Rotation& rotation, int64_t n);

/// Rotates queries and keys; differentiable in q, k and rotation.theta.
///
/// q          [B, H, T, D] float64, float32 or bfloat16; k [B, G, T, D]; last dim contiguous
/// returns    rotated copies, dtype unchanged; channels past 2P are copied; a pair with theta 0 is
///            copied bit for bit unless it decays
/// throws     c10::ValueError when D < 2P, T or the groups do not match
/// source     Su et al. 2021, eq. (34), arXiv:2104.09864; gradient: docs/schemes.md
/// In debug builds the backward checks the translation gauge: sum over i of the bracket above is 0.
std::pair<at::Tensor, at::Tensor> rotate(const at::Tensor& q, const at::Tensor& k,
                                         const Rotation& rotation);

}  // namespace gyre::attention
