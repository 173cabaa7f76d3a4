// Faults of masks, bias, scale and head groups.
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>

#include <cmath>

#include "gyre/verify/subject.h"

namespace gyre::verify {
namespace {

using position::LayerPlan;

/// Wraps subject.attention: `change(layer, q, k)` edits the layer first.
template <class Change>
void before_attention(Subject& subject, Change change) {
  subject.attention = [sound = subject.attention, change](const at::Tensor& q, const at::Tensor& k,
                                                          const at::Tensor& v, LayerPlan layer) {
    change(layer, q, k);
    return sound(q, k, v, layer);
  };
}

at::Tensor seen_TS(const position::MaskSpec& mask, int64_t T, int64_t S, int64_t ahead) {
  std::vector<int64_t> seen;
  for (int64_t i = S - T; i < S; ++i) {
    for (int64_t j = 0; j < S; ++j) {
      seen.push_back(mask.sees(i, j) || (j > i && j <= i + ahead) ? 1 : 0);
    }
  }
  return at::tensor(seen, at::kLong).view({T, S}).to(at::kBool);
}

// Dense attention whose bias [H, T, S] and look-ahead are given; for faults of these alone.
at::Tensor dense(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                 const LayerPlan& layer, const at::Tensor& bias_HTS, int64_t ahead) {
  const int64_t repeat = q.size(1) / k.size(1);
  const double scale = layer.logit_scale / std::sqrt(static_cast<double>(q.size(3)));
  at::Tensor scores =
      at::matmul(q, k.repeat_interleave(repeat, 1).transpose(2, 3)).to(at::kDouble) * scale;
  if (bias_HTS.defined()) {
    scores = scores + bias_HTS;
  }
  const at::Tensor seen = seen_TS(layer.mask, q.size(2), k.size(2), ahead);
  scores = at::where(seen, scores, at::tensor(-INFINITY, at::kDouble));
  return at::matmul(at::softmax(scores, -1).to(v.scalar_type()), v.repeat_interleave(repeat, 1));
}

at::Tensor bias_HTS(const LayerPlan& layer, int64_t T, int64_t S, at::ScalarType rounding) {
  if (layer.slopes.empty()) {
    return {};
  }
  const at::Tensor keys = at::arange(S, at::kDouble).view({1, 1, S});
  const at::Tensor queries = at::arange(S - T, S, at::kDouble).view({1, T, 1});
  const at::Tensor slopes = at::tensor(layer.slopes, at::kDouble).view({-1, 1, 1});
  // The bias from the key's position alone, as some kernels build it, less a constant per row.
  return (slopes * keys).to(rounding).to(at::kDouble) - slopes * queries;
}

}  // namespace

Fault window_off_by_one() {
  return {"window-off-by-one", "the window counts the keys before the query (transformers#39408)",
          [](Subject& subject) {
            before_attention(subject, [](LayerPlan& layer, const at::Tensor&, const at::Tensor&) {
              layer.mask.window += layer.mask.window > 0 ? 1 : 0;
            });
          }};
}

Fault window_halved() {
  return {"window-halved", "a window given per side is read as the total (SlowFast#5)",
          [](Subject& subject) {
            before_attention(subject, [](LayerPlan& layer, const at::Tensor&, const at::Tensor&) {
              layer.mask.window = (layer.mask.window + 1) / 2;
            });
          }};
}

Fault window_lost_in_decode() {
  return {"window-lost-in-decode", "the window is not passed on with a cache (nanochat#452)",
          [](Subject& subject) {
            before_attention(subject,
                             [](LayerPlan& layer, const at::Tensor& q, const at::Tensor& k) {
                               if (q.size(2) < k.size(2)) {
                                 layer.mask = {};
                               }
                             });
          }};
}

Fault chunk_mask_ignored() {
  return {"chunk-mask-ignored", "layers of chunked attention see every earlier chunk",
          [](Subject& subject) {
            before_attention(subject, [](LayerPlan& layer, const at::Tensor&, const at::Tensor&) {
              layer.mask.chunk = 0;
            });
          }};
}

Fault causal_top_left() {
  return {"causal-top-left",
          "with a cache, query t sees keys 0..t: the causal mask is aligned to the wrong corner",
          [](Subject& subject) {
            subject.attention = [sound = subject.attention](
                                    const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                    const LayerPlan& layer) {
              const int64_t T = q.size(2);
              return sound(q, k.narrow(2, 0, T), v.narrow(2, 0, T), layer);
            };
          }};
}

Fault causal_off_by_one() {
  return {"causal-off-by-one", "every query sees the next token too", [](Subject& subject) {
            subject.attention = [](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                   const LayerPlan& layer) {
              return dense(q, k, v, layer, bias_HTS(layer, q.size(2), k.size(2), at::kDouble), 1);
            };
          }};
}

Fault groups_interleaved() {
  return {"groups-interleaved", "query head h reads key head h mod G, not h / (H / G)",
          [](Subject& subject) {
            subject.attention = [sound = subject.attention](
                                    const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                    const LayerPlan& layer) {
              const int64_t repeat = q.size(1) / k.size(1);
              return sound(q, k.repeat({1, repeat, 1, 1}), v.repeat({1, repeat, 1, 1}), layer);
            };
          }};
}

Fault scale_missing() {
  return {"scale-missing", "scores are not divided by sqrt(D)", [](Subject& subject) {
            before_attention(subject, [](LayerPlan& layer, const at::Tensor& q, const at::Tensor&) {
              layer.logit_scale *= std::sqrt(static_cast<double>(q.size(3)));
            });
          }};
}

Fault bias_sign() {
  return {"bias-sign", "the linear bias rewards far keys (attention-gym#86)", [](Subject& subject) {
            before_attention(subject, [](LayerPlan& layer, const at::Tensor&, const at::Tensor&) {
              for (double& slope : layer.slopes) {
                slope = -slope;
              }
            });
          }};
}

Fault bias_scaled() {
  return {"bias-scaled", "the linear bias is divided by sqrt(D) with the scores",
          [](Subject& subject) {
            before_attention(subject, [](LayerPlan& layer, const at::Tensor& q, const at::Tensor&) {
              for (double& slope : layer.slopes) {
                slope /= std::sqrt(static_cast<double>(q.size(3)));
              }
            });
          }};
}

Fault bias_bf16() {
  return {"bias-bf16",
          "the linear bias is made in bfloat16 from the key's position "
          "(TensorRT-Model-Connect#667)",
          [](Subject& subject) {
            subject.attention = [sound = subject.attention](
                                    const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                    const LayerPlan& layer) {
              if (layer.slopes.empty()) {
                return sound(q, k, v, layer);
              }
              return dense(q, k, v, layer, bias_HTS(layer, q.size(2), k.size(2), at::kBFloat16), 0);
            };
          }};
}

Fault slope_exponent() {
  return {"slope-exponent", "slopes start at 2^0: exponents off by one (aprender#2143)",
          [](Subject& subject) {
            subject.plan = [sound = subject.plan](const std::string& spec,
                                                  const position::PlanRequest& request) {
              position::PositionPlan plan = sound(spec, request);
              for (LayerPlan& layer : plan.layers) {
                const double ratio =
                    layer.slopes.size() < 2 ? 2.0 : layer.slopes[0] / layer.slopes[1];
                for (double& slope : layer.slopes) {
                  slope *= ratio;
                }
              }
              return plan;
            };
          }};
}

}  // namespace gyre::verify
