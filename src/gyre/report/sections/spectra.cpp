// Wavelength of every band before and after training.
#include <algorithm>
#include <cmath>
#include <set>

#include "gyre/report/sections/bands.h"

namespace gyre::report {
namespace {

struct Range {
  double lo = 1, hi = 10;
  double top() const { return hi * 1.6; }  // where pairs that do not rotate are drawn
};

Range wavelength_range(const Comparison& c) {
  std::vector<double> values = {static_cast<double>(c.settings.length) * 2.5};
  for (const Frequencies& f : c.frequencies) {
    for (const std::vector<double>* list : {&f.initial, &f.final}) {
      for (const double value : wavelengths_of(*list)) {
        values.push_back(value);
      }
    }
  }
  const Interval span = span_of(values);
  return {span.lo / 1.5, span.hi * 1.5};
}

struct Look {
  std::string name;
  int arm = kNoArm;
  bool open = false;
  double opacity = 1;
  double size = 7.5;
};

// Rotating pairs as points; standing pairs as triangles on the upper edge.
void add_spectrum(Panel& panel, const std::vector<double>& inv_freq, const Look& look,
                  const Range& range) {
  Trace points;
  points.name = look.name;
  points.arm = look.arm;
  points.lines = false;
  points.markers = true;
  points.open = look.open;
  points.opacity = look.opacity;
  points.size = look.size;
  points.key = look.arm != kNoArm;
  Trace standing = points;
  standing.symbol = "triangle-up";
  for (size_t i = 0; i < inv_freq.size(); ++i) {
    const double wavelength = wavelength_of(inv_freq[i]);
    const bool rotates = std::isfinite(wavelength);
    Trace& target = rotates ? points : standing;
    target.x.push_back(static_cast<double>(i));
    target.y.push_back(rotates ? wavelength : range.top());
    target.text.push_back("pair " + std::to_string(i) + ": " +
                          (rotates ? short_number(wavelength) + " tokens" : "does not rotate"));
  }
  for (Trace* trace : {&points, &standing}) {
    if (!trace->x.empty()) {
      panel.traces.push_back(std::move(*trace));
    }
  }
}

Panel empty_panel(const Comparison& c, const std::string& title, const Range& range) {
  Panel panel;
  panel.title = title;
  panel.x.title = "pair (0 turns fastest)";
  panel.y.title = "wavelength, tokens (log scale)";
  decade_ticks(panel.y, range.lo, range.top() * 1.4);
  panel.markers = length_markers(static_cast<double>(c.settings.length), false);
  return panel;
}

Panel learned_panel(const Comparison& c, const std::string& arm, const Range& range) {
  Panel panel = empty_panel(c, arm + ": before (grey) and after training", range);
  bool before_drawn = false;
  double opacity = 1;
  for (const Frequencies& f : c.frequencies) {
    if (!f.learned || f.arm != arm) {
      continue;
    }
    if (!before_drawn) {
      add_spectrum(panel, f.initial, {"before training", kNoArm, true, 1, 7.5}, range);
      before_drawn = true;
    }
    const std::string name = arm + ", seed " + std::to_string(f.seed);
    add_spectrum(panel, f.final, {name, c.arm_index(arm), false, opacity, 7.5}, range);
    opacity = std::max(0.4, opacity - 0.3);
  }
  return panel;
}

Panel fixed_panel(const Comparison& c, const Range& range) {
  Panel panel = empty_panel(c, "Fixed frequencies: the same before and after", range);
  std::set<std::string> drawn;
  for (const Frequencies& f : c.frequencies) {
    if (!f.learned && drawn.insert(f.arm).second) {
      // Arms often share pairs: later ones are smaller, so that the earlier stay visible.
      const double size = std::max(3.0, 12.0 - 4.0 * static_cast<double>(drawn.size() - 1));
      add_spectrum(panel, f.final, {f.arm, c.arm_index(f.arm), true, 1, size}, range);
    }
  }
  return panel;
}

Csv spectra_csv(const Comparison& c) {
  Csv csv({"arm", "seed", "learned", "pair", "inv_freq_initial", "inv_freq_final",
           "wavelength_initial", "wavelength_final", "evidence"});
  for (const Frequencies& f : c.frequencies) {
    for (size_t i = 0; i < std::min(f.initial.size(), f.final.size()); ++i) {
      csv.row(f.arm, f.seed, f.learned ? "yes" : "no", static_cast<int64_t>(i), f.initial[i],
              f.final[i], wavelength_of(f.initial[i]), wavelength_of(f.final[i]),
              f.learned ? "measured (initial: analytic)" : "analytic");
    }
  }
  return csv;
}

}  // namespace

Figure spectra_figure(const Comparison& c) {
  Figure f;
  f.id = "spectra";
  f.title = "Wavelength of every band before and after training";
  f.shows =
      "One point per rotated pair of dimensions. A wavelength is the number of tokens after which "
      "the pair has turned once. Triangles on the upper edge: pairs that do not rotate. Lines: 1, "
      "2 "
      "and 2.2 times the training length; 2.2 is the published place of the dominant band "
      "(quoted).";
  f.not_shown =
      "how strongly a band is used: a frequency says how fast a pair turns, not how large its "
      "queries and keys are; and a phase is no attention weight, retrieval rate or quality";
  f.formula = "wavelength = 2 pi / inv_freq; fixed schemes: inv_freq of pair m = base^(-2m / d)";
  f.alt =
      "Wavelength of each pair on a log scale, before and after training, with lines at 1, 2 "
      "and 2.2 times the training length";
  f.evidence = {Evidence::Measured, Evidence::Analytic, Evidence::Quoted};
  const Range range = wavelength_range(c);
  std::set<std::string> learned;
  for (const Frequencies& entry : c.frequencies) {
    if (entry.learned && learned.insert(entry.arm).second) {
      f.panels.push_back(learned_panel(c, entry.arm, range));
    }
  }
  if (Panel panel = fixed_panel(c, range); !panel.traces.empty()) {
    f.panels.push_back(std::move(panel));
  }
  Key look;
  look.line = false;
  add_arm_keys(f, c, look);
  if (!learned.empty()) {
    look.label = "before training";
    look.open = true;
    look.toggles = false;
    f.keys.push_back(look);
  }
  f.csv = spectra_csv(c);
  return f;
}

}  // namespace gyre::report
