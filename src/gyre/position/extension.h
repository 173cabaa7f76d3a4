// The arithmetic of context extension: how each method changes a table of frequencies. Pure
// functions over plain values, used by the schemes and by whoever reads a checkpoint's settings.
// "Bands" are frequencies in rad per token; a band of 0 does not rotate and stays 0.
//
// Every method takes the bands themselves, so that learned frequencies can be extended: a ratio
// uses the wavelength 2 pi / theta of the band at hand, and a place in the table is band_index(),
// the index at which a table of the given base has that frequency. For a geometric table this is
// the band's own index and the published formulas result.
#pragma once

#include <cstdint>
#include <vector>

namespace gyre::position {

using Bands = std::vector<double>;  // [P] rad per token

/// m with base^(-2m/width) = theta, a real number; m itself for an entry of that base's table;
/// infinity for 0.
double band_index(double theta, double base, int64_t width);

/// theta / factor: position interpolation, Chen et al. 2023, arXiv:2306.15595.
Bands linear_bands(const Bands& bands, double factor);

/// base * factor^(width / (width - 2)): the slowest band is divided by factor, the fastest kept
/// (NTK-aware interpolation; sec. 3.1 of arXiv:2309.00071). width > 2.
double ntk_base(double base, double factor, int64_t width);
/// The same change of base applied to any bands: theta * factor^(-2 band_index / (width - 2)).
Bands ntk_bands(const Bands& bands, double factor, double base, int64_t width);

/// factor * L / original - (factor - 1), L = max(length, original): what dynamic NTK puts in the
/// place of ntk_base's factor.
double dynamic_factor(double factor, int64_t original, int64_t length);
double dynamic_base(double base, double factor, int64_t original, int64_t length, int64_t width);

/// 0 up to `low`, 1 from `high`, linear between, over band_index; 1 for a band of 0.
double ramp(double index, double low, double high);

/// Where YaRN's ramp begins and ends, in pairs; raw: before rounding and clamping.
struct RampBounds {
  double low = 0.0, high = 0.0;
  double raw_low = 0.0, raw_high = 0.0;
};

struct YarnRamp {
  double original = 0.0;    // tokens of the training length
  double beta_fast = 32.0;  // turns inside `original` above which a band is kept
  double beta_slow = 1.0;   // turns below which it is divided by the factor
  bool truncate = true;     // round the bounds outwards to whole pairs
};

/// width ln(original / (2 pi turns)) / (2 ln base) at beta_fast and beta_slow; rounded outwards
/// when `truncate`; then low >= 0 and high <= width - 1. arXiv:2309.00071, sec. 3.2 and released
/// code.
RampBounds yarn_ramp_bounds(double base, int64_t width, const YarnRamp& options);

/// theta ((1 - t) + t / factor), t = ramp(band_index, bounds).
Bands yarn_bands(const Bands& bands, double factor, double base, int64_t width,
                 const RampBounds& bounds);

/// 0.1 mscale ln(factor) + 1, or 1 when factor <= 1.
double yarn_mscale(double factor, double mscale = 1.0);
/// Factor on rotated q and on rotated k: `given` when it is above 0; else m(mscale) /
/// m(mscale_all_dim) when both are not 0; else m(1).
double yarn_attention_factor(double factor, double mscale = 0.0, double mscale_all_dim = 0.0,
                             double given = 0.0);
/// DeepSeek's factor on the softmax scale: m(mscale_all_dim)^2, or 1 when mscale_all_dim is 0.
double yarn_softmax_correction(double factor, double mscale_all_dim);

/// NTK-by-parts as in the YaRN paper: r = original / wavelength, g = clamp((r - alpha) / (beta -
/// alpha), 0, 1), theta' = (1 - g) theta / factor + g theta. arXiv:2309.00071, sec. 3.2.
Bands by_parts_bands(const Bands& bands, double factor, double original, double alpha = 1.0,
                     double beta = 32.0);
/// As first released, before the paper: theta / factor, NTK and theta, blended by YaRN ramps at
/// (1.25, 0.75) and (16, 2) turns.
Bands released_by_parts_bands(const Bands& bands, double factor, double original, double base,
                              int64_t width);

struct Llama3Options {
  double factor = 8.0;
  double low_freq_factor = 1.0;   // turns inside `original` below which a band is divided
  double high_freq_factor = 4.0;  // turns above which it is kept
  double original = 8192.0;       // tokens
};
struct Llama3Bands {
  Bands bands;
  int64_t kept = 0, blended = 0, divided = 0;  // bands of 0 are counted as kept
};
/// w = wavelength: kept when w < original / high, divided by factor when w > original / low, else t
/// = (original / w - low) / (high - low) and theta ((1 - t) / factor + t). Llama 3.1 release. low =
/// high (Llama 4 Scout) is a step: kept or divided.
Llama3Bands llama3_bands(const Bands& bands, const Llama3Options& options);

/// theta_m / factors_m. One factor per band.
Bands longrope_bands(const Bands& bands, const std::vector<double>& factors);
/// sqrt(1 + ln(factor) / ln(original)), 1 when factor <= 1. arXiv:2402.13753 and released code.
double longrope_attention_factor(double factor, double original);
/// Whether the long list holds: the sequence is longer than the original length.
bool longrope_uses_long(int64_t length, int64_t original);

/// The n slowest bands times (1 + cos t) / 2, t evenly from 0 (the fastest of them) to pi; hard:
/// times 0. arXiv:2602.05258.
Bands clipped_bands(const Bands& bands, int64_t n, bool hard);

/// Divisors a GGUF rope_freqs tensor needs over a table of `base`: base^(-2m/width) / theta_m,
/// 1e30 for a band that does not rotate.
std::vector<double> gguf_divisors(const Bands& bands, double base, int64_t width);

}  // namespace gyre::position
