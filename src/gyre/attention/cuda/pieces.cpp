#include "gyre/attention/cuda/pieces.h"

#include <algorithm>

namespace gyre::attention::cuda {
namespace {

// Tokens are counted among the keys here; `first` is the index of query 0.
struct Span {
  int64_t first, begin, end;  // rows begin..end-1 follow the window or chunk rule
};

void add_windowed(std::vector<Piece>& out, const position::MaskSpec& mask, const Span& span) {
  const int64_t d = mask.dilation, n_global = mask.n_global;
  for (int64_t q = span.begin; q < std::min(span.begin + d, span.end); ++q) {
    const int64_t n = (span.end - q + d - 1) / d, last = q + (n - 1) * d;
    const int64_t oldest = q - (mask.window - 1) * d;
    const int64_t k = oldest >= n_global ? oldest : n_global + (q - n_global) % d;
    out.push_back({.q_begin = q - span.first,
                   .n_queries = n,
                   .k_begin = k,
                   .n_keys = (last - k) / d + 1,
                   .step = d,
                   .window = mask.window});
  }
}

void add_chunked(std::vector<Piece>& out, const position::MaskSpec& mask, const Span& span) {
  for (int64_t q = span.begin; q < span.end;) {
    const int64_t chunk_begin = q / mask.chunk * mask.chunk;
    const int64_t k = std::max(chunk_begin, mask.n_global);
    const int64_t n = std::min(chunk_begin + mask.chunk, span.end) - q;
    const bool whole = q == chunk_begin && k == q && n == mask.chunk;
    const int64_t folds = whole ? (span.end - q) / mask.chunk : 1;
    out.push_back({.q_begin = q - span.first,
                   .n_queries = n,
                   .k_begin = k,
                   .n_keys = q + n - k,
                   .folds = folds});
    q += folds * n;
  }
}

bool sees_all(const position::MaskSpec& mask, int64_t n_keys) {
  return (mask.window == 0 || (mask.dilation == 1 && mask.window >= n_keys)) &&
         (mask.chunk == 0 || mask.chunk >= n_keys);
}

}  // namespace

std::vector<Piece> pieces(const position::MaskSpec& mask, int64_t n_queries, int64_t n_keys) {
  const int64_t first = n_keys - n_queries;
  if (sees_all(mask, n_keys)) {
    return {{.n_queries = n_queries, .n_keys = n_keys}};
  }
  std::vector<Piece> out;
  const int64_t n_global = std::min(mask.n_global, n_keys);
  if (first < n_global) {  // global tokens see every earlier one, which is a global token too
    out.push_back({.n_queries = n_global - first, .n_keys = n_global});
  }
  const Span span{first, std::max(first, n_global), n_keys};
  if (mask.chunk > 0) {
    add_chunked(out, mask, span);
  } else {
    add_windowed(out, mask, span);
  }
  if (n_global > 0 && span.begin < n_keys) {
    out.push_back({.q_begin = span.begin - first,
                   .n_queries = n_keys - span.begin,
                   .n_keys = n_global,
                   .causal = false,
                   .further = true});
  }
  return out;
}

}  // namespace gyre::attention::cuda
