#include "gyre/accept/ranking/controls.h"

#include "gyre/accept/ranking/copy.h"
#include "gyre/accept/ranking/items.h"
#include "gyre/accept/ranking/scores.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

constexpr double kChance = 1.0 / kCandidates;
constexpr int64_t kGuessItems = 16;
constexpr int64_t kCopyItems = 6;

}  // namespace

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

void run_copies(Examiner& examiner, int64_t length) {
  Bench& bench = examiner.bench();
  Subject& subject = bench.session.subject();
  const Frame frame = ranked_frame(examiner, length);
  if (!bench.serves(Api::Completions) || !bench.result.facts.counts_tokens) {
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

}  // namespace gyre::accept
