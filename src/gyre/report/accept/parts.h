// The parts of the page of an acceptance run, each made by one file of this folder.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gyre/accept/result.h"
#include "gyre/report/section.h"

namespace gyre::report {

std::string accept_verdict(const accept::Acceptance& a);  // HTML above the sections
Section accept_findings_section(const accept::Acceptance& a);
Section accept_length_section(const accept::Acceptance& a);
Section accept_retrieval_section(const accept::Acceptance& a);
Section accept_composition_section(const accept::Acceptance& a);
Section accept_ranking_section(const accept::Acceptance& a);
Section accept_resources_section(const accept::Acceptance& a);
Section accept_failures_section(const accept::Acceptance& a);
Section accept_made_section(const accept::Acceptance& a);

/// Cells that differ in length alone, shortest first.
struct CellRow {
  std::string name;  // "needle, k 7, s 2"
  std::vector<const accept::Cell*> cells;
};
std::vector<CellRow> rows_of(const accept::Acceptance& a, int64_t level);

/// "0.94 (0.88\u20131.00), 15 of 16"
std::string bucket_text(const accept::BucketResult& bucket);
/// A status as a coloured word.
std::string status_html(accept::Status status);
/// Links to the failures of these sids, at most `most`.
std::string sid_links(const std::vector<std::string>& sids, size_t most = 4);
/// Table of cells with both accuracies, worst bucket and status; "" without cells.
std::string cells_table(const accept::Acceptance& a, int64_t level);
/// Controls and paired comparisons of a level; "" without any.
std::string measures_table(const accept::Acceptance& a, int64_t level);
/// Heat map of one row of cells: lengths by position of the evidence.
Panel position_panel(const CellRow& row);
void position_rows(Csv& csv, const CellRow& row);

}  // namespace gyre::report
