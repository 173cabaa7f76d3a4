// Loss at 1, 2, 4, 8 times the training length, disjoint and sliding windows apart.
#include <algorithm>
#include <cmath>
#include <set>

#include "gyre/report/section.h"

namespace gyre::report {
namespace {

Panel length_panel(const Comparison& c, const std::string& windows) {
  Panel panel;
  panel.title = windows == "sliding" ? "Sliding windows: every scored token has a long context"
                                     : "Disjoint windows: early tokens have little context";
  panel.x.title = "window length, tokens (log scale)";
  panel.x.log = true;
  panel.y.title = "loss, nats per token";
  std::set<double> lengths;
  for (size_t i = 0; i < c.arms.size(); ++i) {
    Trace trace;
    trace.name = c.arms[i].name;
    trace.arm = static_cast<int>(i);
    trace.markers = true;
    bool spread = false;
    for (const LengthPoint& p : c.length_curve) {
      if (p.arm != c.arms[i].name || p.windows != windows) {
        continue;
      }
      lengths.insert(p.length);
      trace.x.push_back(p.length);
      trace.y.push_back(p.loss);
      trace.minus.push_back(p.sd);
      trace.text.push_back(short_number(p.length) + " tokens: " + fixed(p.loss, 4) + " (sd " +
                           fixed(p.sd, 4) + ", " + std::to_string(p.n_seeds) + " seeds)");
      spread = spread || std::isfinite(p.sd);
    }
    trace.plus = trace.minus;
    if (!spread) {
      trace.minus.clear();
      trace.plus.clear();
    }
    if (!trace.x.empty()) {
      panel.traces.push_back(std::move(trace));
    }
  }
  for (const double length : lengths) {
    panel.x.ticks.push_back(length);
    panel.x.tick_text.push_back(short_number(length));
  }
  panel.markers.push_back(
      {'x', static_cast<double>(c.settings.length), "training length", false, "dash"});
  return panel;
}

// One range for both panels, so that they can be compared by eye.
void share_range(std::vector<Panel>& panels) {
  std::vector<double> values;
  for (const Panel& panel : panels) {
    for (const Trace& trace : panel.traces) {
      for (size_t i = 0; i < trace.y.size(); ++i) {
        const double bar = trace.minus.empty() || std::isnan(trace.minus[i]) ? 0 : trace.minus[i];
        values.push_back(trace.y[i] - bar);
        values.push_back(trace.y[i] + bar);
      }
    }
  }
  const Interval span = span_of(values);
  const double margin = 0.05 * (span.hi - span.lo) + 1e-6;
  for (Panel& panel : panels) {
    panel.y.lo = span.lo - margin;
    panel.y.hi = span.hi + 2 * margin;
  }
}

}  // namespace

Section extrapolation_section(const Comparison& c) {
  Section section("extrapolation", "Beyond the training length");
  if (c.length_curve.empty()) {
    section.left_out("no run was evaluated at other lengths");
    return section;
  }
  Figure f;
  f.id = "extrapolation";
  f.title = "Loss against window length";
  f.shows =
      "The same validation text read in longer windows than in training, mean over seeds with one "
      "standard deviation. Disjoint windows also gain because fewer tokens stand early in a "
      "window; sliding windows take that effect out.";
  f.not_shown =
      "whether far text is used for more than steady predictions: a flat line says that long input "
      "does no harm, not that it helps (see needle ranking)";
  f.formula =
      "mean over seeds of total loss / scored tokens per window length; sliding: windows "
      "advance by half, only the second half is scored";
  f.alt = "Loss against window length on a log scale, one line per arm, training length marked";
  f.evidence = {Evidence::Measured};
  f.csv = Csv({"arm", "windows", "length", "loss", "sd", "n_seeds", "evidence"});
  std::set<std::string> kinds;
  for (const LengthPoint& p : c.length_curve) {
    f.csv.row(p.arm, p.windows, p.length, p.loss, p.sd, p.n_seeds, "measured");
    kinds.insert(p.windows);
  }
  for (const std::string& kind : kinds) {
    f.panels.push_back(length_panel(c, kind));
  }
  share_range(f.panels);
  add_arm_keys(f, c);
  section.figure(std::move(f));
  return section;
}

}  // namespace gyre::report
