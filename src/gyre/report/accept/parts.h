// The parts of the page of an acceptance run, each made by one file of this folder.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "gyre/accept/result.h"
#include "gyre/report/accept_page.h"
#include "gyre/report/section.h"

namespace gyre::report {

std::string accept_title(const accept::Acceptance& a);    // what was asked, in short
std::string accept_verdict(const accept::Acceptance& a);  // HTML above the sections
Section accept_findings_section(const accept::Acceptance& a);
Section accept_length_section(const accept::Acceptance& a);
Section accept_retrieval_section(const accept::Acceptance& a);
Section accept_composition_section(const accept::Acceptance& a);
Section accept_ranking_section(const accept::Acceptance& a);
Section accept_resources_section(const accept::Acceptance& a);
Section accept_failures_section(const accept::Acceptance& a, const PromptOf& prompt_of);
Section accept_made_section(const accept::Acceptance& a);

/// Cells that differ in length alone, shortest first.
struct CellRow {
  std::string name;  // "needle, 7 distractors, likeness 2 of 5"
  std::vector<const accept::Cell*> cells;
};
/// Rows of the main arm, or those of all controls.
std::vector<CellRow> rows_of(const accept::Acceptance& a, int64_t level, bool controls);

// words.cpp
/// ", 7 distractors, likeness 2 of 5"; settings that are as everywhere are left out.
std::string dials_words(const std::map<std::string, std::string>& dials);
/// "needle k=7 s=2", the name of a cell in measures, in the same words.
std::string label_words(const std::string& label);
std::string arm_words(const std::string& arm);  // "no evidence"; "" for the main arm
std::string spaced(std::string word);           // wrong_code -> wrong code
/// "0.88–1.00"; "−0.51 to −0.18" when a sign would run into the dash.
std::string range_text(double lo, double hi, int digits);
/// "0.94 (0.88\u20131.00), 15 of 16"
std::string bucket_text(const accept::BucketResult& bucket);
double share_of(const accept::BucketResult& bucket);  // NaN when nothing was asked
/// A status as a coloured word, and the name of its colour: better | worse | even.
std::string status_html(accept::Status status);
const char* look_of(accept::Status status);
/// The verdict of a level with its reasons; "" when the level has none.
std::string level_line(const accept::Acceptance& a, int64_t level);

/// The failures that the page lists: those that something on the page names come first.
std::vector<const accept::Sample*> listed_failures(const accept::Acceptance& a);
/// Ids of requests; those in the list of failures are links to it.
class SidLinks {
 public:
  explicit SidLinks(const accept::Acceptance& a);
  std::string operator()(const std::vector<std::string>& sids, size_t most = kMost) const;
  static constexpr size_t kMost = 4;

 private:
  std::set<std::string> listed_;
};

/// Both ends of a prompt and the evidence between them, as HTML.
std::string prompt_excerpt(const std::string& prompt, const std::vector<std::string>& evidence);

// cells.cpp
/// Table of cells with both accuracies, worst bucket and status; "" without cells.
std::string cells_table(const accept::Acceptance& a, int64_t level);
/// Controls and paired comparisons of a level, and what the controls answered; "" without any.
std::string measures_table(const accept::Acceptance& a, int64_t level);

// maps.cpp
/// Map of one row of cells: lengths by position of the evidence.
Panel position_panel(const CellRow& row);
void position_rows(Csv& csv, const CellRow& row);

// dial_curves.cpp
/// Figures of right answers by number and by likeness of distractors, where there is more than one.
std::vector<Figure> dial_figures(const accept::Acceptance& a);

// axes.cpp
/// Ticks at these values, as many as have room on a logarithmic axis.
void tick_at(Axis& axis, std::vector<double> values);
/// Ticks at 1, 2, 5, 10, ... over the values.
void tick_round(Axis& axis, const std::vector<double>& values);
/// From zero to a little more than the largest value.
void from_zero(Axis& axis, const std::vector<Trace>& traces);

}  // namespace gyre::report
