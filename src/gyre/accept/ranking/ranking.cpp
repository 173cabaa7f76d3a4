// Ranking mode, for models too small to answer in words: the right value among ten candidates, what
// the evidence is worth in nats, a copy probe. It stands in the place of level 2; level 3 needs
// answers and is not asked.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "gyre/accept/quality/cells.h"
#include "gyre/accept/quality/measures.h"
#include "gyre/accept/ranking/copy.h"
#include "gyre/accept/ranking/scores.h"
#include "gyre/base/error.h"
#include "gyre/study/statistics.h"

namespace gyre::accept {
namespace {

constexpr int64_t kCandidates = 10;
constexpr int64_t kDistractors = 4;
constexpr double kChance = 1.0 / kCandidates;
constexpr int64_t kAnswerTokens = 2;  // some tokenizers write the blank before a digit by itself
constexpr int64_t kGuessItems = 16;
constexpr int64_t kCopyItems = 6;
constexpr int64_t kRepeats = 2000;  // of a bootstrap
constexpr uint64_t kSeed = 7;

struct Ranks {
  int64_t bucket = 0, index = 0;
  std::string sid;
  bool known = false, first = false;
  double reciprocal = 0.0, gain = kUnknown;
  int64_t distance = 0;  // tokens from the evidence to the end
};

Item ranked_item(const Slot& slot, Arm arm, const Frame& frame) {
  Ranked dials;
  dials.index = slot.index;
  dials.distractors = kDistractors;
  dials.candidates = kCandidates;
  dials.fraction = place_in(slot.bucket, slot.index);
  dials.arm = arm;
  Item item = make_ranked(dials, frame);
  item.dials["bucket"] = str(slot.bucket);
  if (arm != Arm::Main) {
    item.form = AnswerForm::Probe;  // a control: what comes first in it is no failure
  }
  item.ask.max_tokens = kAnswerTokens;
  return item;
}

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

/// A continuation needs the endpoint that continues, and no room for an answer in words.
Frame ranked_frame(Examiner& examiner, int64_t length) {
  Frame frame = examiner.frame(length);
  frame.length = length;
  frame.max_tokens = kAnswerTokens;
  Bench& bench = examiner.bench();
  if (bench.options.api != "chat" && bench.session.subject().can(Api::Completions)) {
    frame.api = Api::Completions;
  }
  return frame;
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

struct Mean {
  int64_t n = 0;
  double value = kUnknown, lo = kUnknown, hi = kUnknown;
};

/// Mean with its bootstrap interval.
Mean mean_of(const std::vector<double>& values) {
  if (values.empty()) {
    return {};
  }
  const auto mean = [&](std::span<const int64_t> picked) {
    double sum = 0.0;
    for (const int64_t i : picked) {
      sum += values[static_cast<size_t>(i)];
    }
    return sum / static_cast<double>(picked.size());
  };
  const auto n = static_cast<int64_t>(values.size());
  std::vector<int64_t> all(values.size());
  std::iota(all.begin(), all.end(), 0);
  const study::Interval range =
      n > 1 ? study::bootstrap(n, mean, kRepeats, kSeed) : study::Interval{};
  return {n, mean(all), range.lo, range.hi};
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
  cell.dials = {{"k", str(kDistractors)}, {"candidates", str(kCandidates)}};
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

/// No evidence: how often the withheld value comes first all the same. Chance is one in ten.
void run_guesses(Examiner& examiner, int64_t length) {
  std::vector<Item> items;
  for (int64_t i = 0; i < kGuessItems; ++i) {
    items.push_back(
        ranked_item({kBuckets / 2, i}, Arm::NoEvidence, ranked_frame(examiner, length)));
  }
  int64_t n = 0, guessed = 0;
  for (const Sample& sample : examiner.bench().session.ask_all(std::move(items))) {
    Item item = sample.item;
    const auto withheld = item.dials.find("withheld");
    if (withheld == item.dials.end()) {
      continue;
    }
    item.gold = {withheld->second};
    if (const auto score = ranked_score(item, sample.reply)) {
      ++n;
      guessed += score->place == 1;
    }
  }
  Measure m;
  m.id = "guess_rate";
  m.title = "right value ranked first without evidence";
  m.task = "ranked";
  m.length = length;
  m.n = n;
  if (n > 0) {
    constexpr double kTail = 0.025;
    m.value = static_cast<double>(guessed) / static_cast<double>(n);
    m.lo = wilson_lower(guessed, n, kTail);
    m.hi = wilson_upper(guessed, n, kTail);
    m.says = str("chance is ", kChance, m.lo > kChance ? "; above it: values can be guessed" : "");
  } else {
    m.says = "no answer told log-probabilities";
  }
  examiner.bench().result.measures.push_back(std::move(m));
}

/// Copies at a tenth, half and nearly all of the length.
void run_copies(Examiner& examiner, int64_t length) {
  Bench& bench = examiner.bench();
  Subject& subject = bench.session.subject();
  const Frame frame = ranked_frame(examiner, length);
  if (!subject.can(Api::Completions) || !bench.result.facts.counts_tokens) {
    return;
  }
  const int64_t room = frame.calibration.bytes_for(length);
  for (const double share : {0.1, 0.5, 0.8}) {
    const auto distance = static_cast<int64_t>(share * static_cast<double>(room));
    std::vector<double> gains;
    for (int64_t i = 0; i < kCopyItems; ++i) {
      const CopyItem copy = make_copy(i, distance, frame);
      const Sample sample = bench.session.ask(copy.item);
      if (sample.reply.prompt_logprobs.empty()) {
        return;  // no echo: the probe cannot be made here
      }
      if (const auto gain = copy_gain(subject, copy, sample.reply)) {
        gains.push_back(*gain);
      }
    }
    if (gains.empty()) {
      continue;
    }
    const Mean mean = mean_of(gains);
    RankingPoint point;
    point.probe = "copy";
    point.length = length;
    point.distance = frame.calibration.tokens_for(distance);
    point.n = mean.n;
    point.nats = mean.value;
    point.lo = mean.lo;
    point.hi = mean.hi;
    bench.result.ranking.push_back(point);
  }
}

/// Share of the right value's first places that longer prompts must keep, from the original length;
/// -1 when it is not above chance there.
double threshold_of(const Cell& baseline, const AcceptOptions& options) {
  constexpr double kAlpha = 0.05;
  const double lower = wilson_lower(baseline.correct, baseline.asked, kAlpha);
  return lower > kChance ? options.threshold * lower : -1.0;
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
  Cell baseline = run_length(examiner, original, -1.0);
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
    if (const std::string why = examiner.forbidden(length); !why.empty()) {
      Cell cell = new_cell(length, bench.options);
      cell.why_not_run = why;
      bench.result.cells.push_back(std::move(cell));
      continue;
    }
    bench.result.cells.push_back(run_length(examiner, length, threshold));
    if (echo) {
      run_copies(examiner, length);
    }
  }
}

}  // namespace gyre::accept
