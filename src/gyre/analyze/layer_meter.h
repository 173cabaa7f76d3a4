// Measures one layer from its queries, keys and values before the rotation: chunk norms, content
// means, attention scores of roles, bound against logit, patterns.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "gyre/analyze/layer_record.h"
#include "gyre/analyze/rows.h"
#include "gyre/analyze/targets.h"

namespace gyre::analyze {

class LayerMeter {
 public:
  LayerMeter(const Subject& subject, const Rows& rows);
  /// q [B, H, T, D], k and v [B, G, T, D] of all rows, any float type.
  LayerRecord measure(int64_t n, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);

 private:
  const at::Tensor& visible(const position::MaskSpec& mask);

  const Subject& subject_;
  const Rows& rows_;
  Targets targets_;
  std::vector<std::vector<std::vector<double>>> inv_freq_;  // [layer][group][pair]
  std::vector<std::pair<position::MaskSpec, at::Tensor>> masks_;
};

}  // namespace gyre::analyze
