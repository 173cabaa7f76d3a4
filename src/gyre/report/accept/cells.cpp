// Tables of levels 2 and 3: every planned cell, controls and paired comparisons.
#include <algorithm>
#include <cmath>

#include "gyre/base/error.h"
#include "gyre/report/accept/parts.h"

namespace gyre::report {
namespace {

using accept::Acceptance;
using accept::Status;

constexpr size_t kFolded = 60;  // longer tables are opened by hand

std::string name_of_cell(const accept::Cell& cell) {
  const std::string arm = arm_words(cell.arm);
  return cell.task + (arm.empty() ? "" : ", " + arm) + dials_words(cell.dials);
}

std::string worst_text(const accept::Cell& cell) {
  if (cell.worst < 0 || cell.worst >= static_cast<int64_t>(cell.buckets.size())) {
    return "\u2013";
  }
  const auto i = static_cast<size_t>(cell.worst);
  return str("part ", i + 1, " of ", cell.buckets.size(), ": ", bucket_text(cell.buckets[i]));
}

std::string verdicts_text(const accept::Cell& cell) {
  std::string out;
  for (const auto& [verdict, n] : cell.verdicts) {
    if (verdict != "ok") {
      out += str(out.empty() ? "" : ", ", n, " ", spaced(verdict));
    }
  }
  return out;
}

std::string notes_of(const accept::Cell& cell) {
  std::vector<std::string> notes{cell.why_not_run, cell.says};
  if (cell.status == Status::Undecided && cell.needs_about > 0) {
    notes.push_back(cell.needs_about >= accept::kNeedsMost
                        ? "no number of items decides: it stands on what is needed"
                        : str("needs about ", cell.needs_about, " more a part"));
  }
  notes.push_back(verdicts_text(cell));
  std::string out;
  for (const std::string& note : notes) {
    out += (out.empty() || note.empty() ? "" : "; ") + note;
  }
  return out;
}

std::string linked(const std::string& links) {
  return links.empty() ? "" : "<small>" + links + "</small>";
}

std::string folded(const Table& table, size_t rows, const std::string& summary) {
  return rows <= kFolded ? table.html()
                         : str("<details><summary>", summary, ": ", rows, " rows</summary>",
                               table.html(), "</details>\n");
}

// What the controls answered. They have no verdict: the measures above are made from them.
std::string controls_table(const Acceptance& a, int64_t level, const SidLinks& links) {
  Table table(str("controls-", level),
              "<b>What the controls answered.</b> Without evidence the right answer is NONE");
  table.column("control");
  for (const char* title : {"length", "asked", "right"}) {
    table.column(title, Align::Right);
  }
  table.column("other answers");
  table.sortable();
  for (const CellRow& row : rows_of(a, level, true)) {
    for (const accept::Cell* cell : row.cells) {
      table.row({escape(row.name), whole(cell->length), whole(cell->asked), whole(cell->correct),
                 escape(verdicts_text(*cell)) + linked(links(cell->failures))});
    }
  }
  return table.empty() ? ""
                       : "<details><summary>What the controls answered</summary>" + table.html() +
                             "</details>\n";
}

}  // namespace

std::vector<CellRow> rows_of(const Acceptance& a, int64_t level, bool controls) {
  std::vector<CellRow> rows;
  std::map<std::string, size_t> at;
  for (const accept::Cell& cell : a.cells) {
    if (cell.level != level || (cell.arm != "main") != controls) {
      continue;
    }
    const auto [place, fresh] = at.emplace(name_of_cell(cell), rows.size());
    if (fresh) {
      rows.push_back({place->first, {}});
    }
    rows[place->second].cells.push_back(&cell);
  }
  for (CellRow& row : rows) {
    std::stable_sort(
        row.cells.begin(), row.cells.end(),
        [](const accept::Cell* x, const accept::Cell* y) { return x->length < y->length; });
  }
  return rows;
}

std::string cells_table(const Acceptance& a, int64_t level) {
  const SidLinks links(a);
  Table table(str("cells-", level),
              "<b>Every planned cell.</b> Right answers over those that came, and over all that "
              "were asked (an error is a failure); the worst part of the text with its "
              "simultaneous bounds");
  for (const char* title : {"task", "length", "asked", "of answered", "of asked", "worst part",
                            "needed", "result", "notes"}) {
    const std::string_view name = title;
    const bool number =
        name == "length" || name == "asked" || name.starts_with("of ") || name == "needed";
    table.column(title, number ? Align::Right : Align::Left);
  }
  table.sortable();
  size_t rows = 0;
  for (const CellRow& row : rows_of(a, level, false)) {
    for (const accept::Cell* cell : row.cells) {
      table.row({escape(row.name), whole(cell->length), whole(cell->asked),
                 fixed(cell->accuracy_answered(), 3), fixed(cell->accuracy_planned(), 3),
                 escape(worst_text(*cell)), fixed(cell->threshold, 2), status_html(cell->status),
                 escape(notes_of(*cell)) + linked(links(cell->failures))});
      ++rows;
    }
  }
  return table.empty() ? "" : folded(table, rows, "Every planned cell");
}

std::string measures_table(const Acceptance& a, int64_t level) {
  Table table(str("measures-", level), "<b>Controls and paired comparisons</b>");
  for (const char* title : {"what", "task"}) {
    table.column(title);
  }
  for (const char* title : {"length", "n", "value", "interval", "p"}) {
    table.column(title, Align::Right);
  }
  table.column("reading");
  size_t rows = 0;
  for (const accept::Measure& m : a.measures) {
    if (m.level == level) {
      table.row({escape(m.title), escape(label_words(m.task)),
                 m.length > 0 ? whole(m.length) : "\u2013", whole(m.n), fixed(m.value, 3),
                 range_text(m.lo, m.hi, 3), p_value(m.p), escape(m.says)});
      ++rows;
    }
  }
  const std::string controls = controls_table(a, level, SidLinks(a));
  return (table.empty() ? "" : folded(table, rows, "Controls and paired comparisons")) + controls;
}

}  // namespace gyre::report
