#include "gyre/accept/ranking/copy.h"

#include "gyre/accept/text/filler.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

constexpr int64_t kCodes = 8;    // in the copied string
constexpr int64_t kSkipped = 4;  // tokens: a copy is known as one only after it began

std::string random_string(Rng& rng) {
  std::string out;
  for (int64_t i = 0; i < kCodes; ++i) {
    out += (i == 0 ? "" : " ") + make_code(rng);
  }
  return out;
}

/// Mean of -log p over tokens [begin, end).
std::optional<double> mean_nll(const Reply& reply, int64_t begin, int64_t end) {
  double sum = 0.0;
  int64_t n = 0;
  for (int64_t t = begin; t < end && t < static_cast<int64_t>(reply.prompt_logprobs.size()); ++t) {
    if (const auto& logprob = reply.prompt_logprobs[static_cast<size_t>(t)]) {
      sum -= *logprob;
      ++n;
    }
  }
  return n > 0 ? std::optional<double>(sum / static_cast<double>(n)) : std::nullopt;
}

}  // namespace

CopyItem make_copy(int64_t index, int64_t distance_bytes, const Frame& frame) {
  const std::string stream = str("copy/", index, "/", distance_bytes);
  Rng rng(frame.seed, stream);
  const std::string copied = random_string(rng);
  const std::string salt = salt_line(frame.seed, stream);
  const auto around = static_cast<int64_t>(salt.size() + 2 * copied.size()) + 4;
  const int64_t before = frame.haystack_bytes(around) - distance_bytes;
  std::string text = salt + "\n";
  if (before > 0) {
    text += filler(frame.seed, stream + "/before", before) + "\n";
  }
  CopyItem out;
  out.first_begin = static_cast<int64_t>(text.size());
  text += copied;
  out.first_end = static_cast<int64_t>(text.size());
  text += "\n" + filler(frame.seed, stream + "/between", distance_bytes) + "\n";
  out.second_begin = static_cast<int64_t>(text.size());
  text += copied;
  out.second_end = static_cast<int64_t>(text.size());
  Item& item = out.item;
  item.level = 2;
  item.task = "copy";
  item.arm = name_of(Arm::Main);
  item.length = frame.length;
  item.index = index;
  item.dials = {{"distance_bytes", str(distance_bytes)}};
  item.form = AnswerForm::Probe;
  item.ask.api = Api::Completions;
  item.ask.messages = {{"user", text}};
  item.ask.max_tokens = 1;
  item.ask.echo = true;
  item.tokens_predicted = frame.length - frame.max_tokens;
  return out;
}

std::optional<double> copy_gain(Subject& subject, const CopyItem& copy, const Reply& reply) {
  if (!reply.answered() || reply.prompt_logprobs.empty()) {
    return std::nullopt;
  }
  const std::string& text = copy.item.ask.messages[0].content;
  const auto tokens_before = [&](int64_t bytes) {
    return subject.count_tokens(text.substr(0, static_cast<size_t>(bytes)));
  };
  const auto whole = tokens_before(copy.second_end);
  const auto begin = tokens_before(copy.first_begin), end = tokens_before(copy.first_end);
  const auto again = tokens_before(copy.second_begin);
  if (!whole || !begin || !end || !again) {
    return std::nullopt;
  }
  // What stands before the text (a first token of the model's own) moves all of them.
  const int64_t shift = static_cast<int64_t>(reply.prompt_logprobs.size()) - *whole;
  const auto first = mean_nll(reply, *begin + shift + kSkipped, *end + shift);
  const auto second = mean_nll(reply, *again + shift + kSkipped, *whole + shift);
  return first && second ? std::optional<double>(*first - *second) : std::nullopt;
}

}  // namespace gyre::accept
