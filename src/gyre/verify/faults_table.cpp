// Faults of the table of angles: precision, caching, length, amplitude, choice by length.
#include <ATen/TensorOperators.h>
#include <ATen/ops/hypot.h>
#include <ATen/ops/tensor.h>

#include <map>
#include <memory>

#include "gyre/verify/subject.h"

namespace gyre::verify {
namespace {

using attention::Rotation;
using position::PositionPlan;
using Positions = std::vector<int64_t>;

/// Replaces the angles of every table by position and frequency rounded as `angle` does it.
void with_angles(Subject& subject,
                 at::Tensor (*angle)(const at::Tensor& positions_T1, const at::Tensor& theta_G1P)) {
  subject.table = [sound = subject.table, angle](const PositionPlan& plan, int64_t layer,
                                                 const Positions& positions, bool exact) {
    Rotation r = sound(plan, layer, positions, exact);
    if (r.theta.defined()) {
      const at::Tensor turned =
          angle(r.positions.to(at::kDouble).unsqueeze(1), r.theta.detach().unsqueeze(1))
              .to(at::kDouble);
      // Lengths hold amplitude and decay, which differ between queries and keys.
      const at::Tensor length = at::hypot(r.cos, r.sin).to(at::kDouble);
      const at::Tensor key_length = at::hypot(r.key_cos, r.key_sin).to(at::kDouble);
      const at::ScalarType dtype = r.cos.scalar_type();
      r.cos = (turned.cos() * length).to(dtype);
      r.sin = (turned.sin() * length).to(dtype);
      r.key_cos = (turned.cos() * key_length).to(dtype);
      r.key_sin = (turned.sin() * key_length).to(dtype);
    }
    return r;
  };
}

/// Tables kept under a key, as libraries do that build them once.
template <class Key>
void with_cache(Subject& subject, Key key) {
  using Value = decltype(key(PositionPlan(), int64_t{0}, Positions(), true));
  subject.table =
      [sound = subject.table, key, kept = std::make_shared<std::map<Value, Rotation>>()](
          const PositionPlan& plan, int64_t layer, const Positions& positions, bool exact) {
        Rotation fresh = sound(plan, layer, positions, exact);
        if (!fresh.theta.defined()) {
          return fresh;
        }
        const auto [entry, added] = kept->try_emplace(key(plan, layer, positions, exact), fresh);
        if (!added) {
          const at::ScalarType dtype = fresh.cos.scalar_type();
          fresh.cos = entry->second.cos.to(dtype);
          fresh.sin = entry->second.sin.to(dtype);
          fresh.key_cos = entry->second.key_cos.to(dtype);
          fresh.key_sin = entry->second.key_sin.to(dtype);
        }
        return fresh;
      };
}

void with_amplitude(Subject& subject, double (*change)(double)) {
  subject.table = [sound = subject.table, change](PositionPlan plan, int64_t layer,
                                                  const Positions& positions, bool exact) {
    double& amplitude = plan.layers[static_cast<size_t>(layer)].amplitude;
    amplitude = change(amplitude);
    return sound(plan, layer, positions, exact);
  };
}

}  // namespace

Fault bf16_positions() {
  return {"bf16-positions", "positions in bfloat16: 257 becomes 256 (gpt-neox#1016)",
          [](Subject& subject) {
            with_angles(subject, [](const at::Tensor& p, const at::Tensor& theta) {
              return p.to(at::kBFloat16).to(at::kDouble) * theta;
            });
          }};
}

Fault bf16_angles() {
  return {"bf16-angles",
          "frequencies and angles in bfloat16, cast with the model (transformers#29285)",
          [](Subject& subject) {
            with_angles(subject, [](const at::Tensor& p, const at::Tensor& theta) {
              return p.to(at::kBFloat16) * theta.to(at::kBFloat16);
            });
          }};
}

Fault fp16_angles() {
  return {"fp16-angles", "angles in float16: steps of 1 rad above 1024 (gpt-neox#1003)",
          [](Subject& subject) {
            with_angles(subject, [](const at::Tensor& p, const at::Tensor& theta) {
              return (p.to(at::kHalf) * theta.to(at::kHalf));
            });
          }};
}

Fault fp32_angles() {
  return {"fp32-angles", "position times frequency in float32: 0.06 rad off at 1M tokens",
          [](Subject& subject) {
            with_angles(subject, [](const at::Tensor& p, const at::Tensor& theta) {
              return p.to(at::kFloat) * theta.to(at::kFloat);
            });
          }};
}

Fault table_without_offset() {
  return {"table-without-offset",
          "kept tables are found again by their length alone (rotary-embedding-torch#11)",
          [](Subject& subject) {
            with_cache(subject, [](const PositionPlan& plan, int64_t layer, const Positions& p,
                                   bool exact) {
              return std::tuple(plan.layers[static_cast<size_t>(layer)].inv_freq, p.size(), exact);
            });
          }};
}

Fault table_keeps_first_dtype() {
  return {"table-keeps-first-dtype",
          "kept tables are found again without their dtype (rotary-embedding-torch 0.9.1)",
          [](Subject& subject) {
            with_cache(subject,
                       [](const PositionPlan& plan, int64_t layer, const Positions& p, bool) {
                         const auto& one = plan.layers[static_cast<size_t>(layer)];
                         return std::tuple(one.inv_freq, p, one.amplitude);
                       });
          }};
}

Fault table_too_short() {
  return {"table-too-short", "a table of 4096 rows wraps at position 4096 (vllm#55910)",
          [](Subject& subject) {
            subject.table = [sound = subject.table](const PositionPlan& plan, int64_t layer,
                                                    Positions positions, bool exact) {
              for (int64_t& position : positions) {
                position %= 4096;
              }
              return sound(plan, layer, positions, exact);
            };
          }};
}

Fault amplitude_missing() {
  return {"amplitude-missing", "the attention factor is dropped (executorch#19235)",
          [](Subject& subject) { with_amplitude(subject, [](double) { return 1.0; }); }};
}

Fault amplitude_squared() {
  return {"amplitude-squared", "the attention factor is applied twice (TensorRT-LLM#16378)",
          [](Subject& subject) { with_amplitude(subject, [](double a) { return a * a; }); }};
}

Fault mixed_dynamic_tables() {
  return {"mixed-dynamic-tables",
          "keys keep the table of the length at which they were cached (transformers#25104)",
          [](Subject& subject) {
            subject.table_length = [](const TableLengths& lengths) { return lengths.when_cached; };
          }};
}

Fault table_by_allocated_length() {
  return {"table-by-allocated-length",
          "the table is chosen by the room of the cache, not by the sequence (llama.cpp#8995)",
          [](Subject& subject) {
            subject.table_length = [](const TableLengths& lengths) { return lengths.allocated; };
          }};
}

}  // namespace gyre::verify
