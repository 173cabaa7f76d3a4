// One call of a Transformer: builds rotation tables once, runs the blocks.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "gyre/model/linear.h"
#include "gyre/model/norm.h"
#include "gyre/model/transformer.h"

namespace gyre::model {

/// Frequencies of layer n, plan times exp(alpha): [G, P] float64 with G = 1 or the kv heads;
/// differentiable in alpha; undefined when the layer does not rotate.
at::Tensor layer_theta(const Transformer& model, int64_t n);

class ForwardPass {
 public:
  ForwardPass(const Transformer& model, const at::Tensor& tokens, const Pass& pass);
  /// Hidden states after the final norm, [B, T or the wanted rows, C] in the compute type.
  at::Tensor run();

 private:
  LinearLayer linear_layer(const std::string& name) const;
  NormLayer norm_layer(const std::string& name) const;
  struct Projected {
    at::Tensor q_BTF, k_BTF, v_BTF;  // of queries maybe the last tokens alone
  };
  // Of the last n_queries tokens.
  at::Tensor attention(const at::Tensor& x_BTC, int64_t n, int64_t n_queries);
  at::Tensor attend_apart(const Projected& x, int64_t n);
  at::Tensor mlp(const at::Tensor& x_BTC, int64_t n) const;
  at::Tensor after_norm(const at::Tensor& x_BTC, const std::string& name) const;
  void build_rotations();

  const Transformer& model_;
  const at::Tensor& tokens_;
  const Pass& pass_;
  at::ScalarType dtype_;
  int64_t B_, T_, first_position_;
  std::vector<attention::Rotation> rotations_;  // [N]; layers with equal frequencies share tensors
};

}  // namespace gyre::model
