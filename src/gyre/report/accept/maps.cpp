// Maps of right answers: prompt lengths by position of the evidence, the numbers in the cells.
#include <algorithm>
#include <cmath>

#include "gyre/base/error.h"
#include "gyre/report/accept/parts.h"

namespace gyre::report {
namespace {

// A cell without items is blank; its label says so, and the table below why.
void add_row(Heat& heat, const accept::Cell& cell) {
  auto& z = heat.z.emplace_back();
  auto& text = heat.text.emplace_back();
  auto& label = heat.label.emplace_back();
  for (size_t b = 0; b < cell.buckets.size(); ++b) {
    const accept::BucketResult& bucket = cell.buckets[b];
    z.push_back(share_of(bucket));
    text.push_back(str(whole(cell.length), " tokens, part ", b + 1, " of ", cell.buckets.size(),
                       ": ", bucket_text(bucket)));
    label.push_back(bucket.n == 0 ? "not asked"
                                  : fixed(share_of(bucket), 2) + "\n" +
                                        range_text(bucket.lower, bucket.upper, 2));
  }
}

}  // namespace

Panel position_panel(const CellRow& row) {
  Panel panel;
  panel.title = row.name;
  panel.exports = true;
  const bool pairs = !row.cells.empty() && row.cells.front()->dials.count("bucket") > 0;
  panel.x.title = pairs ? "distance between the two records, % of the text"
                        : "where the evidence stands, % of the text";
  panel.y.title = "prompt length, tokens";
  Heat heat;
  heat.value = "share right";
  heat.quality = true;
  heat.lo = 0.0;
  heat.hi = 1.0;
  for (const accept::Cell* cell : row.cells) {
    add_row(heat, *cell);
    panel.y.ticks.push_back(static_cast<double>(heat.z.size()) - 1.0);
    panel.y.tick_text.push_back(whole(cell->length) + "\n" + accept::name_of(cell->status));
  }
  const size_t n = row.cells.empty() ? 0 : row.cells.front()->buckets.size();
  for (size_t b = 0; b < n; ++b) {
    panel.x.ticks.push_back(static_cast<double>(b));
    panel.x.tick_text.push_back(str(100 * b / n, "\u2013", 100 * (b + 1) / n));
  }
  panel.height = static_cast<int>(90 + std::max<size_t>(100, 42 * heat.z.size()));
  panel.heat = std::move(heat);
  return panel;
}

void position_rows(Csv& csv, const CellRow& row) {
  for (const accept::Cell* cell : row.cells) {
    for (size_t b = 0; b < cell->buckets.size(); ++b) {
      const accept::BucketResult& bucket = cell->buckets[b];
      csv.row(row.name, cell->length, static_cast<int64_t>(b) + 1, bucket.n, bucket.correct,
              bucket.errors, share_of(bucket), bucket.lower, bucket.upper);
    }
  }
}

}  // namespace gyre::report
