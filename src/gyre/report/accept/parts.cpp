#include "gyre/report/accept/parts.h"

#include <algorithm>
#include <cmath>

#include "gyre/base/error.h"

namespace gyre::report {

using accept::Acceptance;
using accept::BucketResult;
using accept::Status;

namespace {

double share(const BucketResult& bucket) {
  return bucket.n > 0 ? static_cast<double>(bucket.correct) / static_cast<double>(bucket.n)
                      : std::nan("");
}

std::string name_of_cell(const accept::Cell& cell) {
  std::string name = cell.task;
  if (cell.arm != "main") {
    name += " (" + cell.arm + ")";
  }
  for (const auto& [dial, value] : cell.dials) {
    name += ", " + dial + " " + value;
  }
  return name;
}

std::string range_text(double lo, double hi) {
  return fixed(lo, 2) + "\u2013" + fixed(hi, 2);
}

std::string worst_text(const accept::Cell& cell) {
  if (cell.worst < 0 || cell.worst >= static_cast<int64_t>(cell.buckets.size())) {
    return "\u2013";
  }
  const auto i = static_cast<size_t>(cell.worst);
  return str("part ", i + 1, " of ", cell.buckets.size(), ": ", bucket_text(cell.buckets[i]));
}

std::string notes_of(const accept::Cell& cell) {
  std::string out = cell.why_not_run;
  if (!cell.says.empty()) {
    out += (out.empty() ? "" : "; ") + cell.says;
  }
  if (cell.status == Status::Undecided && cell.needs_about > 0) {
    out += (out.empty() ? "" : "; ") + str("needs about ", cell.needs_about, " more a part");
  }
  for (const auto& [verdict, n] : cell.verdicts) {
    if (verdict != "ok") {
      out += (out.empty() ? "" : "; ") + str(verdict, " ", n);
    }
  }
  return out;
}

}  // namespace

std::vector<CellRow> rows_of(const Acceptance& a, int64_t level) {
  std::vector<CellRow> rows;
  for (const accept::Cell& cell : a.cells) {
    if (cell.level != level) {
      continue;
    }
    const std::string name = name_of_cell(cell);
    const auto same = std::find_if(rows.begin(), rows.end(),
                                   [&](const CellRow& row) { return row.name == name; });
    CellRow& row = same != rows.end() ? *same : rows.emplace_back(CellRow{name, {}});
    row.cells.push_back(&cell);
  }
  for (CellRow& row : rows) {
    std::stable_sort(
        row.cells.begin(), row.cells.end(),
        [](const accept::Cell* x, const accept::Cell* y) { return x->length < y->length; });
  }
  return rows;
}

std::string bucket_text(const BucketResult& bucket) {
  return bucket.n == 0 ? "not asked"
                       : str(fixed(share(bucket), 2), " (", range_text(bucket.lower, bucket.upper),
                             "), ", bucket.correct, " of ", bucket.n);
}

std::string status_html(Status status) {
  const char* look = status == Status::Pass ? "better" : status == Status::Fail ? "worse" : "even";
  return str("<span class=\"finding ", look, "\">", accept::name_of(status), "</span>");
}

std::string sid_links(const std::vector<std::string>& sids, size_t most) {
  std::string out;
  for (size_t i = 0; i < std::min(most, sids.size()); ++i) {
    out += str(i == 0 ? "" : " ", "<a href=\"#sid-", escape(sids[i]), "\"><code>",
               escape(sids[i].substr(0, 8)), "</code></a>");
  }
  return sids.size() > most ? out + str(" and ", sids.size() - most, " more") : out;
}

std::string cells_table(const Acceptance& a, int64_t level) {
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
  for (const CellRow& row : rows_of(a, level)) {
    for (const accept::Cell* cell : row.cells) {
      table.row({escape(row.name), std::to_string(cell->length), std::to_string(cell->asked),
                 fixed(cell->accuracy_answered(), 3), fixed(cell->accuracy_planned(), 3),
                 escape(worst_text(*cell)), fixed(cell->threshold, 2), status_html(cell->status),
                 escape(notes_of(*cell)) + "<small>" + sid_links(cell->failures) + "</small>"});
    }
  }
  return table.empty() ? "" : table.html();
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
  for (const accept::Measure& m : a.measures) {
    if (m.level == level) {
      table.row({escape(m.title), escape(m.task),
                 m.length > 0 ? std::to_string(m.length) : "\u2013", std::to_string(m.n),
                 fixed(m.value, 3),
                 std::isfinite(m.lo) ? fixed(m.lo, 3) + "\u2013" + fixed(m.hi, 3) : "\u2013",
                 p_value(m.p), escape(m.says)});
    }
  }
  return table.empty() ? "" : table.html();
}

Panel position_panel(const CellRow& row) {
  Panel panel;
  panel.title = row.name;
  panel.exports = true;
  panel.x.title = "where the evidence stands, share of the text";
  panel.y.title = "prompt length, tokens";
  Heat heat;
  heat.value = "share right";
  heat.lo = 0.0;
  heat.hi = 1.0;
  for (const accept::Cell* cell : row.cells) {
    auto& z = heat.z.emplace_back();
    auto& text = heat.text.emplace_back();
    for (size_t b = 0; b < cell->buckets.size(); ++b) {
      z.push_back(share(cell->buckets[b]));
      text.push_back(str(cell->length, " tokens, part ", b + 1, " of ", cell->buckets.size(), ": ",
                         bucket_text(cell->buckets[b])));
    }
    panel.y.ticks.push_back(static_cast<double>(heat.z.size()) - 1.0);
    panel.y.tick_text.push_back(std::to_string(cell->length));
  }
  const size_t n = row.cells.empty() ? 0 : row.cells.front()->buckets.size();
  for (size_t b = 0; b < n; ++b) {
    panel.x.ticks.push_back(static_cast<double>(b));
    panel.x.tick_text.push_back(str(100 * b / n, "\u2013", 100 * (b + 1) / n, " %"));
  }
  panel.height = static_cast<int>(std::min<size_t>(420, 150 + 34 * heat.z.size()));
  panel.heat = std::move(heat);
  return panel;
}

void position_rows(Csv& csv, const CellRow& row) {
  for (const accept::Cell* cell : row.cells) {
    for (size_t b = 0; b < cell->buckets.size(); ++b) {
      const BucketResult& bucket = cell->buckets[b];
      csv.row(row.name, cell->length, static_cast<int64_t>(b) + 1, bucket.n, bucket.correct,
              bucket.errors, share(bucket), bucket.lower, bucket.upper);
    }
  }
}

}  // namespace gyre::report
