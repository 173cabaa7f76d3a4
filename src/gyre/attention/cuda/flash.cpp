// The bias: -slope (i - j) differs from slope (j - c) by a constant per row, which softmax ignores.
// scale * sum_e q_e k_e = slope (j - c), with q_e parts of slope / scale and k_e digits of j - c:
//   slope / scale = p0 + p1 + ...       each rounded to bfloat16, so two hold 16 bits, three 24
//   j - c = d0 + 256 d1 + 65536 d2      |d| <= 128, exact in bfloat16
// one channel per (part, digit). c is the middle query: near keys have small terms, and float32
// loses |slope (j - c)| 2^-24 nats. Tricks: grouped heads, windows and equal chunks in one call.
#include "gyre/attention/cuda/flash.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/logaddexp.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/util/BFloat16.h>

#include <algorithm>
#include <list>
#include <mutex>

namespace gyre::attention::cuda {
namespace {

constexpr int64_t kBiasChannels = 8;
constexpr int64_t kBase = 256;

int64_t digits_for(int64_t largest) {
  return largest < kBase / 2 ? 1 : largest < kBase * kBase / 2 - kBase ? 2 : 3;
}

// What the coefficients of a layer's bias depend on; device tensors of the last few are kept,
// because a copy to the device waits for all work before it.
struct BiasKey {
  std::vector<double> slopes;
  double scale;
  int64_t n_digits;
  at::Device device;
  bool operator==(const BiasKey&) const = default;
};

int64_t parts_for(int64_t n_digits) {
  return std::min<int64_t>(3, kBiasChannels / n_digits);
}

// [H, n_digits * n_parts] float64: parts of slope / scale, times 256^k for digit k.
at::Tensor make_coefficients(const BiasKey& key) {
  std::vector<double> out;
  for (const double slope : key.slopes) {
    double weight = 1.0;
    for (int64_t k = 0; k < key.n_digits; ++k) {
      double rest = slope / key.scale;
      for (int64_t part = 0; part < parts_for(key.n_digits); ++part) {
        const double rounded = static_cast<float>(c10::BFloat16(static_cast<float>(rest)));
        out.push_back(rounded * weight);
        rest -= rounded;
      }
      weight *= static_cast<double>(kBase);
    }
  }
  const auto n_heads = static_cast<int64_t>(key.slopes.size());
  return at::tensor(out, at::kDouble).view({n_heads, -1}).to(key.device);
}

at::Tensor coefficients(const BiasKey& key) {
  constexpr size_t kEntries = 16;
  static std::mutex mutex;
  // Newest first. Never destroyed: at exit the driver may be gone before its tensors would be.
  static auto& entries = *new std::list<std::pair<BiasKey, at::Tensor>>;
  const std::lock_guard lock(mutex);
  for (const auto& [known, tensor] : entries) {
    if (known == key) {
      return tensor;
    }
  }
  entries.emplace_front(key, make_coefficients(key));
  if (entries.size() > kEntries) {
    entries.pop_back();
  }
  return entries.front().second;
}

// Balanced digits of values [S], each repeated for every part: [S, n_digits * n_parts], |digit| <=
// 128 and sum of digit_k 256^k = value.
at::Tensor digits_of(const at::Tensor& values_S, int64_t n_digits) {
  std::vector<at::Tensor> digits;
  at::Tensor rest = values_S;
  for (int64_t k = 0; k < n_digits; ++k) {
    digits.push_back((rest + kBase / 2).remainder(kBase) - kBase / 2);
    rest = (rest - digits.back()).floor_divide(kBase);
  }
  return at::stack(digits, 1).repeat_interleave(parts_for(n_digits), 1);
}

void write_bias(at::Tensor& q_BTHD, at::Tensor& k_BSGD, int64_t first_channel,
                const std::vector<double>& slopes, double scale) {
  const int64_t T = q_BTHD.size(1), S = k_BSGD.size(1);
  const int64_t centre = S - 1 - T / 2;
  const int64_t n_digits = digits_for(std::max(centre, S - 1 - centre));
  const int64_t n_channels = n_digits * parts_for(n_digits);
  const at::Tensor offsets_S = at::arange(-centre, S - centre, k_BSGD.options().dtype(at::kLong));
  q_BTHD.narrow(3, first_channel, n_channels)
      .copy_(coefficients({slopes, scale, n_digits, q_BTHD.device()}));
  k_BSGD.narrow(3, first_channel, n_channels).copy_(digits_of(offsets_S, n_digits).unsqueeze(1));
}

int64_t n_rows(int64_t per_fold, const Piece& piece) {
  return (per_fold * piece.folds - 1) * piece.step + 1;
}

// Rows of dim 1 of a piece, as a view [B, folds * n, heads, D].
at::Tensor span(const at::Tensor& x_BTHD, int64_t begin, int64_t n, const Piece& piece) {
  return x_BTHD.slice(1, begin, begin + n_rows(n, piece), piece.step);
}

// The same with folds as sequences of their own, [B * folds, n, heads, D].
at::Tensor rows(const at::Tensor& x_BTHD, int64_t begin, int64_t n, const Piece& piece) {
  const at::Tensor part = span(x_BTHD, begin, n, piece);
  return piece.folds == 1
             ? part
             : part.reshape({part.size(0) * piece.folds, n, part.size(2), part.size(3)});
}

at::Tensor unfolded(const at::Tensor& x, const Piece& piece) {
  return piece.folds == 1
             ? x
             : x.reshape({x.size(0) / piece.folds, x.size(1) * piece.folds, x.size(2), -1});
}

// lse: [B, H, T] and [B * folds, H, n].
at::Tensor lse_span(const at::Tensor& lse_BHT, const Piece& piece) {
  return lse_BHT.slice(2, piece.q_begin, piece.q_begin + n_rows(piece.n_queries, piece),
                       piece.step);
}

at::Tensor lse_rows(const at::Tensor& lse_BHT, const Piece& piece) {
  const at::Tensor part = lse_span(lse_BHT, piece);
  return piece.folds == 1 ? part
                          : part.unflatten(2, {piece.folds, piece.n_queries})
                                .transpose(1, 2)
                                .reshape({-1, part.size(1), piece.n_queries});
}

at::Tensor lse_unfolded(const at::Tensor& lse, const Piece& piece) {
  return piece.folds == 1 ? lse : lse.unflatten(0, {-1, piece.folds}).transpose(1, 2).flatten(2);
}

VendorCall call_of(const Piece& piece, double scale) {
  return {piece.causal, piece.window, scale};
}

bool one_call(const std::vector<Piece>& pieces, const FlashInput& in) {
  const Piece& p = pieces.front();
  return pieces.size() == 1 && p.folds == 1 && p.step == 1 && p.n_queries == in.q.size(1) &&
         p.n_keys == in.k.size(1);
}

FlashInput rows_of(const FlashInput& in, const Piece& p) {
  return {rows(in.q, p.q_begin, p.n_queries, p), rows(in.k, p.k_begin, p.n_keys, p),
          rows(in.v, p.k_begin, p.n_keys, p)};
}

// Two softmax averages over disjoint keys become that over all of them.
void merge(VendorOutput& all, const VendorOutput& part, const Piece& piece) {
  at::Tensor lse = lse_span(all.lse, piece),
             out = span(all.out, piece.q_begin, piece.n_queries, piece);
  const at::Tensor other = lse_unfolded(part.lse, piece), total = at::logaddexp(lse, other);
  const auto weight = [&](const at::Tensor& of) {
    return (of - total).exp().transpose(1, 2).unsqueeze(3);  // [B, T, H, 1]
  };
  out.copy_(out.to(at::kFloat) * weight(lse) +
            unfolded(part.out, piece).to(at::kFloat) * weight(other));
  lse.copy_(total);
}

}  // namespace

int64_t padded_dim(int64_t head_dim, bool biased) {
  return (head_dim + (biased ? kBiasChannels : 0) + 7) / 8 * 8;
}

at::Tensor padded(const at::Tensor& x_BHTD, int64_t dim) {
  const at::Tensor x_BTHD = x_BHTD.transpose(1, 2);
  const int64_t D = x_BTHD.size(3);
  if (D == dim) {
    return x_BTHD;
  }
  at::Tensor out =
      at::empty({x_BTHD.size(0), x_BTHD.size(1), x_BTHD.size(2), dim}, x_BTHD.options());
  out.narrow(3, 0, D).copy_(x_BTHD);
  out.narrow(3, D, dim - D).zero_();
  return out;
}

FlashInput flash_input(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                       const std::vector<double>& slopes, double scale) {
  const int64_t D = q.size(3), dim = padded_dim(D, !slopes.empty());
  FlashInput out{padded(q, dim), padded(k, dim), padded(v, dim)};
  if (!slopes.empty()) {
    write_bias(out.q, out.k, D, slopes, scale);
  }
  return out;
}

VendorOutput flash_forward(const Vendor& vendor, const FlashInput& input,
                           const std::vector<Piece>& pieces, double scale) {
  if (one_call(pieces, input)) {
    return vendor.forward(input.q, input.k, input.v, call_of(pieces.front(), scale));
  }
  const at::Tensor& q = input.q;
  VendorOutput all{at::empty(q.sizes(), q.options()),
                   at::empty({q.size(0), q.size(2), q.size(1)}, q.options().dtype(at::kFloat)),
                   {},
                   {}};
  for (const Piece& piece : pieces) {
    const FlashInput in = rows_of(input, piece);
    const VendorOutput part = vendor.forward(in.q, in.k, in.v, call_of(piece, scale));
    all.seed = part.seed;
    all.offset = part.offset;
    if (piece.further) {
      merge(all, part, piece);
    } else {
      span(all.out, piece.q_begin, piece.n_queries, piece).copy_(unfolded(part.out, piece));
      lse_span(all.lse, piece).copy_(lse_unfolded(part.lse, piece));
    }
  }
  return all;
}

FlashInput flash_backward(const Vendor& vendor, const at::Tensor& grad, const FlashInput& input,
                          const VendorOutput& output, const std::vector<Piece>& pieces,
                          double scale) {
  if (one_call(pieces, input)) {
    const VendorGradients d =
        vendor.backward(grad, input.q, input.k, input.v, output, call_of(pieces.front(), scale));
    return {d.q, d.k, d.v};
  }
  const auto wide_zeros = [](const at::Tensor& x) {
    return at::zeros(x.sizes(), x.options().dtype(at::kFloat));
  };
  FlashInput sums{wide_zeros(input.q), wide_zeros(input.k), wide_zeros(input.v)};
  for (const Piece& p : pieces) {
    const FlashInput in = rows_of(input, p);
    const VendorOutput part{rows(output.out, p.q_begin, p.n_queries, p), lse_rows(output.lse, p),
                            output.seed, output.offset};
    const VendorGradients d = vendor.backward(rows(grad, p.q_begin, p.n_queries, p), in.q, in.k,
                                              in.v, part, call_of(p, scale));
    span(sums.q, p.q_begin, p.n_queries, p).add_(unfolded(d.q, p));
    span(sums.k, p.k_begin, p.n_keys, p).add_(unfolded(d.k, p));
    span(sums.v, p.k_begin, p.n_keys, p).add_(unfolded(d.v, p));
  }
  return {sums.q.to(input.q.scalar_type()), sums.k.to(input.k.scalar_type()),
          sums.v.to(input.v.scalar_type())};
}

}  // namespace gyre::attention::cuda
