// For tests of models: small shapes, random tokens, plans by spec.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/randint.h>
#include <gtest/gtest.h>

#include <string>

#include "gyre/model/transformer.h"
#include "gyre/position/scheme.h"

namespace gyre::model {

inline ModelConfig small_config() {
  ModelConfig config;
  config.layout = position::PairLayout::Halves;
  config.vocab = 19;
  config.width = 24;
  config.layers = 2;
  config.heads = 4;
  config.kv_heads = 2;
  config.head_dim = 8;
  config.hidden = 20;
  config.init_std = 0.2;  // large enough for attention to depend on positions
  return config;
}

inline at::Tensor random_tokens(int64_t B, int64_t T, int64_t n_vocab, uint64_t seed) {
  return at::randint(n_vocab, {B, T}, at::make_generator<at::CPUGeneratorImpl>(seed),
                     at::TensorOptions().dtype(at::kLong));
}

inline Transformer make_model(const ModelConfig& config, const std::string& scheme,
                              const std::string& mask = "full", at::ScalarType dtype = at::kFloat) {
  Transformer model(config, position::make_plan(scheme, mask, plan_request(config, 16)), at::kCPU,
                    dtype);
  model.init(7);
  return model;
}

/// Mean loss and all gradients on one batch of B x T tokens.
inline at::Tensor loss_of(const Transformer& model, int64_t T = 12) {
  const at::Tensor tokens = random_tokens(2, T + 1, model.config().vocab, 3);
  return model.nll(tokens.narrow(1, 0, T), tokens.narrow(1, 1, T)).mean();
}

inline double max_difference(const at::Tensor& a, const at::Tensor& b) {
  EXPECT_EQ(a.sizes(), b.sizes());
  return (a.detach().to(at::kDouble) - b.detach().to(at::kDouble)).abs().max().item<double>();
}

}  // namespace gyre::model
