// An answer that crosses the window: counting, then a code of the prompt's beginning. An honest
// server stops at the window; one that shifts goes on and has forgotten the code. Of a model that
// is too weak to give codes back the counts alone tell it, where the server itself states the
// window.
#include <algorithm>
#include <cstdlib>

#include "gyre/accept/level1/steps.h"
#include "gyre/accept/scoring.h"
#include "gyre/accept/text/filler.h"
#include "gyre/base/error.h"

namespace gyre::accept {

namespace {

constexpr int64_t kNearWindow = 4096;  // tokens; a farther one would need too long an answer
constexpr int64_t kPerNumber = 2;      // tokens of "123\n", at least

std::optional<int64_t> window_near(const Prober& prober, const Ladder& ladder) {
  std::optional<int64_t> window = ladder.told;
  for (const Claim& claim : prober.bench.result.facts.claims) {
    window = std::min(window.value_or(claim.tokens), claim.tokens);
  }
  const bool near = window && *window >= 512 && *window <= kNearWindow;
  return near ? window : std::nullopt;
}

Item counting(Prober& prober, int64_t prompt_tokens, int64_t numbers) {
  RollCall dials;
  dials.salt = prober.fresh_salt();
  Item item = prober.roll_call_of_prompt(dials, prompt_tokens);
  const std::string question =
      str("Count from 1 to ", numbers,
          ", one number on each line, then repeat the code of checkpoint 1.");
  std::string& text = item.ask.messages.front().content;
  const size_t tail = text.rfind("\nList the codes");
  if (tail != std::string::npos) {
    text.erase(tail);
  }
  const size_t begin = text.find('\n');
  const size_t end = begin == std::string::npos ? begin : text.find('\n', begin + 1);
  if (end != std::string::npos) {
    text.replace(begin, end - begin, "\n" + question);
  }
  text += "\n" + question;
  item.task = "count";
  item.form = AnswerForm::Codes;
  item.gold.resize(1);
  item.dials["numbers"] = str(numbers);
  item.ask.max_tokens = 4 * numbers + 64;
  return item;
}

bool runs_away(const Seen& seen) {
  const Reply& reply = seen.reply();
  const bool stopped = reply.fault == Fault::TooMuch || reply.fault == Fault::Deadline;
  const bool longer = reply.completion_tokens.value_or(0) > seen.sample.item.ask.max_tokens + 16;
  return (stopped || longer) && (reply.text.empty() || repetition(reply.text) > 0.3);
}

/// Is the window one of prompt and answer together? Its error message and what the server says of
/// its context agree; a limit of prompts alone would be no window.
bool holds_answers_too(const Prober& prober, const Ladder& ladder, int64_t window) {
  constexpr int64_t kAgree = 16;
  const auto& claims = prober.bench.result.facts.claims;
  return ladder.told && std::abs(*ladder.told - window) <= kAgree &&
         std::any_of(claims.begin(), claims.end(), [&](const Claim& claim) {
           return claim.source != "--context" && std::abs(claim.tokens - window) <= kAgree;
         });
}

bool says_code(const Seen& seen) {
  const auto codes = codes_in(seen.reply().text);
  return std::find(codes.begin(), codes.end(), seen.sample.item.gold.front()) != codes.end();
}

}  // namespace

void test_shift(Prober& prober, const Ladder& ladder) {
  const auto window = window_near(prober, ladder);
  if (!window || prober.options().max_tokens > 0) {
    return;
  }
  const bool can_tell = prober.able ? ladder.longest_kept(prober.main) != nullptr
                                    : holds_answers_too(prober, ladder, *window);
  if (!can_tell) {
    return;
  }
  const int64_t prompt = *window * 3 / 4;
  const int64_t numbers = (*window - prompt + 160) / kPerNumber;
  const Seen seen = prober.ask(counting(prober, prompt, numbers));
  const Reply& reply = seen.reply();
  if (runs_away(seen)) {
    prober.bench.find(
        "CONTEXT_SHIFT",
        str("an answer that crosses the window of ", *window, " tokens repeats itself ",
            "and goes on past max_tokens ", seen.sample.item.ask.max_tokens),
        sids({seen}), {{"window", str(*window)}});
    return;
  }
  const int64_t total = seen.tokens() + reply.completion_tokens.value_or(0);
  if (!reply.answered() || total <= *window + 16 || says_code(seen)) {
    return;
  }
  if (!prober.able) {
    if (seen.reported) {
      prober.bench.find("CONTEXT_SHIFT",
                        str("prompt and answer have ", total, " tokens in a window of ", *window,
                            ": the answer went on where the window ends, so the prompt's "
                            "beginning was given up"),
                        sids({seen}), {{"window", str(*window)}, {"total", str(total)}});
    }
    return;
  }
  // Is it the window, or can the model not do it?
  const Seen control = prober.ask(counting(prober, prompt, 20));
  if (!says_code(control)) {
    return;
  }
  prober.bench.find("CONTEXT_SHIFT",
                    str("prompt and answer have ", total, " tokens in a window of ", *window,
                        ": the answer went on and lost the code of the prompt's beginning"),
                    sids({seen, control}), {{"window", str(*window)}, {"total", str(total)}});
}

}  // namespace gyre::accept
