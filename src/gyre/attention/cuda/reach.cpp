#include "gyre/attention/cuda/reach.h"

#include <algorithm>

namespace gyre::attention::cuda {
namespace {

// Rows that see every earlier key.
void add_full(std::vector<Reach>& blocks, int64_t begin, int64_t end, int64_t block) {
  for (int64_t q = begin; q < end; q += block) {
    const int64_t n = std::min(block, end - q);
    blocks.push_back({.q_begin = q, .n_queries = n, .k_begin = 0, .n_keys = q + n});
  }
}

// Rows of one residue class under the window rule; keys before n_prefix are in the prefix.
void add_windowed(std::vector<Reach>& blocks, const position::MaskSpec& mask, int64_t begin,
                  int64_t end, int64_t block) {
  const int64_t step = mask.dilation, n_prefix = mask.n_global;
  for (int64_t q = begin; q < end; q += block * step) {
    const int64_t n = std::min(block, (end - q + step - 1) / step);
    const int64_t oldest = q - (mask.window - 1) * step;
    const int64_t k = oldest >= n_prefix ? oldest : n_prefix + (q - n_prefix) % step;
    blocks.push_back({q, n, k, (q - k) / step + n, step, n_prefix, mask.window});
  }
}

// Rows whose keys begin with their own chunk; keys before n_prefix are in the prefix.
void add_chunked(std::vector<Reach>& blocks, const position::MaskSpec& mask, int64_t begin,
                 int64_t end, int64_t block) {
  for (int64_t q = begin; q < end;) {
    const int64_t chunk_begin = q / mask.chunk * mask.chunk;
    const int64_t n = std::min({block, end - q, chunk_begin + mask.chunk - q});
    const int64_t k = std::max(chunk_begin, mask.n_global);
    blocks.push_back({q, n, k, q + n - k, 1, mask.n_global, 0});
    q += n;
  }
}

}  // namespace

std::vector<Reach> reach(const position::MaskSpec& mask, int64_t n_queries, int64_t n_keys,
                         int64_t block) {
  std::vector<Reach> blocks;
  const int64_t first = n_keys - n_queries;
  if (mask.full()) {
    add_full(blocks, first, n_keys, block);
    return blocks;
  }
  add_full(blocks, first, std::min(mask.n_global, n_keys), block);
  const int64_t begin = std::max(first, mask.n_global);
  if (mask.chunk > 0) {
    add_chunked(blocks, mask, begin, n_keys, block);
    return blocks;
  }
  for (int64_t r = 0; r < mask.dilation && begin + r < n_keys; ++r) {
    add_windowed(blocks, mask, begin + r, n_keys, block);
  }
  return blocks;
}

}  // namespace gyre::attention::cuda
