// Needle ranking: accuracy against the number of distractors, chance, and the control in which the
// evidence is taken out.
#include <algorithm>
#include <cmath>
#include <map>

#include "gyre/report/section.h"

namespace gyre::report {
namespace {

std::string point_text(const NeedlePoint& p, bool control) {
  const std::string text = std::to_string(p.distractors) + " distractors: ";
  if (control) {
    return text + percent(p.no_evidence_accuracy) + " without evidence";
  }
  return text + percent(p.accuracy) + " of " + std::to_string(p.n) + ", worst depth " +
         percent(p.worst_bucket_accuracy);
}

// Equal steps for 0, 1, 3, 7, 15, 31 distractors: log2 of the number of candidates.
double place(int64_t distractors) {
  return std::log2(static_cast<double>(distractors) + 1);
}

Trace arm_trace(const Comparison& c, size_t arm, bool control) {
  // Arms stand side by side around their place, so that equal results stay visible.
  const double shift =
      0.05 * (static_cast<double>(arm) - 0.5 * static_cast<double>(c.arms.size() - 1));
  Trace trace;
  trace.name = c.arms[arm].name;
  trace.arm = static_cast<int>(arm);
  trace.markers = true;
  trace.open = control;
  for (const NeedlePoint& p : c.needle) {
    const double value = control ? p.no_evidence_accuracy : p.accuracy;
    if (p.arm != c.arms[arm].name || std::isnan(value)) {
      continue;
    }
    trace.x.push_back(place(p.distractors) + shift);
    trace.y.push_back(value);
    trace.text.push_back(point_text(p, control));
    if (!control && std::isfinite(p.ci95.lo) && std::isfinite(p.ci95.hi)) {
      trace.minus.push_back(value - p.ci95.lo);
      trace.plus.push_back(p.ci95.hi - value);
    }
  }
  if (trace.minus.size() != trace.x.size()) {
    trace.minus.clear();
    trace.plus.clear();
  }
  return trace;
}

Panel needle_panel(const Comparison& c, bool control) {
  Panel panel;
  panel.title = control ? "Control: the needle is taken out" : "The needle is in the text";
  panel.x.title = "distractors";
  panel.y.title = "share ranked first";
  panel.y.lo = -0.02;
  panel.y.hi = 1.04;
  for (size_t i = 0; i < c.arms.size(); ++i) {
    if (Trace trace = arm_trace(c, i, control); !trace.x.empty()) {
      panel.traces.push_back(std::move(trace));
    }
  }
  std::map<int64_t, double> chance;
  for (const NeedlePoint& p : c.needle) {
    chance[p.distractors] = p.chance;
  }
  Trace line;
  line.name = "chance";
  line.dash = "dot";
  line.key = false;
  for (const auto& [distractors, value] : chance) {
    panel.x.ticks.push_back(place(distractors));
    panel.x.tick_text.push_back(std::to_string(distractors));
    line.x.push_back(place(distractors));
    line.y.push_back(value);
    line.text.push_back("chance " + percent(value));
  }
  panel.traces.push_back(std::move(line));
  return panel;
}

}  // namespace

Section needle_section(const Comparison& c) {
  Section section("needle", "Finding a needle");
  if (c.needle.empty()) {
    section.left_out("needle ranking was not run");
    return section;
  }
  Figure f;
  f.id = "needle";
  f.title = "Needle ranking by log-likelihood";
  f.shows =
      "How often the right value gets the highest likelihood among itself and the distractors in "
      "the same text, with 95 % intervals; without distractors, among absent values. Dotted: "
      "chance, one over "
      "the number of values ranked. Hollow: the same question with the evidence taken out; values "
      "above chance there are "
      "guessing, not finding. Points are moved sideways a little so that equal ones stay visible.";
  f.not_shown =
      "free generation, several needles at once or reasoning over them; accuracy at chance in a "
      "model of this size means that it has not learned the task, not that the scheme cannot do it";
  f.formula =
      "accuracy = (questions whose right value has the highest summed log-likelihood) / n; "
      "chance = 1 / (distractors + 1), and 1 / (absent values + 1) without distractors";
  f.alt = "Accuracy against number of distractors, one line per arm, chance level dotted";
  f.evidence = {Evidence::Measured, Evidence::Analytic};
  f.csv = Csv({"arm", "distractors", "accuracy", "n", "chance", "ci95_lo", "ci95_hi",
               "no_evidence_accuracy", "worst_bucket_accuracy", "evidence"});
  for (const NeedlePoint& p : c.needle) {
    f.csv.row(p.arm, p.distractors, p.accuracy, p.n, p.chance, p.ci95.lo, p.ci95.hi,
              p.no_evidence_accuracy, p.worst_bucket_accuracy, "measured (chance: analytic)");
  }
  f.panels = {needle_panel(c, false), needle_panel(c, true)};
  add_arm_keys(f, c);
  Key chance{"chance"};
  chance.symbol = false;
  chance.dotted = true;
  chance.toggles = false;
  f.keys.push_back(std::move(chance));
  section.figure(std::move(f));
  return section;
}

}  // namespace gyre::report
