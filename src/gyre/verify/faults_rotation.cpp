// Faults of the rotation: direction, pairing, application, frequencies.
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "gyre/verify/subject.h"

namespace gyre::verify {
namespace {

using attention::Rotation;
using position::PositionPlan;

/// Wraps subject.table: `change(rotation)` after the sound table was made.
template <class Change>
void after_table(Subject& subject, Change change) {
  subject.table = [sound = subject.table, change](const PositionPlan& plan, int64_t layer,
                                                  const std::vector<int64_t>& positions,
                                                  bool exact) {
    Rotation rotation = sound(plan, layer, positions, exact);
    if (rotation.theta.defined()) {
      change(rotation, plan);
    }
    return rotation;
  };
}

Rotation reversed(Rotation rotation) {
  if (rotation.theta.defined()) {
    rotation.sin = -rotation.sin;
    rotation.key_sin = -rotation.key_sin;
  }
  return rotation;
}

// Columns of zeros up to D / 2 pairs, so that halves are split over the whole head.
at::Tensor widened(const at::Tensor& table, int64_t n_pairs, double fill) {
  auto sizes = table.sizes().vec();
  sizes.back() = n_pairs - sizes.back();
  return at::cat({table, at::zeros(sizes, table.options()) + fill}, -1);
}

}  // namespace

Fault flipped_direction() {
  return {"flipped-direction", "queries and keys turn by -angle", [](Subject& subject) {
            after_table(subject, [](Rotation& r, const PositionPlan&) { r = reversed(r); });
          }};
}

Fault flipped_key_direction() {
  return {"flipped-key-direction", "keys turn by -angle, queries by angle", [](Subject& subject) {
            subject.rotate = [sound = subject.rotate](const at::Tensor& q, const at::Tensor& k,
                                                      const Rotation& r) {
              return std::pair(sound(q, k, r).first, sound(q, k, reversed(r)).second);
            };
          }};
}

Fault wrong_pairing() {
  return {
      "wrong-pairing",
      "half-split weights under interleaved pairs and the reverse (rasbt/LLMs-from-scratch#750)",
      [](Subject& subject) {
        after_table(subject, [](Rotation& r, const PositionPlan&) {
          r.layout = r.layout == position::PairLayout::Halves ? position::PairLayout::Interleaved
                                                              : position::PairLayout::Halves;
        });
      }};
}

Fault pairs_over_head() {
  return {"pairs-over-head",
          "a partly rotated head is split in halves as a whole, not over its rotated channels "
          "(coreai-models#66)",
          [](Subject& subject) {
            after_table(subject, [](Rotation& r, const PositionPlan& plan) {
              if (r.layout == position::PairLayout::Halves && plan.rotary_dim < plan.head_dim) {
                r.theta = widened(r.theta, plan.head_dim / 2, 0.0);
                r.cos = widened(r.cos, plan.head_dim / 2, 1.0);
                r.sin = widened(r.sin, plan.head_dim / 2, 0.0);
                r.key_cos = widened(r.key_cos, plan.head_dim / 2, 1.0);
                r.key_sin = widened(r.key_sin, plan.head_dim / 2, 0.0);
              }
            });
          }};
}

Fault double_rotation() {
  return {"double-rotation", "rotated in the model and again in the kernel (TensorRT-LLM#16378)",
          [](Subject& subject) {
            subject.rotate = [sound = subject.rotate](const at::Tensor& q, const at::Tensor& k,
                                                      const Rotation& r) {
              const auto [once_q, once_k] = sound(q, k, r);
              return sound(once_q, once_k, r);
            };
          }};
}

Fault rotates_every_layer() {
  return {"rotates-every-layer",
          "layers without rotation are rotated like the others (transformers#43756)",
          [](Subject& subject) {
            subject.table = [sound = subject.table](PositionPlan plan, int64_t layer,
                                                    const std::vector<int64_t>& positions,
                                                    bool exact) {
              auto& inv_freq = plan.layers[static_cast<size_t>(layer)].inv_freq;
              if (inv_freq.empty()) {
                std::vector<double> bands;
                for (int64_t m = 0; m < plan.head_dim / 2; ++m) {
                  bands.push_back(std::pow(
                      1e4, -2.0 * static_cast<double>(m) / static_cast<double>(plan.head_dim)));
                }
                inv_freq = {bands};
              }
              return sound(plan, layer, positions, exact);
            };
          }};
}

Fault exponent_over_rotated_width() {
  return {"exponent-over-rotated-width",
          "exponents of the kept bands are spread over the rotated width, not the head "
          "(pegainfer#820)",
          [](Subject& subject) {
            subject.plan = [sound = subject.plan](const std::string& spec,
                                                  const position::PlanRequest& request) {
              PositionPlan plan = sound(spec, request);
              for (auto& layer : plan.layers) {
                for (auto& bands : layer.inv_freq) {
                  size_t kept = 0;
                  while (kept < bands.size() && bands[kept] != 0.0) {
                    ++kept;
                  }
                  // f_m = b^(-2m/D)  ->  b^(-2m/R) with R = 2 kept
                  const double stretch =
                      static_cast<double>(plan.head_dim) / (2.0 * static_cast<double>(kept));
                  for (size_t m = 0; m < kept; ++m) {
                    bands[m] = std::pow(bands[m], stretch);
                  }
                }
              }
              return plan;
            };
          }};
}

}  // namespace gyre::verify
