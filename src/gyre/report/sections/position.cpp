// Loss by position inside the training length, and its difference from the first arm.
#include <algorithm>

#include "gyre/report/section.h"

namespace gyre::report {
namespace {

double middle(const PositionLoss& p) {
  return 0.5 * (p.begin + p.end);
}

std::string range_text(const PositionLoss& p) {
  return "tokens " + short_number(p.begin) + " to " + short_number(p.end);
}

// Powers of two, as window lengths are.
void binary_ticks(Axis& axis, const Comparison& c) {
  axis.title = "position in the window, tokens (log scale)";
  axis.log = true;
  std::vector<double> places;
  for (const Arm& arm : c.arms) {
    for (const PositionLoss& p : arm.positions) {
      places.push_back(middle(p));
    }
  }
  const Interval span = span_of(places);
  if (!(span.lo > 0) || !(span.hi > 0)) {
    return;
  }
  axis.lo = span.lo / 1.25;
  axis.hi = span.hi * 1.25;
  for (double value = 1; value<*axis.hi; value *= span.hi / span.lo> 300 ? 4 : 2) {
    if (value > *axis.lo) {
      axis.ticks.push_back(value);
      axis.tick_text.push_back(short_number(value));
    }
  }
}

Panel loss_panel(const Comparison& c) {
  Panel panel;
  panel.title = "Loss";
  binary_ticks(panel.x, c);
  panel.y.title = "loss, nats per token";
  for (size_t i = 0; i < c.arms.size(); ++i) {
    Trace trace;
    trace.name = c.arms[i].name;
    trace.arm = static_cast<int>(i);
    trace.markers = true;
    for (const PositionLoss& p : c.arms[i].positions) {
      trace.x.push_back(middle(p));
      trace.y.push_back(p.loss);
      trace.text.push_back(range_text(p) + ": " + fixed(p.loss, 4));
    }
    if (!trace.x.empty()) {
      panel.traces.push_back(std::move(trace));
    }
  }
  return panel;
}

Panel difference_panel(const Comparison& c) {
  const std::vector<PositionLoss>& reference = c.arms.front().positions;
  Panel panel;
  panel.title = "Difference from " + c.arms.front().name;
  binary_ticks(panel.x, c);
  panel.y.title = "difference, nats per token";
  panel.markers.push_back({'y', 0, "", false, "solid"});
  for (size_t i = 1; i < c.arms.size(); ++i) {
    Trace trace;
    trace.name = c.arms[i].name;
    trace.arm = static_cast<int>(i);
    trace.markers = true;
    for (size_t k = 0; k < std::min(reference.size(), c.arms[i].positions.size()); ++k) {
      const PositionLoss& p = c.arms[i].positions[k];
      if (p.begin == reference[k].begin && p.end == reference[k].end) {
        trace.x.push_back(middle(p));
        trace.y.push_back(p.loss - reference[k].loss);
        trace.text.push_back(range_text(p) + ": " + with_sign(trace.y.back(), 4));
      }
    }
    if (!trace.x.empty()) {
      panel.traces.push_back(std::move(trace));
    }
  }
  return panel;
}

}  // namespace

Section position_section(const Comparison& c) {
  Section section("position", "Loss by position");
  Figure f;
  f.id = "position";
  f.csv = Csv({"arm", "begin", "end", "loss", "evidence"});
  for (const Arm& arm : c.arms) {
    for (const PositionLoss& p : arm.positions) {
      f.csv.row(arm.name, p.begin, p.end, p.loss, "measured");
    }
  }
  if (f.csv.rows().empty()) {
    section.left_out("no arm has losses by position");
    return section;
  }
  f.title = "Loss by position inside the training length";
  f.shows =
      "Mean validation loss of the tokens in each range of positions, mean over seeds. Tokens with "
      "more text before them are easier to predict; how far a line keeps falling shows how much of "
      "that text an arm uses.";
  f.not_shown = "intervals, and anything beyond the training length";
  f.formula =
      "mean over seeds of the mean loss of tokens whose position p has begin <= p < end; a "
      "point is drawn at the middle of its range";
  f.alt = "Loss against position, one line per arm, falling from left to right";
  f.evidence = {Evidence::Measured};
  f.panels.push_back(loss_panel(c));
  if (Panel panel = difference_panel(c); !panel.traces.empty()) {
    f.panels.push_back(std::move(panel));
  }
  add_arm_keys(f, c);
  section.figure(std::move(f));
  return section;
}

}  // namespace gyre::report
