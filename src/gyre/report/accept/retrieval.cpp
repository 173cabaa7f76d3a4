// Levels 2 and 3: right answers by length and position of the evidence, by number and likeness of
// distractors, with controls.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "gyre/base/error.h"
#include "gyre/report/accept/parts.h"

namespace gyre::report {
namespace {

using accept::Acceptance;

constexpr size_t kMostPanels = 12;

Figure positions_figure(int64_t level, const std::vector<CellRow>& rows) {
  Figure figure;
  figure.id = level == 2 ? "retrieval" : "composition";
  figure.title = level == 2 ? "Evidence found, by prompt length and position"
                            : "Answers that need every part, by prompt length and position";
  figure.shows =
      "Share of right answers; hover for the simultaneous bounds and counts. An error counts as "
      "a wrong answer. Tasks are never pooled: each is one distribution of inputs.";
  if (level == 3) {
    figure.shows += " The position is that of the first part in the text.";
  }
  figure.not_shown = level == 2
                         ? "that several pieces can be combined: that is level 3"
                         : "reasoning in general: these are joins, chains and contradictions";
  figure.formula = "right / asked, one-sided Wilson bounds at alpha / (parts * looks)";
  figure.alt = "heat maps of the share of right answers, prompt lengths by position of evidence";
  figure.evidence = {Evidence::Measured};
  figure.csv = Csv({"task", "length", "part", "n", "correct", "errors", "share", "lower", "upper"});
  for (const CellRow& row : rows) {
    const bool asked = std::any_of(row.cells.begin(), row.cells.end(),
                                   [](const accept::Cell* cell) { return cell->asked > 0; });
    if (asked && figure.panels.size() < kMostPanels) {
      figure.panels.push_back(position_panel(row));
    }
    position_rows(figure.csv, row);
  }
  if (rows.size() > figure.panels.size()) {
    figure.shows += str(" Drawn: ", figure.panels.size(), " of ", rows.size(),
                        " settings; the table below has all.");
  }
  return figure;
}

std::string dial(const accept::Cell& cell, const std::string& name) {
  const auto at = cell.dials.find(name);
  return at == cell.dials.end() ? "" : at->second;
}

/// The name of a curve: the task and every dial but the one along the axis.
std::string without(const accept::Cell& cell, const std::string& axis) {
  std::string name = str(cell.task, ", ", cell.length, " tokens");
  for (const auto& [key, value] : cell.dials) {
    if (key != axis) {
      name += ", " + key + " " + value;
    }
  }
  return name;
}

struct Curve {
  std::string name;
  std::vector<std::pair<double, const accept::Cell*>> points;
};

// Curves along one dial; those of one point are left out.
std::vector<Curve> curves_along(const Acceptance& a, const std::string& axis) {
  std::vector<Curve> curves;
  for (const accept::Cell& cell : a.cells) {
    const std::string value = dial(cell, axis);
    if (cell.level != 2 || cell.arm != "main" || cell.asked == 0 || value.empty() ||
        value.find_first_not_of("0123456789") != std::string::npos) {
      continue;
    }
    // Without distractors there is no similarity: such a cell begins every curve over k.
    const std::string name =
        axis == "k" ? str(cell.task, ", ", cell.length, " tokens") : without(cell, axis);
    auto curve =
        std::find_if(curves.begin(), curves.end(), [&](const Curve& c) { return c.name == name; });
    if (curve == curves.end()) {
      curve = curves.insert(curves.end(), {name, {}});
    }
    curve->points.emplace_back(std::strtod(value.c_str(), nullptr), &cell);
  }
  std::erase_if(curves, [](const Curve& curve) { return curve.points.size() < 2; });
  for (Curve& curve : curves) {
    std::sort(curve.points.begin(), curve.points.end());
  }
  return curves;
}

Figure dial_figure(const std::string& axis, const std::vector<Curve>& curves) {
  Figure figure;
  const bool count = axis == "k";
  figure.id = count ? "distractors" : "similarity";
  figure.title =
      count ? "Right answers by number of distractors" : "Right answers by likeness of distractors";
  figure.shows = count ? "Distractors are nested: those of a smaller number are among those of a "
                         "larger one, at the same places, so that points are paired. With more of "
                         "them their likeness may differ, see the table."
                       : "Slots of the key, of five, that a distractor shares with the asked one.";
  figure.not_shown = "position: see the maps";
  figure.formula = "right / asked over all parts of the text";
  figure.alt = "curves of the share of right answers";
  figure.evidence = {Evidence::Measured};
  figure.csv = Csv({"curve", axis, "n", "correct", "share"});
  Panel panel;
  panel.exports = true;
  panel.x.title = count ? "distractors" : "equal slots";
  panel.y.title = "share right";
  panel.y.lo = 0.0;
  panel.y.hi = 1.05;
  int arm = 0;
  for (const Curve& curve : curves) {
    Trace trace;
    trace.name = curve.name;
    trace.arm = arm++;
    trace.markers = true;
    for (const auto& [x, cell] : curve.points) {
      trace.x.push_back(x);
      trace.y.push_back(cell->accuracy_planned());
      trace.text.push_back(str(curve.name, ": ", cell->correct, " of ", cell->asked));
      figure.csv.row(curve.name, x, cell->asked, cell->correct, cell->accuracy_planned());
    }
    Key key;
    key.label = curve.name;
    key.arm = trace.arm;
    figure.keys.push_back(key);
    panel.traces.push_back(std::move(trace));
  }
  figure.panels.push_back(std::move(panel));
  return figure;
}

// Heat map, table and controls of a level, or why there are none.
void fill(Section& section, const Acceptance& a, int64_t level) {
  const std::vector<CellRow> rows = rows_of(a, level);
  if (rows.empty()) {
    section.left_out(str("level ", level, " was not asked for"));
    return;
  }
  Figure figure = positions_figure(level, rows);
  if (figure.panels.empty()) {
    section.left_out("no cell was asked: see the table");
  } else {
    section.figure(std::move(figure));
  }
  if (level == 2) {
    for (const char* axis : {"k", "s"}) {
      if (const std::vector<Curve> curves = curves_along(a, axis); !curves.empty()) {
        section.figure(dial_figure(axis, curves));
      }
    }
  }
  section.html(cells_table(a, level) + measures_table(a, level));
}

std::string regression_html(const accept::Regression& r) {
  Table table("regression", "<b>Before and after</b>: the same items at the original length");
  table.column("pairs", Align::Right);
  table.column("right only before", Align::Right);
  table.column("right only after", Align::Right);
  table.column("difference", Align::Right);
  table.column("interval", Align::Right);
  table.column("exact p", Align::Right);
  table.column("result");
  table.row({std::to_string(r.pairs), std::to_string(r.only_before), std::to_string(r.only_after),
             with_sign(r.difference, 3), fixed(r.lo, 3) + "\u2013" + fixed(r.hi, 3), p_value(r.p),
             status_html(r.status) + escape(r.says)});
  return table.html();
}

}  // namespace

Section accept_retrieval_section(const Acceptance& a) {
  Section section("retrieval-part", "Level 2: is evidence found?");
  fill(section, a, 2);
  if (a.regression) {
    section.html(regression_html(*a.regression));
  }
  return section;
}

Section accept_composition_section(const Acceptance& a) {
  Section section("composition-part", "Level 3: is evidence combined?");
  fill(section, a, 3);
  return section;
}

}  // namespace gyre::report
