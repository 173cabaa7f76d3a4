#include "gyre/accept/calibration.h"

#include <algorithm>
#include <cmath>

namespace gyre::accept {

namespace {

// No text of ours costs more than a token a byte, and none less than a token for 24 bytes.
constexpr double kMostPerByte = 1.0, kLeastPerByte = 1.0 / 24;

}  // namespace

int64_t Calibration::tokens_for(int64_t filler_bytes) const {
  const double bytes = double(std::max<int64_t>(0, filler_bytes));
  return std::max<int64_t>(0, std::llround(std::ceil(overhead + tokens_per_byte * bytes - 1e-9)));
}

int64_t Calibration::bytes_for(int64_t tokens) const {
  const double room = double(tokens) - overhead;
  return std::max<int64_t>(0, int64_t(std::floor(room / tokens_per_byte + 1e-9)));
}

int64_t Calibration::tolerance(int64_t predicted) {
  return std::max<int64_t>(64, std::llround(0.03 * double(predicted)));
}

Calibration fit_calibration(int64_t bytes_a, int64_t tokens_a, int64_t bytes_b, int64_t tokens_b) {
  Calibration fit;
  if (bytes_a == bytes_b) {
    return fit;
  }
  const double slope = double(tokens_b - tokens_a) / double(bytes_b - bytes_a);
  const double overhead = double(tokens_a) - slope * double(bytes_a);
  const bool sensible = slope >= kLeastPerByte && slope <= kMostPerByte &&
                        std::abs(overhead) <= std::max(256.0, 0.5 * double(tokens_a));
  if (!sensible) {
    return fit;
  }
  fit.tokens_per_byte = slope;
  fit.overhead = overhead;
  fit.source = "usage";
  return fit;
}

}  // namespace gyre::accept
