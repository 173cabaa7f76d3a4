#include "gyre/accept/quality/examiner.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "gyre/accept/scoring/answer_text.h"
#include "gyre/accept/text/filler.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

constexpr int64_t kOffGrid = 64;  // rungs of level 1 stand up to that many tokens beside a length

Api api_of(const Bench& bench) {
  const bool chat = bench.options.api != "completions" && bench.serves(Api::Chat);
  return chat ? Api::Chat : Api::Completions;
}

/// The least window that was measured or that somebody told; 0 = none.
int64_t known_window(const Acceptance& result) {
  int64_t least = std::max<int64_t>(0, result.options.context);
  const auto take = [&](int64_t tokens) {
    least = tokens > 0 && (least == 0 || tokens < least) ? tokens : least;
  };
  take(result.one.window.fails.value_or(0));
  for (const Claim& claim : result.facts.claims) {
    take(claim.tokens);
  }
  return least;
}

bool is_cut(const Sample& sample) {
  return sample.verdict == Verdict::Cut ||
         (sample.verdict == Verdict::Empty &&
          (sample.reply.finish == "length" || !sample.reply.reasoning.empty()));
}

/// Thoughts need room; other words that do not end would fill any.
bool thinks(const Sample& sample) {
  return !sample.reply.reasoning.empty() || sample.verdict == Verdict::Empty ||
         without_thinking(sample.reply.text).text != trimmed(sample.reply.text);
}

std::string fault_words(const Reply& reply) {
  return str(name_of(reply.fault), reply.fault_text.empty() ? "" : ": ", reply.fault_text);
}

Judged outcome_of(const Sample& sample, const Slot& slot) {
  Judged out{slot, sample.item.sid, sample.verdict, sample.found, {}, {}, {}, {}};
  out.codes = codes_in(sample.found);
  out.dials = sample.item.dials;
  out.gold = sample.item.gold;
  if (sample.verdict == Verdict::Error) {
    out.fault = fault_words(sample.reply);
  }
  return out;
}

}  // namespace

std::vector<Slot> slots(int64_t first, int64_t last) {
  std::vector<Slot> out;
  for (int64_t index = first; index < last; ++index) {
    for (int64_t bucket = 0; bucket < kBuckets; ++bucket) {
      out.push_back({bucket, index});
    }
  }
  return out;
}

Examiner::Examiner(Bench& bench)
    : bench_(bench), api_(api_of(bench)) {
  budget_ = bench.options.max_tokens > 0 ? bench.options.max_tokens
                                         : std::max(kBudgets[0], bench.result.answer_tokens);
  if (bench.result.calibration.source == "guess") {
    calibrate();
  }
}

Sample Examiner::ask_one(Item item) {
  return std::move(ask_all({std::move(item)}).front());
}

std::vector<Sample> Examiner::ask_all(std::vector<Item> items) {
  for (size_t i = 0; bench_.on_item && i < items.size(); ++i) {
    bench_.on_item(items[i]);
  }
  return bench_.session.ask_all(std::move(items));
}

/// Without level 1: two plain needles, one three times as long as the other.
void Examiner::calibrate() {
  std::vector<Item> items;
  std::vector<int64_t> bytes;
  constexpr int64_t kShortest = 256;  // tokens: room for a question, its record and filler
  const int64_t shorter = std::max(bench_.options.original_length, kShortest);
  for (const int64_t length : {shorter, 3 * shorter}) {
    Needle dials;
    dials.family = "plain";
    items.push_back(make_needle(dials, frame(length)));
    items.back().task = "calibration";
    items.back().level = 1;
    bytes.push_back(prompt_bytes(items.back().ask));
  }
  const auto samples = ask_all(std::move(items));
  const auto& a = samples[0];
  const auto& b = samples[1];
  if (a.reply.prompt_tokens && b.reply.prompt_tokens) {
    bench_.result.calibration =
        fit_calibration(bytes[0], *a.reply.prompt_tokens, bytes[1], *b.reply.prompt_tokens);
    bench_.result.calibration.evidence = {a.item.sid, b.item.sid};
  }
}

