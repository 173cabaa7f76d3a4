#include "gyre/bench/least_memory.h"

#include <algorithm>
#include <cmath>

#include "gyre/base/error.h"
#include "gyre/bench/machine.h"

namespace gyre::bench {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

/// Tens and more to the whole, "1.4e+08" from a million on.
double rounded(double gib) {
  return gib >= 10.0 ? std::round(gib) : std::round(gib * 10.0) / 10.0;
}

void refuse_above(double free_gib, double least, const Contest& contest, const std::string& what,
                  const char* flags) {
  const double free = free_gib > 0.0 ? free_gib : available_mib() / 1024.0;
  if (contest.device == "cpu" && least > free) {
    throw Error(Code::Usage, what, " needs at least ", rounded(least), " GiB, ", rounded(free),
                " are free; lower ", flags);
  }
}

}  // namespace

double least_gib(const TrainShape& shape) {
  const auto of = [](int64_t n) { return static_cast<double>(n); };
  const double width = of(shape.width), hidden = of(shape.hidden), layers = of(shape.layers);
  const double params = of(shape.vocab) * width + layers * (4.0 * width + 3.0 * hidden) * width;
  const double tokens = of(shape.batch) * of(shape.length);
  // Weights, gradients and two moments in float32; of every token its number and, in each layer,
  // queries, keys, values and what attention and the MLP's first product gave, in two bytes.
  return (16.0 * params + tokens * (8.0 + 2.0 * layers * (4.0 * width + 2.0 * hidden))) / kGib;
}

double least_gib(const AttentionShape& shape) {
  double channels = 0.0, tokens = 0.0;
  for (const int64_t each : shape.head_dims) {
    channels = std::max(channels, static_cast<double>(each));
  }
  for (const int64_t each : shape.lengths) {
    tokens = std::max(tokens, static_cast<double>(each));
  }
  // q, k, v, the result and the gradients of the four.
  constexpr double kTensors = 8.0;
  const double element_bytes = shape.dtype == "float32" ? 4.0 : 2.0;
  const double rows = static_cast<double>(shape.batch) * static_cast<double>(shape.heads) * tokens;
  return kTensors * element_bytes * rows * channels / kGib;
}

void check_fits(const TrainShape& shape, const Contest& contest, double free_gib) {
  refuse_above(free_gib, least_gib(shape), contest, "a training step of this shape",
               "--batch, --length, --width, --layers, --hidden or --vocab");
}

void check_fits(const AttentionShape& shape, const Contest& contest, double free_gib) {
  refuse_above(free_gib, least_gib(shape), contest, "attention at the largest of these shapes",
               "--batch, --heads, --lengths or --head-dim");
}

}  // namespace gyre::bench
