#include "gyre/accept/text_nll.h"

#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <span>

#include "gyre/accept/text/filler.h"
#include "gyre/base/error.h"
#include "gyre/study/statistics.h"

namespace gyre::accept {
namespace {

constexpr const char* kTask = "text";
constexpr int64_t kBytesPerToken = 4;  // of filler, at most
constexpr int64_t kRepeats = 2000;     // of a bootstrap
constexpr uint64_t kSeed = 1;

std::string text_of(int64_t index, const AcceptOptions& options, int64_t bytes) {
  return filler(static_cast<uint64_t>(options.seed), str("text/", index), bytes);
}

/// Bytes that keep within the original length: of a subword tokenizer kBytesPerToken a token, else
/// as many as the first text tells.
int64_t bytes_of(Subject& subject, const AcceptOptions& options) {
  const int64_t length = options.original_length, bytes = kBytesPerToken * length;
  const int64_t tokens = subject.count_tokens(text_of(0, options, bytes)).value_or(length);
  return tokens <= length ? bytes : bytes * length / tokens;
}

Item text_item(int64_t index, const AcceptOptions& options, int64_t bytes) {
  Item item;
  item.level = 1;
  item.task = kTask;
  item.arm = "short";
  item.length = options.original_length;
  item.index = index;
  item.form = AnswerForm::Probe;
  item.ask.api = Api::Completions;
  item.ask.echo = true;
  item.ask.max_tokens = 1;
  item.ask.messages = {{"user", text_of(index, options, bytes)}};
  item.tokens_predicted = options.original_length;
  return item;
}

/// Nats per token of one text; nothing when they were not told.
std::optional<double> nll_of(const Reply& reply) {
  double sum = 0.0;
  int64_t n = 0;
  for (const std::optional<double>& logprob : reply.prompt_logprobs) {
    if (logprob) {
      sum -= *logprob;
      ++n;
    }
  }
  return n > 0 ? std::optional<double>(sum / static_cast<double>(n)) : std::nullopt;
}

/// Mean of one value a text, with a bootstrap over the texts.
Measure measure_of(const std::vector<double>& values) {
  Measure out;
  out.level = 1;
  out.task = kTask;
  out.n = static_cast<int64_t>(values.size());
  out.value = study::mean(values);
  if (out.n < 2) {
    return out;
  }
  const auto interval = study::bootstrap(
      out.n,
      [&](std::span<const int64_t> drawn) {
        double sum = 0.0;
        for (const int64_t i : drawn) {
          sum += values[static_cast<size_t>(i)];
        }
        return sum / static_cast<double>(drawn.size());
      },
      kRepeats, kSeed);
  out.lo = interval.lo;
  out.hi = interval.hi;
  return out;
}

/// By hash of the text: the same bytes, read as how many tokens, at how many nats.
struct Read {
  size_t tokens = 0;
  double nll = 0.0;
};
std::map<std::string, Read> reads_of(const std::vector<Sample>& samples) {
  std::map<std::string, Read> out;
  for (const Sample& sample : samples) {
    if (const auto nll = sample.item.task == kTask ? nll_of(sample.reply) : std::nullopt) {
      out[sample.prompt_sha] = {sample.reply.prompt_logprobs.size(), *nll};
    }
  }
  return out;
}

}  // namespace

void run_text_nll(Bench& bench) {
  if (!bench.result.facts.echoes) {
    return;
  }
  const int64_t bytes = bytes_of(bench.session.subject(), bench.options);
  std::vector<Item> items;
  for (int64_t i = 0; i < kTexts; ++i) {
    items.push_back(text_item(i, bench.options, bytes));
  }
  std::vector<double> values;
  for (const Sample& sample : bench.session.ask_all(std::move(items))) {
    if (const auto nll = nll_of(sample.reply)) {
      values.push_back(*nll);
    }
  }
  if (values.empty()) {
    return;
  }
  Measure m = measure_of(values);
  m.id = "text_nll";
  m.title = "nats per token of filler text";
  m.length = bench.options.original_length;
  m.says = "to be compared with --before; by itself it says little";
  bench.result.measures.push_back(std::move(m));
}

std::optional<Measure> text_nll_delta(const std::vector<Sample>& before,
                                      const std::vector<Sample>& after) {
  const auto was = reads_of(before), is = reads_of(after);
  std::vector<double> differences;
  int64_t length = 0;
  for (const auto& [text, now] : is) {
    const auto at = was.find(text);
    if (at != was.end() && at->second.tokens == now.tokens) {
      differences.push_back(now.nll - at->second.nll);
      length = static_cast<int64_t>(now.tokens);
    }
  }
  if (differences.empty()) {
    return std::nullopt;
  }
  Measure out = measure_of(differences);
  out.id = "nll_delta";
  out.title = "nats per token, after minus before, same texts";
  out.length = length;
  char numbers[96];
  std::snprintf(numbers, sizeof numbers, "%+.4f nats (%+.4f to %+.4f): ", out.value, out.lo,
                out.hi);
  out.says = str(numbers, out.lo > 0.0   ? "the change made the model worse at this length"
                          : out.hi < 0.0 ? "the change made the model better at this length"
                                         : "no difference is seen");
  return out;
}

}  // namespace gyre::accept
