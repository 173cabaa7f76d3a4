// Wavelengths for the frequency figures: helpers shared by spectra, trajectories and band table.
#pragma once

#include <string>
#include <vector>

#include "gyre/report/figure.h"

namespace gyre::report {

/// 2 pi / inv_freq in tokens; infinite where the pair does not rotate.
double wavelength_of(double inv_freq);
std::vector<double> wavelengths_of(const std::vector<double>& inv_freq);

/// Pairs that turn by less than 0.05 of a circle over `length` tokens (claim L30's rule).
int64_t count_suppressed(const std::vector<double>& inv_freq, double length);
/// Pairs whose wavelength is 1.8 to 2.4 times `length`.
int64_t count_gathered(const std::vector<double>& inv_freq, double length);

/// Lines at 1, 2 and 2.2 times the training length on the wavelength axis.
std::vector<Marker> length_markers(double train_length, bool spaced);

/// Ticks at the powers of ten that [lo, hi] holds.
void decade_ticks(Axis& axis, double lo, double hi);

Figure spectra_figure(const Comparison& c);
Figure trajectory_figure(const Comparison& c);

}  // namespace gyre::report
