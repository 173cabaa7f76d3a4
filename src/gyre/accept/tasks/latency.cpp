// The request of the latency pass: a text that no cache has seen, an answer of many short tokens.
#include "gyre/accept/tasks/task.h"
#include "gyre/accept/text/filler.h"
#include "gyre/base/error.h"

namespace gyre::accept {

Item make_latency(int64_t repeat, const Frame& frame) {
  const std::string stream = str("latency/", frame.length, "/", repeat);
  Rng rng(frame.seed, stream);
  const std::string code = make_code(rng);
  const std::string question = str("Count from 1 to ", frame.max_tokens,
                                   ", one number on each line, then repeat the code of "
                                   "checkpoint 1.");
  const std::string salt = salt_line(frame.seed, stream);
  const int64_t around = static_cast<int64_t>(salt.size() + question.size()) + 4;
  const Haystack hay = make_haystack(derive_seed(frame.seed, stream), frame.haystack_bytes(around),
                                     {{0.5, str("Checkpoint 1: ", code, ".")}});
  Item item;
  item.task = "latency";
  item.arm = name_of(Arm::Main);
  item.length = frame.length;
  item.index = repeat;
  item.form = AnswerForm::Probe;
  item.ask.api = frame.api;
  item.ask.messages = {{"user", salt + "\n" + hay.text + "\n\n" + question}};
  item.ask.max_tokens = frame.max_tokens;
  item.ask.cold = true;
  item.tokens_predicted = frame.length - frame.max_tokens;
  return item;
}

}  // namespace gyre::accept
