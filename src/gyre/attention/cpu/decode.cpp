#include "gyre/attention/cpu/decode.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gyre/attention/cpu/decode_params.h"
#include "gyre/tensor/parallel.h"

namespace gyre::attention::cpu {
namespace {

constexpr double kLog2E = 1.4426950408889634;

// Keys [first, n) of row b, as its one query sees them.
int64_t first_seen(const Call& call, int64_t b) {
  const int64_t S = call.k.size(2);
  int64_t first = 0;
  if (call.mask.window > 0) {
    first = std::max(first, S - call.mask.window);
  }
  if (call.mask.chunk > 0) {
    first = std::max(first, (S - 1) / call.mask.chunk * call.mask.chunk);
  }
  if (call.first_key.defined()) {
    first = std::max(first, call.first_key.const_data_ptr<int64_t>()[b]);
  }
  return std::min(first, S - 1);
}

template <class T>
const T* at_row(const at::Tensor& x, int64_t b, int64_t head, int64_t token) {
  return static_cast<const T*>(x.const_data_ptr()) + b * x.stride(0) + head * x.stride(1) +
         token * x.stride(2);
}

// What one key/value head's queries found in one piece.
struct Partial {
  std::vector<float> out, top, sum;
};

template <class T>
void write(const std::vector<Partial>& pieces, int64_t m, int64_t D, T* out) {
  float top = -INFINITY, sum = 0.0F;
  const auto i = static_cast<size_t>(m);
  for (const Partial& piece : pieces) {
    top = std::max(top, piece.top[i]);
  }
  std::vector<float> total(static_cast<size_t>(D), 0.0F);
  for (const Partial& piece : pieces) {
    const float weight = std::exp2(piece.top[i] - top);
    sum += weight * piece.sum[i];
    for (size_t d = 0; d < total.size(); ++d) {
      total[d] += weight * piece.out[i * total.size() + d];
    }
  }
  for (size_t d = 0; d < total.size(); ++d) {
    out[d] = static_cast<T>(total[d] / sum);
  }
}

template <class T>
void decode_of(const Call& call, at::Tensor& out, void (*kernel)(const DecodePiece&)) {
  const int64_t B = call.q.size(0), H = call.q.size(1), D = call.q.size(3);
  const int64_t G = call.k.size(1), S = call.k.size(2), M = H / G;
  const int64_t most = (S + kPiece - 1) / kPiece;
  std::vector<double> slopes = call.slopes;
  for (double& slope : slopes) {
    slope *= kLog2E;
  }
  std::vector<std::vector<Partial>> found(static_cast<size_t>(B * G));
  for (int64_t u = 0; u < B * G; ++u) {
    const int64_t n = S - first_seen(call, u / G);
    found[static_cast<size_t>(u)].resize(static_cast<size_t>((n + kPiece - 1) / kPiece));
  }
  parallel_for(0, B * G * most, 1, [&](int64_t begin, int64_t end) {
    for (int64_t w = begin; w < end; ++w) {
      const int64_t u = w / most, i = w % most, b = u / G, g = u % G;
      auto& pieces = found[static_cast<size_t>(u)];
      if (i >= static_cast<int64_t>(pieces.size())) {
        continue;
      }
      Partial& to = pieces[static_cast<size_t>(i)];
      to.out.resize(static_cast<size_t>(M * D));
      to.top.resize(static_cast<size_t>(M));
      to.sum.resize(static_cast<size_t>(M));
      const int64_t first = first_seen(call, b) + i * kPiece;
      kernel({.q = at_row<T>(call.q, b, g * M, 0),
              .k = at_row<T>(call.k, b, g, first),
              .v = at_row<T>(call.v, b, g, first),
              .q_step = call.q.stride(1),
              .k_step = call.k.stride(2),
              .v_step = call.v.stride(2),
              .n_queries = M,
              .n = std::min(kPiece, S - first),
              .head_dim = D,
              .scale = call.scale * kLog2E,
              .cap = call.cap * kLog2E,
              .slopes = slopes.empty() ? nullptr : slopes.data() + g * M,
              .distance = S - 1 - first,
              .out = to.out.data(),
              .top = to.top.data(),
              .sum = to.sum.data()});
    }
  });
  for (int64_t u = 0; u < B * G; ++u) {
    for (int64_t m = 0; m < M; ++m) {
      write(found[static_cast<size_t>(u)], m, D,
            const_cast<T*>(at_row<T>(out, u / G, u % G * M + m, 0)));
    }
  }
}

}  // namespace

bool decodes(const Call& call) {
  const at::ScalarType type = call.q.scalar_type();
  const position::MaskSpec& mask = call.mask;
  return call.q.size(2) == 1 && (type == at::kFloat || type == at::kBFloat16) &&
         !call.cos.defined() && !call.query_gain.defined() && mask.dilation == 1 &&
         (mask.n_global == 0 || mask.full());
}

void decode(const Call& call, at::Tensor& out) {
  if (call.q.scalar_type() == at::kFloat) {
    decode_of<float>(call, out, decode_kernels().of_float);
  } else {
    decode_of<c10::BFloat16>(call, out, decode_kernels().of_bf16);
  }
}

}  // namespace gyre::attention::cpu
