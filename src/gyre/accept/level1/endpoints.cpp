// Tokens before the text, by endpoint: what usage counts beyond the server's own count of the
// rendered text. One more in the chat than in completions is a second BOS.
#include "gyre/accept/level1/steps.h"
#include "gyre/base/error.h"

namespace gyre::accept {

namespace {

const Seen* counted(const Prober& prober, Api api) {
  for (const Seen& seen : prober.all) {
    if (seen.sample.item.ask.api == api && seen.reply().answered() && seen.reported &&
        !seen.counted_otherwise()) {
      return &seen;
    }
  }
  return nullptr;
}

}  // namespace

void test_endpoints(Prober& prober) {
  const Seen* chat = counted(prober, Api::Chat);
  const Seen* completions = counted(prober, Api::Completions);
  Subject& subject = prober.bench.session.subject();
  if (chat == nullptr || completions == nullptr || !prober.bench.result.facts.counts_tokens) {
    return;
  }
  const auto rendered = subject.render(chat->sample.item.ask.messages);
  if (!rendered) {
    return;
  }
  const auto in_chat = subject.count_tokens(*rendered);
  const auto in_completions =
      subject.count_tokens(completions->sample.item.ask.messages.front().content);
  if (!in_chat || !in_completions) {
    return;
  }
  const int64_t before_chat = *chat->reported - *in_chat;
  const int64_t before_text = *completions->reported - *in_completions;
  if (before_chat != before_text + 1) {
    return;
  }
  prober.bench.find(
      "TEMPLATE_DOUBLE_BOS",
      str("the rendered chat has ", *in_chat, " tokens and is counted ", *chat->reported,
          "; a completion of ", *in_completions, " tokens is counted ", *completions->reported),
      sids({*chat, *completions}));
}

}  // namespace gyre::accept
