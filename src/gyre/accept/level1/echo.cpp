// Echo with log-probabilities, before any ranking rests on it: there must be a value for each token
// of the prompt, and English must be likelier than the same words shuffled, wherever it stands.
#include <algorithm>
#include <numeric>

#include "gyre/accept/level1/steps.h"
#include "gyre/base/error.h"

namespace gyre::accept {

namespace {

constexpr const char* kSense =
    "The man sat on the mat and the dog was in the house. She said that it was a cold day. "
    "There is one tree in the garden, and the cat sat under it for an hour.";
constexpr const char* kShuffled =
    "on sat The the man and in mat dog the was the house. that was She said a it day cold. "
    "in tree one the is There garden, for and it under sat cat the hour an.";

Item echo_item(const char* first, const char* second, int64_t index) {
  Item item;
  item.level = 1;
  item.task = "echo";
  item.index = index;
  item.form = AnswerForm::Probe;
  item.ask.api = Api::Completions;
  item.ask.echo = true;
  item.ask.top_logprobs = 1;
  item.ask.max_tokens = 1;
  item.ask.messages = {{"user", str(first, " ", second)}};
  return item;
}

double mean(const std::vector<std::optional<double>>& values, size_t begin, size_t end) {
  double sum = 0;
  int64_t n = 0;
  for (size_t i = begin; i < end; ++i) {
    if (values[i]) {
      sum += *values[i];
      ++n;
    }
  }
  return n > 0 ? sum / double(n) : 0.0;
}

/// First half minus second half, nats a token.
double gain(const std::vector<std::optional<double>>& values) {
  const size_t half = values.size() / 2;
  return mean(values, 1, half) - mean(values, half + 1, values.size());
}

std::string complaint(const Seen& sense_first, const Seen& sense_last) {
  for (const Seen* seen : {&sense_first, &sense_last}) {
    const Reply& reply = seen->reply();
    if (!reply.answered()) {
      return str("it is refused: ", reply.fault_text);
    }
    const auto n = int64_t(reply.prompt_logprobs.size());
    if (n < 2) {
      return "it is ignored: no log-probabilities of the prompt came";
    }
    if (reply.prompt_tokens && n != *reply.prompt_tokens) {
      return str(n, " values came for ", *reply.prompt_tokens, " tokens of the prompt");
    }
  }
  const double first = gain(sense_first.reply().prompt_logprobs);
  const double last = gain(sense_last.reply().prompt_logprobs);
  if (first <= 0 || last >= 0) {
    return str("English is not likelier than its words shuffled (", first, " and ", -last,
               " nats a token)");
  }
  return "";
}

}  // namespace

void test_echo(Prober& prober) {
  const Seen sense_first = prober.ask(echo_item(kSense, kShuffled, 0));
  const Seen sense_last = prober.ask(echo_item(kShuffled, kSense, 1));
  const std::string why = complaint(sense_first, sense_last);
  if (!why.empty()) {
    prober.bench.find("ECHO_IGNORED", "echo with log-probabilities cannot be used: " + why,
                      sids({sense_first, sense_last}));
  }
}

}  // namespace gyre::accept
