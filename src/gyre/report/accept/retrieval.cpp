// Levels 2 and 3: right answers by length and position of the evidence, by number and likeness of
// distractors, with controls.
#include <algorithm>
#include <cmath>

#include "gyre/base/error.h"
#include "gyre/report/accept/parts.h"

namespace gyre::report {
namespace {

using accept::Acceptance;

constexpr size_t kMostPanels = 12;

/// The smallest share of a row; 2 where nothing was asked.
double worst_of(const CellRow& row) {
  double worst = 2.0;
  for (const accept::Cell* cell : row.cells) {
    for (const accept::BucketResult& bucket : cell->buckets) {
      worst = bucket.n > 0 ? std::min(worst, share_of(bucket)) : worst;
    }
  }
  return worst;
}

// Rows that were asked; of too many those with the worst parts, in their order.
std::vector<const CellRow*> drawn_of(const std::vector<CellRow>& rows) {
  std::vector<const CellRow*> asked;
  for (const CellRow& row : rows) {
    if (worst_of(row) <= 1.0) {
      asked.push_back(&row);
    }
  }
  if (asked.size() > kMostPanels) {
    std::stable_sort(asked.begin(), asked.end(), [](const CellRow* x, const CellRow* y) {
      return worst_of(*x) < worst_of(*y);
    });
    asked.resize(kMostPanels);
    std::sort(asked.begin(), asked.end());  // they stand in one vector
  }
  return asked;
}

Figure positions_figure(int64_t level, const std::vector<CellRow>& rows) {
  Figure figure;
  figure.id = level == 2 ? "retrieval" : "composition";
  figure.title = level == 2 ? "Evidence found, by prompt length and position"
                            : "Answers that need every part, by prompt length and position";
  figure.shows =
      "In a cell: the share of right answers and its simultaneous bounds, blue where all are "
      "right, orange where none is, grey where nothing was asked; hover for counts. Beside each "
      "length: the result of its cell. An error counts as a wrong answer. Tasks are never pooled: "
      "each is one distribution of inputs.";
  if (level == 3) {
    figure.shows +=
        " The position is that of the first part in the text; for contradictions the axis is the "
        "distance between the two records.";
  }
  figure.not_shown = level == 2
                         ? "that several pieces can be combined: that is level 3"
                         : "reasoning in general: these are joins, chains and contradictions";
  figure.formula = "right / asked, one-sided Wilson bounds at alpha / (parts * looks)";
  figure.alt = "map of the share of right answers, prompt lengths by position of evidence";
  figure.evidence = {Evidence::Measured};
  figure.csv = Csv({"task", "length", "part", "n", "correct", "errors", "share", "lower", "upper"});
  for (const CellRow& row : rows) {
    position_rows(figure.csv, row);
  }
  for (const CellRow* row : drawn_of(rows)) {
    figure.panels.push_back(position_panel(*row));
  }
  if (figure.panels.size() == kMostPanels && rows.size() > kMostPanels) {
    figure.shows += str(" Drawn: of ", rows.size(), " settings the ", kMostPanels,
                        " with the worst parts; the table below has all.");
  }
  return figure;
}

// Map, curves, table and controls of a level, or why there are none.
void fill(Section& section, const Acceptance& a, int64_t level) {
  const std::vector<CellRow> rows = rows_of(a, level, false);
  if (rows.empty()) {
    section.left_out(str("level ", level, " was not asked for"));
    return;
  }
  section.html(level_line(a, level));
  Figure figure = positions_figure(level, rows);
  if (figure.panels.empty()) {
    section.left_out("no cell was asked: see the table");
  } else {
    section.figure(std::move(figure));
  }
  if (level == 2) {
    for (Figure& curves : dial_figures(a)) {
      section.figure(std::move(curves));
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
             with_sign(r.difference, 3), range_text(r.lo, r.hi, 3), p_value(r.p),
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
