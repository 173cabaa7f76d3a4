// The gradient signal by offset and the surrogate over frequencies, with the present one marked.
#include <cmath>
#include <numbers>

#include "gyre/base/error.h"
#include "gyre/report/analyze/parts.h"
#include "gyre/report/sections/bands.h"

namespace gyre::report {
namespace {

using analyze::Analysis;
using analyze::SpectrumPair;
using analyze::SpectrumTable;

Panel surrogate_panel(const SpectrumPair& pair) {
  Panel panel;
  panel.title = str("pair ", pair.pair, ": ", wavelength_text(wavelength_of(pair.theta)),
                    ", dL/dtheta ", short_number(pair.gradient));
  panel.exports = true;
  panel.height = 260;
  panel.x.title = "frequency, rad per token (log scale)";
  panel.y.title = "P, nats";
  decade_ticks(panel.x, pair.grid.front(), pair.grid.back());
  Trace trace;
  trace.name = str("pair ", pair.pair);
  trace.arm = 1;
  trace.x = pair.grid;
  trace.y = pair.value;
  panel.traces.push_back(std::move(trace));
  if (pair.theta >= pair.grid.front()) {
    panel.markers = {{'x', pair.theta, "present"}};
  }
  return panel;
}

Panel signal_panel(const SpectrumTable& table) {
  Panel panel;
  panel.title = "signal by offset";
  panel.exports = true;
  panel.height = 260;
  panel.x.title = "offset, tokens";
  panel.y.title = "|A|, nats";
  int arm = 1;
  for (const SpectrumPair& pair : table.pairs) {
    if (pair.re.empty()) {
      continue;
    }
    Trace trace;
    trace.name = str("pair ", pair.pair);
    trace.arm = arm++;
    for (size_t d = 0; d < pair.re.size(); ++d) {
      trace.x.push_back(static_cast<double>(d));
      trace.y.push_back(std::hypot(pair.re[d], pair.im[d]));
    }
    panel.traces.push_back(std::move(trace));
  }
  return panel;
}

/// Pairs whose loss falls when they turn more slowly, of those with any gradient.
std::string direction(const SpectrumTable& table) {
  int64_t slower = 0, all = 0;
  for (const SpectrumPair& pair : table.pairs) {
    slower += pair.gradient > 0.0 ? 1 : 0;
    all += pair.gradient != 0.0 ? 1 : 0;
  }
  return str(slower, " of ", all, " pairs would lower this loss by turning more slowly");
}

Figure table_figure(const Analysis& a, size_t index) {
  const SpectrumTable& table = a.spectrum->tables[index];
  Figure figure;
  figure.id = index == 0 ? "spectrum" : str("spectrum-", index);
  figure.title = "Surrogate over frequencies, layers " + table.layers;
  figure.shows =
      str("How the loss of one row of ", a.spectrum->tokens,
          " tokens would change with a "
          "pair's frequency, all else fixed to first order; the line is the present one. ",
          direction(table), ". Slope at the line and measured gradient differ by at most ",
          short_number(a.spectrum->worst), " of the largest gradient.");
  figure.not_shown = "the loss far from the line: the signal itself would change on the way";
  figure.formula = "P_m(x) = Re sum_d A_m[d] e^(i d x);  dL/dtheta_m = P_m'(theta_m)";
  figure.alt = "surrogate over frequency";
  figure.evidence = {Evidence::Measured};
  figure.csv = Csv({"pair", "theta_now", "gradient", "slope", "theta", "surrogate"});
  for (const SpectrumPair& pair : table.pairs) {
    if (pair.re.empty()) {
      continue;
    }
    figure.panels.push_back(surrogate_panel(pair));
    for (size_t i = 0; i < pair.grid.size(); ++i) {
      figure.csv.row(pair.pair, pair.theta, pair.gradient, pair.slope, pair.grid[i], pair.value[i]);
    }
  }
  figure.panels.push_back(signal_panel(table));
  return figure;
}

}  // namespace

Section analyze_spectrum_section(const Analysis& a) {
  Section section("spectrum-part", "Where the loss pulls frequencies");
  if (!a.spectrum || a.spectrum->tables.empty()) {
    section.left_out(a.positions ? "asked for with --spectrum" : "nothing rotates");
    return section;
  }
  for (size_t i = 0; i < a.spectrum->tables.size(); ++i) {
    if (!a.spectrum->tables[i].pairs.front().re.empty()) {
      section.figure(table_figure(a, i));
    }
  }
  return section;
}

}  // namespace gyre::report
