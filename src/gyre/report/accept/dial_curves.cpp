// Right answers by number and by likeness of distractors, with intervals.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <tuple>

#include "gyre/accept/statistics.h"
#include "gyre/base/error.h"
#include "gyre/report/accept/parts.h"

namespace gyre::report {
namespace {

using accept::Acceptance;

constexpr double kTail = 0.025;  // of each side: intervals of 95 %

struct Point {
  double x = 0;
  const accept::Cell* cell = nullptr;
};

struct DialCurve {
  std::string name;  // the settings that are the same all along, without the length
  int64_t length = 0;
  std::vector<Point> points;
};

struct Dial {
  std::string name;   // "k"
  std::string other;  // "s": held fixed along the axis
  const char* id;
  const char* title;
  const char* shows;
  const char* axis;
};

const Dial kDials[] = {
    {"k", "s", "distractors", "Right answers by number of distractors",
     "Distractors are nested: those of a smaller number are among those of a larger one, at the "
     "same places, so that points are paired.",
     "distractors"},
    {"s", "k", "similarity", "Right answers by likeness of distractors",
     "Slots of the key, of five, that a distractor shares with the asked one.", "equal slots"}};

std::optional<double> number_of(const accept::Cell& cell, const std::string& dial) {
  const auto at = cell.dials.find(dial);
  if (at == cell.dials.end() || at->second.empty() ||
      at->second.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  return std::strtod(at->second.c_str(), nullptr);
}

// Questions asked in another manner (--full-grid) are in the tables.
bool drawn(const accept::Cell& cell) {
  return cell.level == 2 && cell.arm == "main" && cell.asked > 0 && cell.dials.count("o") == 0 &&
         cell.dials.count("qpos") == 0 && cell.dials.count("v") == 0;
}

// Whether a task has several likenesses at one number of distractors: else likeness may change
// along a curve of numbers, and there is one curve.
bool crossed(const Acceptance& a, const accept::Cell& cell) {
  return std::any_of(a.cells.begin(), a.cells.end(), [&](const accept::Cell& other) {
    return drawn(other) && other.task == cell.task && other.length == cell.length &&
           other.dials.at("k") == cell.dials.at("k") && other.dials != cell.dials;
  });
}

void place(std::vector<DialCurve>& curves, const std::string& name, const accept::Cell& cell,
           double x) {
  auto at = std::find_if(curves.begin(), curves.end(), [&](const DialCurve& curve) {
    return curve.name == name && curve.length == cell.length;
  });
  if (at == curves.end()) {
    at = curves.insert(curves.end(), DialCurve{name, cell.length, {}});
  }
  at->points.push_back({x, &cell});
}

std::string curve_name(const accept::Cell& cell, const Dial& dial, bool held) {
  const auto other = cell.dials.find(dial.other);
  return cell.task + (held && other != cell.dials.end()
                          ? dials_words({{other->first, other->second}})
                          : std::string());
}

// Without distractors there is no likeness: such a cell begins every curve over k.
void add_starts(std::vector<DialCurve>& curves, const std::vector<const accept::Cell*>& starts) {
  for (const accept::Cell* cell : starts) {
    bool any = false;
    for (DialCurve& curve : curves) {
      if (curve.length == cell->length && curve.name.starts_with(cell->task)) {
        curve.points.push_back({0.0, cell});
        any = true;
      }
    }
    if (!any) {
      place(curves, cell->task, *cell, 0.0);
    }
  }
}

std::vector<DialCurve> curves_along(const Acceptance& a, const Dial& dial) {
  std::vector<DialCurve> curves;
  std::vector<const accept::Cell*> starts;
  for (const accept::Cell& cell : a.cells) {
    const auto x = number_of(cell, dial.name);
    if (!drawn(cell) || !x || cell.dials.count("k") == 0) {
      continue;
    }
    if (dial.name == "k" && *x == 0) {
      starts.push_back(&cell);
    } else {
      place(curves, curve_name(cell, dial, dial.name == "s" || crossed(a, cell)), cell, *x);
    }
  }
  add_starts(curves, starts);
  std::erase_if(curves, [](const DialCurve& curve) { return curve.points.size() < 2; });
  for (DialCurve& curve : curves) {
    std::sort(curve.points.begin(), curve.points.end(),
              [](const Point& p, const Point& q) { return p.x < q.x; });
  }
  std::stable_sort(curves.begin(), curves.end(), [](const DialCurve& p, const DialCurve& q) {
    return std::tie(p.length, p.name) < std::tie(q.length, q.name);
  });
  return curves;
}

Trace trace_of(const DialCurve& curve, const std::string& name, int arm, Csv& csv) {
  Trace trace;
  trace.name = name;
  trace.arm = arm;
  trace.markers = true;
  for (const Point& point : curve.points) {
    const accept::Cell& cell = *point.cell;
    const double share = cell.accuracy_planned();
    const double lo = accept::wilson_lower(cell.correct, cell.asked, kTail);
    const double hi = accept::wilson_upper(cell.correct, cell.asked, kTail);
    trace.x.push_back(point.x);
    trace.y.push_back(share);
    trace.minus.push_back(share - lo);
    trace.plus.push_back(hi - share);
    trace.text.push_back(str(whole(curve.length), " tokens", dials_words(cell.dials), ": ",
                             fixed(share, 3), " (", range_text(lo, hi, 3), "), ", cell.correct,
                             " of ", cell.asked));
    csv.row(curve.name, curve.length, point.x, cell.asked, cell.correct, share, lo, hi);
  }
  return trace;
}

/// For the curves of one length, or of all (0).
Panel empty_panel(const Dial& dial, const std::vector<DialCurve>& curves, int64_t length) {
  Panel panel;
  panel.exports = true;
  panel.x.title = dial.axis;
  panel.y.title = "share right";
  panel.y.lo = 0.0;
  panel.y.hi = 1.05;
  std::vector<double> xs;
  for (const DialCurve& curve : curves) {
    for (const Point& point : curve.points) {
      if (length == 0 || curve.length == length) {
        xs.push_back(point.x);
      }
    }
  }
  tick_at(panel.x, xs);
  return panel;
}

int arm_of(Figure& figure, const std::string& label) {
  for (const Key& key : figure.keys) {
    if (key.label == label) {
      return key.arm;
    }
  }
  Key key;
  key.label = label;
  key.arm = static_cast<int>(figure.keys.size());
  figure.keys.push_back(key);
  return key.arm;
}

// One panel with a curve a length, or, where each length has several curves, a panel a length.
void draw(Figure& figure, const Dial& dial, const std::vector<DialCurve>& curves) {
  const bool several = std::any_of(curves.begin(), curves.end(), [&](const DialCurve& curve) {
    return curve.length == curves.front().length && curve.name != curves.front().name;
  });
  std::map<int64_t, size_t> panel_of;
  for (const DialCurve& curve : curves) {
    const auto [at, fresh] = panel_of.emplace(several ? curve.length : 0, figure.panels.size());
    if (fresh) {
      figure.panels.push_back(empty_panel(dial, curves, several ? curve.length : 0));
      figure.panels.back().title = several ? whole(curve.length) + " tokens" : "";
    }
    const std::string name =
        several ? curve.name : curve.name + ", " + whole(curve.length) + " tokens";
    figure.panels[at->second].traces.push_back(
        trace_of(curve, name, arm_of(figure, name), figure.csv));
  }
}

Figure dial_figure(const Acceptance& a, const Dial& dial, const std::vector<DialCurve>& curves) {
  Figure figure;
  figure.id = dial.id;
  figure.title = dial.title;
  figure.shows = str(dial.shows, " Bars are 95 % intervals of all parts of the text together.");
  const bool uncrossed =
      std::none_of(a.cells.begin(), a.cells.end(),
                   [&](const accept::Cell& cell) { return drawn(cell) && crossed(a, cell); });
  if (dial.name == "k" && uncrossed) {
    figure.shows += " With more of them their likeness grows too: hover, or see the table.";
  }
  if (a.options.full_grid) {
    figure.shows += " Questions in other words, before the text or with near codes: see the table.";
  }
  figure.not_shown = "position: see the maps";
  figure.formula = "right / asked over all parts of the text, Wilson intervals";
  figure.alt = "curves of the share of right answers";
  figure.evidence = {Evidence::Measured};
  figure.csv = Csv({"curve", "length", dial.name, "n", "correct", "share", "lo", "hi"});
  draw(figure, dial, curves);
  return figure;
}

}  // namespace

std::vector<Figure> dial_figures(const Acceptance& a) {
  std::vector<Figure> out;
  for (const Dial& dial : kDials) {
    const std::vector<DialCurve> curves = curves_along(a, dial);
    if (!curves.empty()) {
      out.push_back(dial_figure(a, dial, curves));
    }
  }
  return out;
}

}  // namespace gyre::report
