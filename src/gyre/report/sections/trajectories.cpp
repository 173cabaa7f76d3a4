// Wavelengths of learned bands over the steps of training, whole and close to the training length.
#include <algorithm>
#include <cmath>

#include "gyre/report/sections/bands.h"

namespace gyre::report {
namespace {

constexpr size_t kMaxRuns = 4;  // drawn; all runs are in the CSV

size_t bands_of(const Frequencies& f) {
  size_t n = 0;
  for (const TrajectoryPoint& point : f.trajectory) {
    n = std::max(n, point.wavelength.size());
  }
  return n;
}

Trace band_trace(const Comparison& c, const Frequencies& f, size_t band, bool dominant) {
  Trace trace;
  trace.name = "pair " + std::to_string(band) + (dominant ? ", dominant" : "");
  trace.arm = c.arm_index(f.arm);
  trace.opacity = dominant ? 1 : 0.4;
  trace.width = dominant ? 3.5 : 1.2;
  trace.dash = "solid";
  for (const TrajectoryPoint& point : f.trajectory) {
    if (band < point.wavelength.size()) {
      trace.x.push_back(point.step);
      trace.y.push_back(point.wavelength[band]);
      trace.text.push_back(short_number(point.wavelength[band]) + " tokens");
    }
  }
  return trace;
}

Panel run_panel(const Comparison& c, const Frequencies& f) {
  Panel panel;
  panel.title = f.arm + ", seed " + std::to_string(f.seed);
  panel.x.title = "training step";
  panel.y.title = "wavelength, tokens (log scale)";
  std::vector<double> values = {2.5 * static_cast<double>(c.settings.length)};
  for (size_t band = 0; band < bands_of(f); ++band) {
    const bool dominant = f.dominant && f.dominant->band == static_cast<int64_t>(band);
    Trace trace = band_trace(c, f, band, dominant);
    values.insert(values.end(), trace.y.begin(), trace.y.end());
    panel.traces.push_back(std::move(trace));
  }
  const Interval span = span_of(values);
  decade_ticks(panel.y, span.lo / 1.4, span.hi * 1.4);
  panel.markers = length_markers(static_cast<double>(c.settings.length), false);
  return panel;
}

// The same lines around the training length, where published work sees bands gather.
Panel close_panel(const Comparison& c, const Frequencies& f) {
  Panel panel = run_panel(c, f);
  const auto length = static_cast<double>(c.settings.length);
  panel.title = "Close to the training length (axis cut)";
  panel.y.ticks.clear();
  panel.y.tick_text.clear();
  panel.y.lo = 0.5 * length;
  panel.y.hi = 5 * length;
  for (const double multiple : {0.5, 1.0, 2.0, 3.0, 4.0, 5.0}) {
    panel.y.ticks.push_back(multiple * length);
    panel.y.tick_text.push_back(short_number(multiple * length));
  }
  panel.markers = length_markers(length, true);
  return panel;
}

}  // namespace

Figure trajectory_figure(const Comparison& c) {
  Figure f;
  f.id = "trajectories";
  f.title = "Learned wavelengths during training";
  f.csv = Csv({"arm", "seed", "step", "pair", "wavelength", "evidence"});
  size_t runs = 0;
  for (const Frequencies& entry : c.frequencies) {
    if (!entry.learned || entry.trajectory.empty()) {
      continue;
    }
    if (runs++ < kMaxRuns) {
      f.panels.push_back(run_panel(c, entry));
      f.panels.push_back(close_panel(c, entry));
    }
    for (const TrajectoryPoint& point : entry.trajectory) {
      for (size_t band = 0; band < point.wavelength.size(); ++band) {
        f.csv.row(entry.arm, entry.seed, point.step, static_cast<int64_t>(band),
                  point.wavelength[band], "measured");
      }
    }
  }
  f.shows =
      "One line per band; the thick one contributes most to the attention scores of the "
      "trained model. Lines across: 1, 2 and 2.2 times the training length; 2.2 is quoted.";
  if (runs > kMaxRuns) {
    f.shows += " The first " + std::to_string(kMaxRuns) + " of " + std::to_string(runs) +
               " runs are drawn; all are in the CSV file.";
  }
  f.not_shown =
      "why a band moves, or whether the movement lowers the loss; that is the difference "
      "in the table of results";
  f.formula = "wavelength = 2 pi / (inv_freq at the start * exp(alpha)) at each logged step";
  f.alt = "Wavelength of each band against training step on a log scale";
  f.evidence = {Evidence::Measured, Evidence::Quoted};
  return f;
}

}  // namespace gyre::report
