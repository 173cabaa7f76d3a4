// Which tokens are scored with which context: windows over a token stream, and their losses.
// A window reads tokens [begin, begin + length + 1); position i predicts token begin + i + 1.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gyre/data/dataset.h"

namespace gyre::evaluate {

/// Nats per token [B, T] of targets [B, T] after tokens [B, T].
using NllFn = std::function<at::Tensor(const at::Tensor& tokens, const at::Tensor& targets)>;

struct Window {
  int64_t begin = 0;   // first input token in the stream
  int64_t length = 0;  // inputs
  int64_t skip = 0;    // leading positions that are context only
  bool operator==(const Window&) const = default;
};

/// Windows side by side that score predictions [begin, begin + n) once each; the last is cut.
std::vector<Window> disjoint_windows(int64_t begin, int64_t n, int64_t length);

/// Windows of `length` that advance by length / 2 and score what the one before did not reach:
/// every prediction of [begin, begin + n) once, each with at least length - length / 2 tokens of
/// context. The first window starts before `begin`; the last ends at begin + n and scores the rest.
/// Needs begin >= length - length / 2 and n >= length / 2.
std::vector<Window> sliding_windows(int64_t begin, int64_t n, int64_t length);

/// Losses of all scored positions, in the order of the stream.
struct Scored {
  std::vector<float> loss;
  std::vector<int64_t> position;  // inside the window
};

Scored score(const data::TokenStream& stream, const std::vector<Window>& windows, const NllFn& nll);

/// Mean loss of some positions. No positions: loss NaN, n 0.
struct Bucket {
  int64_t begin = 0, end = 0;  // positions inside the window
  double loss = 0.0;           // nats per token; not finite when any token's is not
  int64_t n = 0;
};

/// 0-1, 1-2, 2-4, 4-8, ... up to `length`.
std::vector<int64_t> dyadic_edges(int64_t length);

/// Buckets between edges that hold at least one scored position.
std::vector<Bucket> bucket_losses(const Scored& scored, const std::vector<int64_t>& edges);

/// Means in double.
double mean_loss(const Scored& scored);
int64_t count_not_finite(const Scored& scored);

}  // namespace gyre::evaluate
