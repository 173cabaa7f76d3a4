#include "gyre/position/extension.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace gyre::position {
namespace {

constexpr double kNotRotated = 1e30;  // GGUF has no other way to say it

template <class F>
Bands mapped(const Bands& bands, F change) {
  Bands out;
  for (const double theta : bands) {
    out.push_back(theta == 0.0 ? 0.0 : change(theta));
  }
  return out;
}

double wavelength(double theta) {
  return 2.0 * std::numbers::pi / theta;
}

}  // namespace

double band_index(double theta, double base, int64_t width) {
  if (theta == 0.0) {
    return std::numeric_limits<double>::infinity();
  }
  const double index = -0.5 * static_cast<double>(width) * std::log(theta) / std::log(base);
  // Entries of the table itself get their whole number, so that rounding moves no bound.
  return std::abs(index - std::round(index)) < 1e-9 ? std::round(index) : index;
}

Bands linear_bands(const Bands& bands, double factor) {
  return mapped(bands, [&](double theta) { return theta / factor; });
}

double ntk_base(double base, double factor, int64_t width) {
  const auto d = static_cast<double>(width);
  return base * std::pow(factor, d / (d - 2.0));
}

Bands ntk_bands(const Bands& bands, double factor, double base, int64_t width) {
  const double per_index = -2.0 / (static_cast<double>(width) - 2.0);
  return mapped(bands, [&](double theta) {
    return theta * std::pow(factor, per_index * band_index(theta, base, width));
  });
}

double dynamic_factor(double factor, int64_t original, int64_t length) {
  const auto longest = static_cast<double>(std::max(length, original));
  return factor * longest / static_cast<double>(original) - (factor - 1.0);
}

double dynamic_base(double base, double factor, int64_t original, int64_t length, int64_t width) {
  return ntk_base(base, dynamic_factor(factor, original, length), width);
}

double ramp(double index, double low, double high) {
  const double span = high == low ? 0.001 : high - low;  // as in the released code
  return std::clamp((index - low) / span, 0.0, 1.0);
}

RampBounds yarn_ramp_bounds(double base, int64_t width, const YarnRamp& options) {
  const auto d = static_cast<double>(width);
  const auto index_of = [&](double turns) {
    return d * std::log(options.original / (turns * 2.0 * std::numbers::pi)) /
           (2.0 * std::log(base));
  };
  RampBounds bounds;
  bounds.raw_low = index_of(options.beta_fast);
  bounds.raw_high = index_of(options.beta_slow);
  bounds.low = options.truncate ? std::floor(bounds.raw_low) : bounds.raw_low;
  bounds.high = options.truncate ? std::ceil(bounds.raw_high) : bounds.raw_high;
  bounds.low = std::max(bounds.low, 0.0);
  bounds.high = std::min(bounds.high, d - 1.0);  // the released code's limit, in pairs as written
  return bounds;
}

Bands yarn_bands(const Bands& bands, double factor, double base, int64_t width,
                 const RampBounds& bounds) {
  return mapped(bands, [&](double theta) {
    const double t = ramp(band_index(theta, base, width), bounds.low, bounds.high);
    return theta * ((1.0 - t) + t / factor);
  });
}

double yarn_mscale(double factor, double mscale) {
  return factor <= 1.0 ? 1.0 : 0.1 * mscale * std::log(factor) + 1.0;
}

double yarn_attention_factor(double factor, double mscale, double mscale_all_dim, double given) {
  if (given > 0.0) {
    return given;
  }
  if (mscale != 0.0 && mscale_all_dim != 0.0) {
    return yarn_mscale(factor, mscale) / yarn_mscale(factor, mscale_all_dim);
  }
  return yarn_mscale(factor);
}

double yarn_softmax_correction(double factor, double mscale_all_dim) {
  const double m = mscale_all_dim == 0.0 ? 1.0 : yarn_mscale(factor, mscale_all_dim);
  return m * m;
}

Bands by_parts_bands(const Bands& bands, double factor, double original, double alpha,
                     double beta) {
  return mapped(bands, [&](double theta) {
    const double turns = original / wavelength(theta);
    const double keep = std::clamp((turns - alpha) / (beta - alpha), 0.0, 1.0);
    return (1.0 - keep) * theta / factor + keep * theta;
  });
}

Bands released_by_parts_bands(const Bands& bands, double factor, double original, double base,
                              int64_t width) {
  const RampBounds to_ntk =
      yarn_ramp_bounds(base, width, {.original = original, .beta_fast = 1.25, .beta_slow = 0.75});
  const RampBounds to_kept =
      yarn_ramp_bounds(base, width, {.original = original, .beta_fast = 16.0, .beta_slow = 2.0});
  const Bands ntk = ntk_bands(bands, factor, base, width);
  Bands out;
  for (size_t m = 0; m < bands.size(); ++m) {
    const double index = band_index(bands[m], base, width);
    const double ntk_share = 1.0 - ramp(index, to_ntk.low, to_ntk.high);
    const double kept_share = 1.0 - ramp(index, to_kept.low, to_kept.high);
    const double slow = bands[m] / factor * (1.0 - ntk_share) + ntk[m] * ntk_share;
    out.push_back(slow * (1.0 - kept_share) + bands[m] * kept_share);
  }
  return out;
}

Llama3Bands llama3_bands(const Bands& bands, const Llama3Options& options) {
  Llama3Bands out;
  const double low = options.low_freq_factor, high = options.high_freq_factor;
  for (const double theta : bands) {
    const double turns = theta == 0.0 ? 0.0 : options.original / wavelength(theta);
    if (theta == 0.0 || turns > high) {
      out.bands.push_back(theta);
      ++out.kept;
    } else if (turns < low || low == high) {
      out.bands.push_back(theta / options.factor);
      ++out.divided;
    } else {
      const double t = (turns - low) / (high - low);
      out.bands.push_back(theta * ((1.0 - t) / options.factor + t));
      ++out.blended;
    }
  }
  return out;
}

Bands longrope_bands(const Bands& bands, const std::vector<double>& factors) {
  Bands out;
  for (size_t m = 0; m < bands.size(); ++m) {
    out.push_back(bands[m] / factors.at(m));
  }
  return out;
}

double longrope_attention_factor(double factor, double original) {
  return factor <= 1.0 ? 1.0 : std::sqrt(1.0 + std::log(factor) / std::log(original));
}

bool longrope_uses_long(int64_t length, int64_t original) {
  return length > original;
}

Bands clipped_bands(const Bands& bands, int64_t n, bool hard) {
  std::vector<size_t> order(bands.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return bands[a] > bands[b];  // learned bands need not be in order
  });
  Bands out = bands;
  for (int64_t i = 0; i < n; ++i) {
    const size_t m = order[bands.size() - static_cast<size_t>(n - i)];
    const double t =
        n == 1 ? 0.0 : std::numbers::pi * static_cast<double>(i) / static_cast<double>(n - 1);
    // The last is 0 exactly: cos(pi) is -1 in double.
    out[m] = hard ? 0.0 : bands[m] * 0.5 * (1.0 + std::cos(t));
  }
  return out;
}

std::vector<double> gguf_divisors(const Bands& bands, double base, int64_t width) {
  std::vector<double> out;
  for (size_t m = 0; m < bands.size(); ++m) {
    const double plain = std::pow(base, -2.0 * static_cast<double>(m) / static_cast<double>(width));
    out.push_back(bands[m] == 0.0 ? kNotRotated : plain / bands[m]);
  }
  return out;
}

}  // namespace gyre::position
