// Numbers with an interval out of cells: paired effects, controls, shares of verdicts, the
// composition gap, the agreement of contradiction answers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gyre/accept/quality/cells.h"

namespace gyre::accept {

/// A share with its two-sided 95 % Wilson interval.
Measure share_measure(const CellRun& run, std::string id, std::string title, int64_t n_of,
                      int64_t n);

/// Accuracy of b minus accuracy of a over the slots that both were asked, with exact McNemar.
/// `what` says what differs: "k 0 -> 7".
Measure paired_effect(const CellRun& a, const CellRun& b, const std::string& id,
                      const std::string& what);

/// Effects of every dial between the cells of one length: each cell is compared with the last one
/// before it that differs in that dial alone; one that differs in several from all others, with
/// the one before it.
std::vector<Measure> dial_effects(const std::vector<CellRun>& runs);

/// Cut, unreadable and failed shares of all asked items of a length.
std::vector<Measure> verdict_shares(const std::vector<CellRun>& runs, int64_t level,
                                    int64_t length);

/// noev or alone: the withheld code was said all the same; an invented code; a distractor's code.
std::vector<Measure> guess_measures(const CellRun& control);
/// swap: items whose main item and twin are both right.
Measure following_measure(const CellRun& main, const CellRun& swap);
/// reseed: answers that other filler turns, right to wrong or back.
Measure nuisance_measure(const CellRun& main, const CellRun& reseed);

/// One item of a composition: was the whole right, and was each step alone.
struct Composed {
  bool whole = false;
  std::vector<bool> steps;
};
/// p(whole) - product over the steps of p(step), with a bootstrap over the items.
Measure composition_gap(const std::vector<Composed>& items, const CellRun& run,
                        const std::string& what);

/// Matthews correlation of CONFLICT against CONSISTENT, with a bootstrap over the items.
Measure agreement_measure(const CellRun& run);
/// Accuracy for each value of an item's dial: "form", "m", "h".
std::vector<Measure> accuracy_by(const CellRun& run, const std::string& dial,
                                 const std::string& title);

}  // namespace gyre::accept
