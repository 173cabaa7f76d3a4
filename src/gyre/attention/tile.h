// Additive tiles (bias and mask) of the blocks in reach.h. Blocks differ only by how far back their
// keys begin, so one tile of a layer is built and each block takes a slice of it:
//   window 3, 2 rows, widest offset 2   distance  2 1 0 .      tile  0 0 0 x     x = -inf
//                                                 3 2 1 0            x 0 0 0
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "gyre/attention/reach.h"

namespace gyre::attention {

class TileSource {
 public:
  /// slopes [H] or empty; dtype of the tiles: float64 for float64 inputs, else float32.
  TileSource(const std::vector<Reach>& blocks, std::vector<double> slopes, at::ScalarType dtype);
  /// [1, H or 1, n_queries, n_prefix + n_keys]; undefined when every key is seen without bias.
  at::Tensor tile(const Reach& block) const;

 private:
  const at::Tensor& base(const Reach& block) const;
  at::Tensor prefix(const Reach& block) const;

  std::vector<double> slopes_;
  at::ScalarType dtype_;
  int64_t n_rows_ = 0, max_offset_ = 0;
  mutable at::Tensor full_, windowed_;  // [1, H or 1, n_rows, max_offset + n_rows]
};

}  // namespace gyre::attention
