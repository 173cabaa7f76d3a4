// Two roll calls of different size in the same frame tell tokens a byte, the template's overhead,
// how many tokens an answer takes, and whether the model can do the task at all.
#include <algorithm>
#include <cctype>
#include <cmath>

#include "gyre/accept/level1/steps.h"
#include "gyre/accept/scoring.h"
#include "gyre/base/error.h"

namespace gyre::accept {

namespace {

constexpr int64_t kShortest = 128;  // tokens: room for the question and four codes
constexpr int64_t kBudgets[] = {256, 1024, 4096, 16384};  // max_tokens: usual, wordy, thinking

/// One span over and over, its numbers aside ("The code 12: 12-S9E. The code 13: 13-S9E. ...").
bool counts_on(const Seen& seen) {
  std::string text;
  for (const char c : seen.text) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit || text.empty() || text.back() != '0') {
      text += digit ? '0' : c;
    }
  }
  return seen.right() == 0 && repetition(text) > 0.5;
}

/// Wants more room: cut off, or all of the room went into thoughts. What repeats itself has no end,
/// whatever the room.
bool starved(const Seen& seen) {
  return seen.outcome == Outcome::Empty ||
         (seen.reply().answered() && seen.cut() && !seen.degenerate && !counts_on(seen));
}

bool reads(const Seen& seen) {
  return !seen.reply().answered() || (seen.wrong() <= 1 && seen.right() > 1);
}

bool patience_is_over(const Seen& seen) {
  switch (seen.reply().fault) {
    case Fault::FirstByte:
    case Fault::Idle:
    case Fault::Deadline:
    case Fault::TooMuch:
      return true;
    default:
      return false;
  }
}

/// All that came was thoughts, or nothing.
bool thinks(const Seen& seen) {
  return seen.outcome == Outcome::Empty || seen.thinks_in_content || seen.only_reasoning;
}

/// Asks with growing budgets until the answer ends by itself. Words that are no thoughts get one
/// larger budget: thoughts need not look like any, but most such answers just do not end.
Seen ask_within_budget(Prober& prober, int64_t prompt_tokens, bool may_raise) {
  Seen seen;
  for (const int64_t budget : kBudgets) {
    if (budget < prober.answer_tokens) {
      continue;
    }
    prober.answer_tokens = budget;
    RollCall dials;
    dials.salt = prober.fresh_salt();
    // The length counts the answer; a thinking model's budget does not make the prompt longer.
    seen = prober.ask(prober.roll_call_of_prompt(dials, prompt_tokens));
    const bool once = budget > kBudgets[0] && !thinks(seen);
    if (!starved(seen) || prober.options().max_tokens > 0 || !may_raise || once) {
      break;
    }
  }
  return seen;
}

void measure_answer(Prober& prober, const std::vector<Seen>& pair) {
  if (prober.answer_tokens > kBudgets[0]) {
    prober.bench.result.answer_tokens = prober.answer_tokens;
    const Seen& first = prober.all.front();
    if (pair.front().reply().answered() && pair.front().outcome != Outcome::Empty) {
      prober.bench.find(
          "BUDGET_CUT",
          str("an answer of ", first.stripes.size(), " codes ended empty or cut at ",
              first.sample.item.ask.max_tokens, " tokens; ", prober.answer_tokens, " were enough"),
          sids(prober.all), {{"max_tokens", str(prober.answer_tokens)}, {"verdict", "cut"}});
    }
    return;
  }
  for (const Seen& seen : pair) {
    if (seen.outcome == Outcome::Kept || seen.outcome == Outcome::Lost) {
      const auto counted = seen.reply().completion_tokens.value_or(0);
      const double tokens = std::max(double(counted), 0.6 * double(seen.reply().text.size()));
      prober.answer_per_code =
          std::max(prober.answer_per_code,
                   (counted > 0 ? double(counted) : tokens) / double(seen.stripes.size()));
    }
  }
  prober.bench.result.answer_tokens = prober.max_tokens(16);
}

void fit(Prober& prober, const Seen& small, const Seen& large) {
  const auto bytes = [](const Seen& seen) { return prompt_bytes(seen.sample.item.ask); };
  Calibration fitted;
  if (small.reported && large.reported) {
    fitted = fit_calibration(bytes(small), *small.reported, bytes(large), *large.reported);
  } else if (small.reported && *small.reported > 0) {
    fitted.tokens_per_byte = double(*small.reported) / double(bytes(small));
    fitted.source = "usage";
  }
  fitted.evidence = sids({small, large});
  prober.calibration = fitted;
}

/// A service of completions alone: the prober goes over to them.
bool seldom_served(Prober& prober, const Seen& chat) {
  if (chat.reply().fault != Fault::Client || !prober.other) {
    return false;
  }
  if (!answers(prober, *prober.other)) {
    return false;
  }
  prober.leave(prober.main, chat.reply().fault_text);
  return true;
}

}  // namespace

bool calibrate(Prober& prober) {
  const auto& options = prober.options();
  const int64_t first = *std::min_element(options.lengths.begin(), options.lengths.end());
  const int64_t base = std::min(options.original_length, first);
  const int64_t small_tokens = std::max(base / 2, kShortest);
  const int64_t large_tokens =
      std::max(small_tokens + 64, std::min(3 * options.original_length, first) - 128);
  Seen small = ask_within_budget(prober, small_tokens, true);
  if (seldom_served(prober, small)) {
    small = ask_within_budget(prober, small_tokens, true);
  }
  if (small.outcome == Outcome::Failed && !patience_is_over(small)) {
    small = ask_within_budget(prober, small_tokens, true);
  }
  if (!small.reply().answered()) {
    return false;
  }
  const bool raised = prober.answer_tokens > kBudgets[0] && options.max_tokens == 0;
  const bool in_vain = raised && !reads(small) && !thinks(small);
  if (in_vain) {
    prober.answer_tokens = kBudgets[0];  // more room did not help: the small one costs least
  }
  // Who cannot do the small one is not able, however long the answer to the large one may be.
  const bool may_raise = reads(small) || thinks(small);
  Seen large = ask_within_budget(prober, large_tokens, may_raise);
  if (large.outcome == Outcome::Failed && !patience_is_over(large)) {
    large = ask_within_budget(prober, large_tokens, may_raise);
  }
  fit(prober, small, large);
  prober.able = reads(small) && reads(large);
  if (!prober.able && !thinks(small) && !thinks(large) && options.max_tokens == 0) {
    prober.answer_tokens = kBudgets[0];
  }
  measure_answer(prober, {small, large});
  prober.unnumbered = small.unnumbered || large.unnumbered;
  prober.bench.result.calibration = prober.calibration;
  return true;
}

bool answers(Prober& prober, Api api) {
  RollCall dials;
  dials.salt = prober.fresh_salt();
  const AcceptOptions& options = prober.options();
  const int64_t length = std::min<int64_t>(options.original_length, options.lengths.front());
  return prober.ask(dials, std::max(length, 2 * kShortest), api).reply().answered();
}

}  // namespace gyre::accept
