// Time to the first token, decode rate and memory by length: a pass of its own, one request in
// flight, each with its own salt. What a server answered out of a cache is told, not timed.
#include <algorithm>
#include <set>

#include "gyre/accept/acceptance.h"
#include "gyre/accept/tasks/task.h"
#include "gyre/study/statistics.h"

namespace gyre::accept {
namespace {

constexpr int64_t kRepeats = 3;
constexpr int64_t kAnswerTokens = 64;
constexpr double kCachedShare = 0.1;  // of a prompt; above it a time says nothing about its length

bool failed_level_one(const LevelOne& one, int64_t length) {
  return std::any_of(one.rungs.begin(), one.rungs.end(), [&](const Rung& rung) {
    return rung.length == length && rung.status == Status::Fail;
  });
}

bool from_cache(const Reply& reply) {
  return reply.cached_tokens && reply.prompt_tokens &&
         static_cast<double>(*reply.cached_tokens) >
             kCachedShare * static_cast<double>(*reply.prompt_tokens);
}

/// Tokens a second after the first; unknown when they came together.
double decode_rate(const Reply& reply) {
  const int64_t tokens = reply.completion_tokens.value_or(reply.chunks);
  const double ms = reply.total_ms - reply.first_token_ms;
  constexpr int64_t kFew = 4;
  return reply.burst || tokens < kFew || reply.chunks < 2 || ms <= 0.0
             ? kUnknown
             : 1e3 * static_cast<double>(tokens - 1) / ms;
}

CurvePoint point_of(int64_t length, const std::vector<Sample>& samples) {
  CurvePoint point;
  point.length = length;
  std::vector<double> first, rates;
  for (const Sample& sample : samples) {
    const Reply& reply = sample.reply;
    if (!reply.answered()) {
      continue;
    }
    point.cached = std::max(point.cached.value_or(0), reply.cached_tokens.value_or(0));
    if (reply.memory_mib) {
      point.memory_mib = std::max(point.memory_mib > 0 ? point.memory_mib : 0.0, *reply.memory_mib);
    }
    if (!from_cache(reply)) {
      first.push_back(reply.first_token_ms);
    }
    if (const double rate = decode_rate(reply); rate > 0.0) {
      rates.push_back(rate);
    }
  }
  if (!first.empty()) {
    point.first_token_ms = *std::min_element(first.begin(), first.end());
    point.first_token_median_ms = study::median(first);
  }
  if (!rates.empty()) {
    point.decode_per_s = study::median(rates);
  }
  return point;
}

}  // namespace

void run_curves(Bench& bench) {
  std::set<int64_t> lengths(bench.options.lengths.begin(), bench.options.lengths.end());
  lengths.insert(bench.options.original_length);
  Frame frame;
  frame.api =
      bench.serves(Api::Chat) && bench.options.api != "completions" ? Api::Chat : Api::Completions;
  frame.calibration = bench.result.calibration;
  frame.seed = static_cast<uint64_t>(bench.options.seed);
  frame.max_tokens = kAnswerTokens;
  for (const int64_t length : lengths) {
    if (length < 4 * kAnswerTokens || failed_level_one(bench.result.one, length)) {
      continue;
    }
    frame.length = length;
    std::vector<Sample> samples;
    for (int64_t repeat = 0; repeat < kRepeats; ++repeat) {
      samples.push_back(bench.session.ask(make_latency(repeat, frame)));
    }
    bench.result.curves.push_back(point_of(length, samples));
  }
}

}  // namespace gyre::accept
