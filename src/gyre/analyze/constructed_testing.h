// For tests of the analysis: a model of two layers made by hand, whose heads are known.
//   layer 0  head 0 diagonal      q = k = psi in the rotating pairs (equations of docs/analyze.md)
//            head 1 previous      k = R psi; writes the token before into the stream
//            head 2 sink          looks for the begin token
//            head 3 content       q = k = code of the token, in pairs at rest
//   layer 1  head 0 induction     looks for its own token among the tokens before; copies
//            heads 1-3            q = k = 0: equal weights
// Frequencies 1, 0.3, 0.1, 0.03 and 28 pairs at rest.
#pragma once

#include <c10/core/GradMode.h>

#include <array>
#include <string>

#include "gyre/analyze/subject.h"
#include "gyre/base/rng.h"
#include "gyre/model/transformer.h"

namespace gyre::analyze {

inline constexpr int64_t kCode = 56, kBegin = 256, kRotating = 4;

/// A sign for channel c of a token's code.
inline double code_of(int64_t token, int64_t c) {
  return Rng(5, "test/code", static_cast<uint64_t>(token * kCode + c)).below(2) == 0 ? -1.0 : 1.0;
}

/// Channel of a head (halves, D = 64) that holds number c of a code: pairs 4 .. 31 are at rest.
inline int64_t code_channel(int64_t c) {
  return c < 28 ? kRotating + c : 32 + kRotating + (c - 28);
}

inline model::ModelConfig constructed_config() {
  model::ModelConfig config;
  config.layout = position::PairLayout::Halves;
  config.vocab = 257;
  config.width = 136;
  config.layers = 2;
  config.heads = 4;
  config.head_dim = 64;
  config.hidden = 8;
  return config;
}

inline position::PositionPlan constructed_plan(int64_t n_layers = 2) {
  position::PositionPlan plan;
  plan.layout = position::PairLayout::Halves;
  plan.head_dim = 64;
  plan.rotary_dim = 64;
  std::vector<double> theta = {1.0, 0.3, 0.1, 0.03};
  theta.resize(32, 0.0);
  plan.layers.resize(static_cast<size_t>(n_layers));
  for (position::LayerPlan& layer : plan.layers) {
    layer.inv_freq = {theta};
  }
  return plan;
}

/// Row of the projection to q (part 0), k (1) or v (2) of a head's channel.
inline at::Tensor projection_row(const model::Transformer& model, int64_t n, int64_t part,
                                 int64_t head, int64_t channel) {
  return model.weight("blocks." + std::to_string(n) +
                      ".attention.qkv.weight")[(part * 4 + head) * 64 + channel];
}

inline void set(at::Tensor row, int64_t column, double value) {
  row[column] = value;
}

inline model::Transformer constructed_model() {
  model::Transformer model(constructed_config(), constructed_plan());
  model.init(1);
  const c10::NoGradGuard no_grad;
  for (const model::Parameter& parameter : model.parameters()) {
    at::Tensor value = parameter.value;
    value.fill_(parameter.name.ends_with("norm.weight") ? 1.0 : 0.0);
  }
  // Stream: channel 0 constant, 1 .. 56 code of the token, 57 .. 112 code of the token before.
  const at::Tensor embedding = model.weight("embedding.weight");
  for (int64_t t = 0; t < 257; ++t) {
    set(embedding[t], 0, 8.0);
    for (int64_t c = 0; c < kCode; ++c) {
      set(embedding[t], 1 + c, code_of(t, c));
    }
  }
  const std::array<double, 4> theta = {1.0, 0.3, 0.1, 0.03};
  for (int64_t m = 0; m < kRotating; ++m) {
    for (const int64_t head : {0, 1}) {
      set(projection_row(model, 0, 0, head, m), 0, 1.2);
    }
    const double angle = theta[static_cast<size_t>(m)];
    set(projection_row(model, 0, 1, 0, m), 0, 1.2);
    set(projection_row(model, 0, 1, 1, m), 0, 1.2 * std::cos(angle));
    set(projection_row(model, 0, 1, 1, m + 32), 0, 1.2 * std::sin(angle));
  }
  const at::Tensor out0 = model.weight("blocks.0.attention.out.weight");
  const at::Tensor out1 = model.weight("blocks.1.attention.out.weight");
  for (int64_t c = 0; c < kCode; ++c) {
    const int64_t channel = code_channel(c);
    set(projection_row(model, 0, 2, 1, channel), 1 + c, 1.0);
    set(out0[1 + kCode + c], 64 + channel, 1.0);
    set(projection_row(model, 0, 0, 2, channel), 0, 0.25 * code_of(kBegin, c));
    set(projection_row(model, 0, 1, 2, channel), 1 + c, 1.5);
    set(projection_row(model, 0, 0, 3, channel), 1 + c, 1.5);
    set(projection_row(model, 0, 1, 3, channel), 1 + c, 1.5);
    set(projection_row(model, 1, 0, 0, channel), 1 + c, 1.8);
    set(projection_row(model, 1, 1, 0, channel), 1 + kCode + c, 1.8);
    set(projection_row(model, 1, 2, 0, channel), 1 + c, 1.0);
    set(out1[1 + c], channel, 8.0);
  }
  return model;
}

}  // namespace gyre::analyze
