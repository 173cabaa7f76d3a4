// Ranking mode, for models too small to answer in words: the right value among ten candidates, what
// the evidence is worth in nats, a copy probe. It stands in the place of level 2; level 3 needs
// answers and is not asked.
#include <algorithm>
#include <cmath>
#include <set>

#include "gyre/accept/quality/cells.h"
#include "gyre/accept/quality/measures.h"
#include "gyre/accept/ranking/controls.h"
#include "gyre/accept/ranking/items.h"
#include "gyre/accept/ranking/scores.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

constexpr double kChance = 1.0 / kCandidates;

struct Ranks {
  int64_t bucket = 0, index = 0;
  std::string sid;
  bool known = false, first = false;
  double reciprocal = 0.0, gain = kUnknown;
  int64_t distance = 0;  // tokens from the evidence to the end
};

Ranks ranks_of(const Slot& slot, const Sample& main, const Sample& swap) {
  Ranks out;
  out.bucket = slot.bucket;
  out.index = slot.index;
  out.sid = main.item.sid;
  out.distance = main.item.evidence.empty() ? 0 : main.item.evidence[0].from_end;
  const auto score = ranked_score(main.item, main.reply);
  if (!score) {
    return out;
  }
  out.known = true;
  out.first = score->place == 1;
  out.reciprocal = 1.0 / static_cast<double>(score->place);
  if (const auto without = candidate_logprob(swap.item, swap.reply, main.item.gold[0])) {
    out.gain = score->logprob - *without;
  }
  return out;
}

/// The same index with the evidence ever earlier: prompts that begin alike follow each other, which
/// a subject that keeps its cache makes use of.
std::vector<Slot> in_order(int64_t first, int64_t last) {
  std::vector<Slot> out;
  for (int64_t index = first; index < last; ++index) {
    for (int64_t bucket = kBuckets - 1; bucket >= 0; --bucket) {
      out.push_back({bucket, index});
    }
  }
  return out;
}

std::vector<Ranks> ask_ranks(Bench& bench, const Frame& frame, const std::vector<Slot>& wanted) {
  std::vector<Item> items;
  for (const Slot& slot : wanted) {
    items.push_back(ranked_item(slot, Arm::Main, frame));
    items.push_back(ranked_item(slot, Arm::Swap, frame));
  }
  const std::vector<Sample> samples = bench.session.ask_all(std::move(items));
  std::vector<Ranks> out;
  for (size_t i = 0; i < wanted.size(); ++i) {
    out.push_back(ranks_of(wanted[i], samples[2 * i], samples[2 * i + 1]));
  }
  return out;
}

std::vector<double> gains_of(const std::vector<Ranks>& all, int64_t bucket) {
  std::vector<double> out;
  for (const Ranks& one : all) {
    if ((bucket < 0 || one.bucket == bucket) && std::isfinite(one.gain)) {
      out.push_back(one.gain);
    }
  }
  return out;
}

std::vector<BucketCount> counts_of(const std::vector<Ranks>& all) {
  std::vector<BucketCount> out(static_cast<size_t>(kBuckets));
  for (const Ranks& one : all) {
    BucketCount& bucket = out[static_cast<size_t>(one.bucket)];
    ++bucket.n;
    bucket.correct += one.first;
  }
  return out;
}

void fill(Cell& cell, const std::vector<Ranks>& all, const Decision& decision) {
  cell.buckets.assign(static_cast<size_t>(kBuckets), {});
  for (const Ranks& one : all) {
    BucketResult& bucket = cell.buckets[static_cast<size_t>(one.bucket)];
    ++bucket.n;
    bucket.correct += one.first;
    bucket.errors += !one.known;
    ++cell.asked;
    cell.answered += one.known;
    cell.correct += one.first;
    ++cell.verdicts[!one.known ? "error" : one.first ? "ok" : "distractor"];
    if (!one.first) {
      cell.failures.push_back(one.sid);
    }
  }
  for (size_t b = 0; b < decision.lower.size(); ++b) {
    cell.buckets[b].lower = decision.lower[b];
    cell.buckets[b].upper = decision.upper[b];
  }
  cell.status = decision.status;
  cell.needs_about = decision.needs_about;
  cell.worst = decision.worst;
  const Mean gain = mean_of(gains_of(all, -1));
  cell.gain_nats = gain.value;
  cell.gain_lo = gain.lo;
  cell.gain_hi = gain.hi;
}

void add_points(Bench& bench, const std::vector<Ranks>& all, int64_t length) {
  for (int64_t bucket = 0; bucket < kBuckets; ++bucket) {
    RankingPoint point;
    point.probe = "gain";
    point.length = length;
    const Mean gain = mean_of(gains_of(all, bucket));
    int64_t n = 0, first = 0, distance = 0;
    double reciprocal = 0.0;
    for (const Ranks& one : all) {
      if (one.bucket == bucket && one.known) {
        ++n;
        first += one.first;
        reciprocal += one.reciprocal;
        distance += one.distance;
      }
    }
    if (n == 0) {
      continue;
    }
    point.n = n;
    point.distance = distance / n;
    point.nats = gain.value;
    point.lo = gain.lo;
    point.hi = gain.hi;
    point.top1 = static_cast<double>(first) / static_cast<double>(n);
    point.mrr = reciprocal / static_cast<double>(n);
    bench.result.ranking.push_back(point);
  }
}

