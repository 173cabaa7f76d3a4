// Training loss over steps: a line per arm (mean over seeds) with a thin line per seed.
#include <algorithm>
#include <cmath>

#include "gyre/report/section.h"

namespace gyre::report {
namespace {

// Mean over seeds where all seeds logged the same steps, else the first seed's curve.
Curve mean_curve(const Arm& arm) {
  Curve mean = arm.curves.front();
  for (const Curve& curve : arm.curves) {
    if (curve.step != mean.step || curve.loss.size() != curve.step.size()) {
      return mean;
    }
  }
  for (size_t i = 0; i < mean.loss.size(); ++i) {
    double sum = 0;
    for (const Curve& curve : arm.curves) {
      sum += curve.loss[i];
    }
    mean.loss[i] = sum / static_cast<double>(arm.curves.size());
  }
  return mean;
}

Trace curve_trace(const Arm& arm, int index, const Curve& curve, bool mean) {
  Trace trace;
  trace.name = arm.name + (mean ? ", mean of seeds" : ", seed " + std::to_string(curve.seed));
  trace.arm = index;
  trace.x = curve.step;
  trace.y = curve.loss;
  trace.opacity = mean ? 1 : 0.35;
  trace.width = mean ? 2 : 1;
  return trace;
}

Panel curve_panel(const Comparison& c) {
  Panel panel;
  panel.x.title = "training step";
  panel.y.title = "training loss, nats per token";
  for (size_t i = 0; i < c.arms.size(); ++i) {
    const Arm& arm = c.arms[i];
    if (arm.curves.empty()) {
      continue;
    }
    if (arm.curves.size() > 1) {
      for (const Curve& curve : arm.curves) {
        panel.traces.push_back(curve_trace(arm, static_cast<int>(i), curve, false));
      }
    }
    panel.traces.push_back(
        curve_trace(arm, static_cast<int>(i), mean_curve(arm), arm.curves.size() > 1));
  }
  return panel;
}

// The last part of training, where arms that start alike come apart.
Panel late_panel(const Comparison& c) {
  Panel panel = curve_panel(c);
  panel.title = "Last 60 % of the steps";
  double last = 0;
  for (const Trace& trace : panel.traces) {
    last = trace.x.empty() ? last : std::max(last, trace.x.back());
  }
  std::vector<double> losses;
  for (const Trace& trace : panel.traces) {
    for (size_t i = 0; i < std::min(trace.x.size(), trace.y.size()); ++i) {
      if (trace.x[i] >= 0.4 * last) {
        losses.push_back(trace.y[i]);
      }
    }
  }
  const Interval span = span_of(losses);
  const double margin = 0.06 * (span.hi - span.lo) + 1e-6;
  panel.x.lo = 0.4 * last;
  panel.x.hi = 1.01 * last;
  panel.y.lo = span.lo - margin;
  panel.y.hi = span.hi + margin;
  return panel;
}

}  // namespace

Section training_section(const Comparison& c) {
  Section section("training", "Loss during training");
  Figure f;
  f.id = "training";
  f.csv = Csv({"arm", "seed", "step", "loss", "evidence"});
  for (const Arm& arm : c.arms) {
    for (const Curve& curve : arm.curves) {
      for (size_t i = 0; i < std::min(curve.step.size(), curve.loss.size()); ++i) {
        f.csv.row(arm.name, curve.seed, curve.step[i], curve.loss[i], "measured");
      }
    }
  }
  if (f.csv.rows().empty()) {
    section.left_out("no run logged a training loss");
    return section;
  }
  f.title = "Training loss over steps";
  f.shows =
      "Loss of the batch of each logged step; thick: mean over seeds, thin: single seeds. All arms "
      "see the same batches, so bumps that they share come from the text.";
  f.not_shown =
      "how well an arm does on unseen text; use the validation losses of the table, which are "
      "also far less noisy than single batches";
  f.formula = "mean cross-entropy of the next token over the batch, in nats";
  f.alt = "Training loss against step, one line per arm, falling";
  f.evidence = {Evidence::Measured};
  f.panels = {curve_panel(c), late_panel(c)};
  f.panels.front().title = "Whole run";
  Key look;
  look.symbol = false;
  add_arm_keys(f, c, look);
  section.figure(std::move(f));
  return section;
}

}  // namespace gyre::report
