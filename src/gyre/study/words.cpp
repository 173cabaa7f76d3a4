// The sentences of a comparison: verdict, what cannot be resolved, limits. Every number in them is
// taken from the Comparison; nothing is said that was not computed.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "gyre/base/error.h"
#include "gyre/study/comparison.h"
#include "gyre/study/format.h"

namespace gyre::study {
namespace {

std::string joined(const std::vector<std::string>& parts, const char* separator = ", ") {
  std::string out;
  for (const std::string& part : parts) {
    out += (out.empty() ? "" : separator) + part;
  }
  return out;
}

std::string plural(size_t n, const std::string& word) {
  return str(n, " ", word, n == 1 ? "" : "s");
}

std::string pair_text(const PairResult& pair) {
  const std::string interval = pair.ci95.known()
                                   ? str(", 95 % interval ", signed_number(pair.ci95.lo), " to ",
                                         signed_number(pair.ci95.hi))
                                   : "";
  return str(pair.b, " (", signed_number(pair.delta), " nats per token", interval, ")");
}

std::string loss_sentence(const Comparison& c) {
  const Settings& s = c.settings;
  if (c.pairs.empty()) {
    return str("There is nothing to compare: ",
               c.arms.size() < 2 ? "only one arm has a complete run"
                                 : "no arm shares a seed with the first",
               ".");
  }
  std::map<std::string, std::vector<std::string>> by_verdict;
  size_t n_seeds = 0;
  for (const PairResult& pair : c.pairs) {
    by_verdict[pair.ci95.known() ? pair.verdict : "undecided"].push_back(pair_text(pair));
    n_seeds = std::max(n_seeds, pair.seeds.size());
  }
  std::vector<std::string> parts;
  const auto add = [&](const char* verdict, const char* words) {
    if (const auto found = by_verdict.find(verdict); found != by_verdict.end()) {
      parts.push_back(str(words, joined(found->second)));
    }
  };
  add("better", "lower validation loss for ");
  add("worse", "higher loss for ");
  add("no difference seen", "no difference seen for ");
  add("undecided", "one seed decides nothing for ");
  return str("Against ", c.pairs.front().a, " after ", with_commas(s.tokens), " tokens at length ",
             s.length, " (", plural(n_seeds, "paired seed"), "): ", joined(parts, "; "), ".");
}

// The kind of window that was read at the most lengths; "" when no length was evaluated.
std::string window_kind(const Comparison& c) {
  std::map<std::string, std::set<int64_t>> lengths;
  for (const LengthPoint& point : c.length_curve) {
    lengths[point.windows].insert(point.length);
  }
  std::string best;
  for (const auto& [kind, found] : lengths) {
    if (found.size() > 1 && (best.empty() || found.size() >= lengths.at(best).size())) {
      best = kind;
    }
  }
  return best;
}

std::string length_sentence(const Comparison& c) {
  const std::string kind = window_kind(c);
  int64_t longest = 0;
  for (const LengthPoint& p : c.length_curve) {
    longest = p.windows == kind ? std::max(longest, p.length) : longest;
  }
  struct Change {
    std::string arm;
    double at_training, at_longest;
  };
  std::vector<Change> changes;
  for (const ArmSummary& arm : c.arms) {
    Change change{arm.name, kUnknown, kUnknown};
    for (const LengthPoint& p : c.length_curve) {
      if (p.arm == arm.name && p.windows == kind) {
        change.at_training = p.length == c.settings.length ? p.loss : change.at_training;
        change.at_longest = p.length == longest ? p.loss : change.at_longest;
      }
    }
    if (std::isfinite(change.at_training) && std::isfinite(change.at_longest)) {
      changes.push_back(change);
    }
  }
  if (changes.empty() || longest <= c.settings.length) {
    return "Lengths beyond the training length were not evaluated.";
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change& x, const Change& y) { return x.at_longest < y.at_longest; });
  std::vector<std::string> parts;
  for (const Change& change : changes) {
    parts.push_back(str(change.arm, " ", fixed(change.at_longest, 3), " (",
                        signed_number(change.at_longest - change.at_training, 3), ")"));
  }
  return str("Read in ", kind, " windows of ", longest, " tokens, ",
             fixed(static_cast<double>(longest) / static_cast<double>(c.settings.length), 0),
             " times the training length, the losses are ", joined(parts),
             "; in brackets the change from the training length.");
}

void add_pair_doubts(Comparison& c) {
  for (const PairResult& pair : c.pairs) {
    if (pair.verdict != "no difference seen" || !pair.ci95.known()) {
      continue;
    }
    const bool inside = pair.ci95.contains(0.0);
    c.cannot_resolve.push_back(str(
        pair.b, " against ", pair.a, ": the difference of ", signed_number(pair.delta), " nats ",
        inside ? str("lies within an interval that holds zero (", signed_number(pair.ci95.lo),
                     " to ", signed_number(pair.ci95.hi), ")")
               : "does not pass the rule for a verdict (several arms, or few blocks decide it)",
        pair.seeds_needed ? str("; if it is the true one, about ", with_commas(*pair.seeds_needed),
                                " seeds would settle it")
                          : "",
        "."));
  }
  const auto known = std::find_if(c.pairs.begin(), c.pairs.end(),
                                  [](const PairResult& p) { return p.ci95.known(); });
  if (!c.pairs.empty() && known == c.pairs.end()) {
    c.cannot_resolve.push_back(
        "One seed: how much the losses would change if the arms were trained "
        "again is not known, so no arm is called better or worse; use "
        "--seeds 2 or more.");
  } else if (known != c.pairs.end()) {
    double half = 0.0;
    for (const PairResult& pair : c.pairs) {
      half = pair.ci95.known() ? std::max(half, 0.5 * (pair.ci95.hi - pair.ci95.lo)) : half;
    }
    c.cannot_resolve.push_back(str("Differences below about ", fixed(half, 4),
                                   " nats per token cannot be told from zero with ",
                                   plural(known->seeds.size(), "seed"), " at this size."));
  }
}

void add_needle_doubts(Comparison& c) {
  std::map<int64_t, bool> above;  // does any arm beat chance?
  for (const NeedlePoint& point : c.needle) {
    above[point.distractors] = above[point.distractors] || point.ci95.lo > point.chance;
  }
  std::vector<std::string> counts;
  for (const auto& [distractors, any] : above) {
    if (!any) {
      counts.push_back(str(distractors));
    }
  }
  if (!counts.empty()) {
    c.cannot_resolve.push_back(str("Needle ranking with ", joined(counts),
                                   " distractors: no arm is above chance, so models of this size "
                                   "and training say nothing about the schemes there."));
  }
}

void add_band_doubts(Comparison& c) {
  for (const BandConsistency& bands : c.consistency) {
    if (bands.n_runs > 1 && (bands.same_band < 1.0 || bands.near_median < 1.0)) {
      c.cannot_resolve.push_back(
          str("The dominant band of ", bands.arm, " is not the same in all runs (",
              fixed(100 * bands.same_band, 0), " % share band ", bands.band, ", ",
              fixed(100 * bands.near_median, 0), " % lie within 10 % of the median wavelength)."));
    }
    c.cannot_resolve.push_back(str("Whether the dominant wavelength of ", bands.arm,
                                   " grows in proportion to the training length: only length ",
                                   c.settings.length,
                                   " was trained; run again with other --length."));
  }
  const bool unknown = std::any_of(c.gain_shares.begin(), c.gain_shares.end(),
                                   [](const GainShare& g) { return !g.known(); });
  if (unknown) {
    c.cannot_resolve.push_back(
        "What part of the gain from learning frequencies other arms have: "
        "there is no gain above zero here to take a part of.");
  }
}

void add_failures(Comparison& c) {
  const auto failed = std::count_if(c.cells.begin(), c.cells.end(),
                                    [](const CellLine& cell) { return cell.status == "failed"; });
  if (failed > 0) {
    c.cannot_resolve.push_back(str(failed, " of ", c.cells.size(),
                                   " cells failed; their arms are compared on the seeds that are "
                                   "left."));
  }
}

void add_limits(Comparison& c) {
  const Settings& s = c.settings;
  c.limits.push_back(str("One model size (", with_commas(s.params), " parameters), one data set (",
                         joined(s.data), "), ", with_commas(s.tokens),
                         " tokens a run: no order of the schemes for other sizes, texts or tasks "
                         "follows from it."));
  c.limits.emplace_back("All training options are the same in every arm and were tuned for none.");
  c.limits.push_back("Verdict: " + verdict_rule());
  c.limits.emplace_back(
      "The interval over blocks covers the choice of validation text only, not "
      "training again.");
  c.limits.emplace_back(
      "Seeds needed (80 % power at 5 %) take the seen difference for the true "
      "one.");
  if (!c.needle.empty()) {
    c.limits.emplace_back("Needle intervals take all items of all seeds as independent.");
  }
  for (const ArmSummary& arm : c.arms) {
    if (arm.mask != c.arms.front().mask && arm.scheme != c.arms.front().scheme) {
      c.limits.push_back(
          str(arm.name, " differs from ", c.arms.front().name,
              " in mask and in positions; the difference belongs to both together."));
    }
  }
}

}  // namespace

void add_words(Comparison& c) {
  c.verdict = {loss_sentence(c), length_sentence(c)};
  add_pair_doubts(c);
  add_needle_doubts(c);
  add_band_doubts(c);
  add_failures(c);
  add_limits(c);
}

}  // namespace gyre::study