Cell new_cell(int64_t length, const AcceptOptions& options) {
  Cell cell;
  cell.level = 2;
  cell.task = "ranked";
  cell.length = length;
  cell.dials = {{"k", str(kRankedDistractors)}, {"candidates", str(kCandidates)}};
  cell.planned = kBuckets * options.looks.back();
  return cell;
}

/// Look by look, until the bounds decide. Without a threshold (the model does not rank the right
/// value first at the original length either) one look tells the gain.
Cell run_length(Examiner& examiner, int64_t length, double threshold) {
  Bench& bench = examiner.bench();
  Cell cell = new_cell(length, bench.options);
  LookPlan looks;
  looks.looks = bench.options.looks;
  looks.alpha = bench.options.alpha;
  std::vector<Ranks> all;
  Decision decision;
  int64_t asked = 0;
  for (const int64_t look : bench.options.looks) {
    const auto more = ask_ranks(bench, ranked_frame(examiner, length), in_order(asked, look));
    all.insert(all.end(), more.begin(), more.end());
    asked = look;
    decision = decide(counts_of(all), std::max(threshold, 0.0), looks);
    if (decision.status != Status::Undecided || threshold < 0.0) {
      break;
    }
  }
  if (threshold < 0.0) {
    decision.status = Status::Undecided;
    decision.needs_about = 0;
    cell.says = "the model does not rank the right value first at the original length either";
  } else {
    cell.threshold = threshold;
  }
  fill(cell, all, decision);
  add_points(bench, all, length);
  return cell;
}

Cell skipped(int64_t length, const AcceptOptions& options, const std::string& why) {
  Cell cell = new_cell(length, options);
  cell.buckets.assign(static_cast<size_t>(kBuckets), {});
  cell.why_not_run = why;
  return cell;
}

/// Share of the right value's first places that longer prompts must keep, from the original length;
/// -1 when it is not above chance there.
double threshold_of(const Cell& baseline, const AcceptOptions& options) {
  constexpr double kAlpha = 0.05;
  const double lower = wilson_lower(baseline.correct, baseline.asked, kAlpha);
  return lower > kChance ? options.threshold * lower : -1.0;
}

/// Nothing can be ranked: no answer of the first look told log-probabilities.
void add_unranked(Bench& bench, std::set<int64_t> lengths) {
  lengths.insert(bench.options.original_length);
  for (const int64_t length : lengths) {
    Cell cell = new_cell(length, bench.options);
    cell.arm = length == bench.options.original_length ? "short" : cell.arm;
    cell.status = Status::NotRun;
    cell.says = cell.why_not_run = "no answer told log-probabilities";
    bench.result.cells.push_back(std::move(cell));
  }
}

bool echo_works(const Bench& bench) {
  return std::none_of(bench.result.findings.begin(), bench.result.findings.end(),
                      [](const Finding& finding) { return finding.id == "ECHO_IGNORED"; });
}

}  // namespace

void run_ranking(Bench& bench) {
  Examiner examiner(bench);
  const int64_t original = bench.options.original_length;
  std::set<int64_t> lengths(bench.options.lengths.begin(), bench.options.lengths.end());
  lengths.erase(original);
  if (const std::string why = no_room(examiner, original); !why.empty()) {
    Cell cell = skipped(original, bench.options, why);
    cell.arm = "short";
    bench.result.cells.push_back(std::move(cell));
    for (const int64_t length : lengths) {
      bench.result.cells.push_back(
          skipped(length, bench.options, "no baseline at the original length: " + why));
    }
    return;
  }
  Cell baseline = run_length(examiner, original, -1.0);
  if (baseline.answered == 0) {
    return add_unranked(bench, lengths);
  }
  const double threshold = threshold_of(baseline, bench.options);
  baseline.arm = "short";
  baseline.status = threshold < 0.0 ? Status::NotRun : Status::Pass;
  baseline.says = threshold < 0.0
                      ? "not above chance"
                      : str("every longer prompt must keep ", std::round(100 * threshold) / 100);
  bench.result.cells.push_back(baseline);
  run_guesses(examiner, original);
  const bool echo = echo_works(bench);
  if (echo) {
    run_copies(examiner, original);
  }
  for (const int64_t length : lengths) {
    const std::string forbidden = examiner.forbidden(length);
    const std::string why = forbidden.empty() ? no_room(examiner, length) : forbidden;
    if (!why.empty()) {
      bench.result.cells.push_back(skipped(length, bench.options, why));
      continue;
    }
    bench.result.cells.push_back(run_length(examiner, length, threshold));
    if (echo) {
      run_copies(examiner, length);
    }
  }
}

}  // namespace gyre::accept
