#include "gyre/report/sections/bands.h"

#include <cmath>
#include <numbers>

namespace gyre::report {

double wavelength_of(double inv_freq) {
  return inv_freq == 0 ? std::numeric_limits<double>::infinity()
                       : 2 * std::numbers::pi / std::abs(inv_freq);
}

std::vector<double> wavelengths_of(const std::vector<double>& inv_freq) {
  std::vector<double> out;
  for (const double f : inv_freq) {
    out.push_back(wavelength_of(f));
  }
  return out;
}

int64_t count_suppressed(const std::vector<double>& inv_freq, double length) {
  int64_t n = 0;
  for (const double f : inv_freq) {
    n += std::abs(f) * length / (2 * std::numbers::pi) < 0.05 ? 1 : 0;
  }
  return n;
}

int64_t count_gathered(const std::vector<double>& inv_freq, double length) {
  int64_t n = 0;
  for (const double f : inv_freq) {
    const double ratio = wavelength_of(f) / length;
    n += ratio >= 1.8 && ratio <= 2.4 ? 1 : 0;
  }
  return n;
}

std::vector<Marker> length_markers(double train_length, bool spaced) {
  if (spaced) {
    return {{'y', train_length, "1\u00d7", false, "dash"},
            {'y', 2 * train_length, "2\u00d7", true, "dash"},
            {'y', 2.2 * train_length, "2.2\u00d7", false, "dot"}};
  }
  // On a scale of many decades the two upper lines almost touch: one label serves both.
  return {{'y', train_length, "1\u00d7", true, "dash"},
          {'y', 2 * train_length, "", false, "dash"},
          {'y', 2.2 * train_length, "2, 2.2\u00d7", false, "dot"}};
}

void decade_ticks(Axis& axis, double lo, double hi) {
  axis.log = true;
  axis.lo = lo;
  axis.hi = hi;
  for (int k = -3; k <= 12; ++k) {
    const double value = std::pow(10.0, k);
    if (value >= lo && value <= hi) {
      axis.ticks.push_back(value);
      axis.tick_text.push_back(short_number(value));
    }
  }
}

}  // namespace gyre::report