Frame Examiner::frame(int64_t length) const {
  Frame out;
  out.api = api_;
  out.max_tokens = budget_;
  out.length = length;
  if (4 * budget_ > length) {
    // Thoughts would leave too little of a short length for its prompt: they stand beside it where
    // the window is not known to be too small, else the prompt keeps at least half.
    const int64_t beside = length - kBudgets[0] + budget_, window = known_window(bench_.result);
    out.length = window == 0 || beside <= window ? beside : std::max(length, length / 2 + budget_);
  }
  out.calibration = bench_.result.calibration;
  out.seed = static_cast<uint64_t>(bench_.options.seed);
  return out;
}

Item Examiner::labelled(const Spec& spec, const Slot& slot, int64_t length, Item item) const {
  item.length = length;
  item.index = slot.index;
  item.dials["bucket"] = str(slot.bucket);
  item.dials["cell"] = spec.label();
  return item;
}

Item Examiner::item(const Spec& spec, const Slot& slot, Arm arm, int64_t length) const {
  return labelled(spec, slot, length, spec.make(slot, arm, frame(length)));
}

std::string Examiner::forbidden(int64_t length) const {
  const LevelOne& one = bench_.result.one;
  if (!one.ran) {
    return "";
  }
  for (const Finding& finding : bench_.result.findings) {
    if (finding.id == "CACHE_DIVERGENCE") {
      return "level 1: equal requests are answered differently by the cache";
    }
  }
  bool met = false;
  for (const Rung& rung : one.rungs) {
    const bool here = rung.api == api_ && std::abs(rung.length - length) <= kOffGrid;
    met = met || here;
    if (here && rung.status == Status::Fail) {
      return str("level 1 failed at ", rung.length, " tokens", rung.says.empty() ? "" : ": ",
                 rung.says);
    }
  }
  if (!met && one.window.fails && length >= *one.window.fails) {
    return str("level 1 failed at ", *one.window.fails, " tokens");
  }
  return "";
}

bool Examiner::raise_budget() {
  if (bench_.options.max_tokens > 0) {
    return false;
  }
  const auto* next = std::upper_bound(std::begin(kBudgets), std::end(kBudgets), budget_);
  if (next == std::end(kBudgets)) {
    return false;
  }
  budget_ = *next;
  bench_.result.answer_tokens = budget_;
  return true;
}

std::string Examiner::probe(const Spec& spec, int64_t length, Arm arm) {
  const int64_t before = budget_, noted = bench_.result.answer_tokens;
  Sample sample = ask_one(item(spec, {}, arm, length));
  while (is_cut(sample)) {
    constexpr int64_t kMuch = 4096;
    const bool rambles = !thinks(sample) && (in_vain_ || budget_ >= kMuch);
    in_vain_ = in_vain_ || rambles;
    if (rambles || !raise_budget()) {
      budget_ = before;  // no budget helps: the small one costs least
      bench_.result.answer_tokens = noted;
      break;
    }
    sample = ask_one(item(spec, {}, arm, length));
  }
  if (sample.reply.answered()) {
    return "";
  }
  const auto outcomes = ask(spec, length, arm, slots(0, 1));
  const auto failed = std::count_if(outcomes.begin(), outcomes.end(), [](const Judged& outcome) {
    return outcome.verdict == Verdict::Error;
  });
  if (failed < kBuckets) {
    return "";
  }
  return str("all of ", kBuckets, " requests failed: ", outcomes[0].fault);
}

std::vector<Judged> Examiner::ask(std::vector<Item> items, const std::vector<Slot>& slots) {
  const auto samples = ask_all(std::move(items));
  std::vector<Judged> out;
  int64_t lost = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    out.push_back(outcome_of(samples[i], slots[i]));
    lost += samples[i].reply.fault == Fault::Connect;
  }
  if (!samples.empty() && lost == static_cast<int64_t>(samples.size())) {
    gone_ = str("the server does not answer any more: ", out.back().fault);
  }
  return out;
}

std::vector<Judged> Examiner::ask(const Spec& spec, int64_t length, Arm arm,
                                  const std::vector<Slot>& wanted) {
  std::vector<Item> items;
  for (const Slot& slot : wanted) {
    items.push_back(item(spec, slot, arm, length));
  }
  return ask(std::move(items), wanted);
}

}  // namespace gyre::accept
