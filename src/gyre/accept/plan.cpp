// The plan mirrors what the levels ask: level1/ at most 12 requests at its first length and 3 more
// at each further one, quality/ cells x buckets x looks and their controls.
#include "gyre/accept/plan.h"

#include <algorithm>
#include <set>

#include "gyre/accept/quality/grid.h"
#include "gyre/accept/result_words.h"
#include "gyre/accept/text_nll.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

constexpr int64_t kFirstLength = 12, kFurtherLength = 3;  // requests of level 1 on a clean server
constexpr int64_t kBaselineItems = 10;                    // per bucket, quality/cells.cpp
constexpr int64_t kRollCallAnswer = 200;                  // tokens: 16 lines "7: KX7-3QD"
constexpr int64_t kCodeAnswer = 16;
constexpr int64_t kCurveRepeats = 3, kCurveAnswer = 64;

/// Adds up rows of the plan; `least` leaves out what a decision at the first look saves.
class Adder {
 public:
  Adder(const AcceptOptions& options, const Speed& speed, const LocalShape* shape)
      : options_(options), speed_(speed), shape_(shape) {}

  /// `least`: requests if every decision falls at the first look.
  void add(const std::string& what, int64_t requests, int64_t least, int64_t prompt, int64_t answer,
           int64_t at_once = 1) {
    plan_.rows.push_back(row(what, requests, prompt, answer, at_once));
    sum(plan_.most, plan_.rows.back());
    sum(plan_.least, row(what, least, prompt, answer, at_once));
    if (shape_ != nullptr) {
      const double one = flops(*shape_, prompt + answer);
      plan_.most_flops = std::max(plan_.most_flops, 0.0) + static_cast<double>(requests) * one;
      plan_.least_flops = std::max(plan_.least_flops, 0.0) + static_cast<double>(least) * one;
      plan_.kv_bytes = std::max(plan_.kv_bytes, kv_bytes(*shape_, prompt + answer));
    }
  }

  Plan take() {
    plan_.least.what = "least: every decision at the first look";
    plan_.most.what = "most: all looks";
    plan_.ask_above = options_.ask_above;
    return std::move(plan_);
  }

 private:
  const AcceptOptions& options_;
  const Speed& speed_;
  const LocalShape* shape_;
  Plan plan_;

  PlanRow row(const std::string& what, int64_t requests, int64_t prompt, int64_t answer,
              int64_t at_once) const {
    PlanRow out{what, requests, requests * prompt, requests * answer};
    const auto n = static_cast<double>(prompt);
    if (speed_.known) {
      const double first = speed_.a + speed_.b * n + speed_.c * n * n;
      const double rest = speed_.answer_tokens_per_s > 0
                              ? static_cast<double>(answer) / speed_.answer_tokens_per_s
                              : 0.0;
      out.seconds = static_cast<double>(requests) * (first + rest) / static_cast<double>(at_once);
    }
    if (options_.price_in > 0 || options_.price_out > 0) {
      constexpr double kMillion = 1e6;
      out.money = (static_cast<double>(out.prompt_tokens) * options_.price_in +
                   static_cast<double>(out.answer_tokens) * options_.price_out) /
                  kMillion;
    }
    return out;
  }

  static void sum(PlanRow& total, const PlanRow& one) {
    total.requests += one.requests;
    total.prompt_tokens += one.prompt_tokens;
    total.answer_tokens += one.answer_tokens;
    const auto known = [](double& all, double value) {
      all = value < 0 ? all : std::max(all, 0.0) + value;
    };
    known(total.seconds, one.seconds);
    known(total.money, one.money);
  }
};

bool has_level(const AcceptOptions& options, int64_t level) {
  return std::find(options.levels.begin(), options.levels.end(), level) != options.levels.end();
}

void add_level_one(Adder& adder, const AcceptOptions& options) {
  bool first = true;
  for (const int64_t length : options.lengths) {
    const int64_t n = first ? kFirstLength : kFurtherLength;
    adder.add(str("level 1, ", grouped(length), " tokens"), n, n,
              std::max<int64_t>(length - kRollCallAnswer, length / 2), kRollCallAnswer);
    first = false;
  }
}

/// The cells that a length has room for, by a guess of 4 bytes a token.
std::vector<Spec> with_room(const std::vector<Spec>& specs, const AcceptOptions& options,
                            int64_t length, int64_t answer) {
  constexpr int64_t kRoomForAll = 16384;  // tokens; above it there is no use in making long texts
  Frame frame;
  frame.length = std::min(length, kRoomForAll);
  frame.max_tokens = answer;
  frame.seed = static_cast<uint64_t>(options.seed);
  std::vector<Spec> out;
  for (const Spec& spec : specs) {
    try {
      (void)spec.make({}, Arm::Main, frame);
      out.push_back(spec);
    } catch (const Error&) {  // it says how much room is missing: nothing is asked there
    }
  }
  return out;
}

/// Requests of all controls of one length when its cells were asked `asked` items a bucket.
int64_t control_requests(const AcceptOptions& options, const std::vector<Spec>& specs,
                         int64_t asked) {
  const int64_t items = control_items(options), half = (items + 1) / 2;
  int64_t n = 0;
  for (const Spec& spec : specs) {
    const auto dial = [&](const char* name) {
      const auto found = spec.dials.find(name);
      return found == spec.dials.end() ? std::string() : found->second;
    };
    if (spec.task == "needle" && dial("k") == "7" && dial("s") == "2" && spec.dials.size() == 2) {
      n += 3 * kBuckets * items;  // no evidence, swapped code, other filler
    } else if (spec.task == "plain" && dial("k") == "7") {
      n += 2 * kBuckets * half;
    } else if (spec.task == "join" || spec.task == "chain") {
      n += 2 * kBuckets * half;
    }
    for (int64_t i = 0; spec.steps && i < std::min(3 * items, asked); ++i) {
      n += spec.steps(i);  // each step alone
    }
  }
  return n;
}

void add_quality(Adder& adder, const AcceptOptions& options, int64_t level) {
  const std::vector<Spec> specs =
      level == 2 ? retrieval_specs(options) : composition_specs(options);
  const auto cells = static_cast<int64_t>(specs.size());
  const int64_t answer =
      options.max_tokens > 0 ? std::min(options.max_tokens, kCodeAnswer) : kCodeAnswer;
  const std::string name = str("level ", level, " ", level_title(level), ", ");
  const int64_t baseline =
      cells * kBuckets * std::min(kBaselineItems, options.looks.front()) +
      (level == 2 ? kBuckets * std::max<int64_t>(1, control_items(options) / 4) : 0);
  adder.add(str(name, "baseline at ", grouped(options.original_length), " tokens"), baseline,
            baseline, options.original_length, answer, options.concurrency);
  for (const int64_t length : options.lengths) {
    const int64_t prompt = std::max<int64_t>(length - answer, length / 2);
    const std::vector<Spec> fitting = with_room(specs, options, length, answer);
    const auto n_fitting = static_cast<int64_t>(fitting.size());
    int64_t before = 0;
    for (size_t i = 0; i < options.looks.size(); ++i) {
      const int64_t requests = n_fitting * kBuckets * (options.looks[i] - before);
      adder.add(str(name, grouped(length), " tokens, look ", i + 1, " of ", options.looks.size()),
                requests, i == 0 ? requests : 0, prompt, answer, options.concurrency);
      before = options.looks[i];
    }
    adder.add(str(name, grouped(length), " tokens, controls"),
              control_requests(options, fitting, options.looks.back()),
              control_requests(options, fitting, options.looks.front()), prompt, answer,
              options.concurrency);
  }
}

/// Each place is asked with its evidence and with the evidence of its twin.
void add_ranking(Adder& adder, const AcceptOptions& options) {
  constexpr int64_t kAnswer = 2, kTwins = 2, kGuesses = 16, kCopies = 18;  // ranking/ranking.cpp
  const int64_t first = kTwins * kBuckets * options.looks.front();
  const int64_t original = first + kGuesses + kCopies;
  adder.add(str("ranking, ", grouped(options.original_length), " tokens"), original, original,
            options.original_length, kAnswer, options.concurrency);
  for (const int64_t length : options.lengths) {
    adder.add(str("ranking, ", grouped(length), " tokens"),
              kTwins * kBuckets * options.looks.back() + kCopies, first + kCopies, length - kAnswer,
              kAnswer, options.concurrency);
  }
}

void add_texts(Adder& adder, const AcceptOptions& options) {
  adder.add(str("plain texts, ", grouped(options.original_length), " tokens"), kTexts, kTexts,
            options.original_length, 1);
}

void add_curves(Adder& adder, const AcceptOptions& options) {
  std::set<int64_t> lengths(options.lengths.begin(), options.lengths.end());
  lengths.insert(options.original_length);
  for (const int64_t length : lengths) {
    adder.add(str("time and memory, ", grouped(length), " tokens"), kCurveRepeats, kCurveRepeats,
              std::max<int64_t>(length - kCurveAnswer, length / 2), kCurveAnswer);
  }
}

}  // namespace

double kv_bytes(const LocalShape& shape, int64_t tokens) {
  double all = 0.0;
  for (const LocalShape::Layer& layer : shape.layers) {
    const int64_t kept = layer.window > 0 ? std::min(layer.window, tokens) : tokens;
    all += 2.0 * static_cast<double>(layer.kv_heads * layer.head_dim * shape.value_bytes) *
           static_cast<double>(kept);
  }
  return all;
}

double flops(const LocalShape& shape, int64_t tokens) {
  const auto n = static_cast<double>(tokens);
  double all = 2.0 * static_cast<double>(shape.parameters) * n;
  for (const LocalShape::Layer& layer : shape.layers) {
    const auto w = static_cast<double>(layer.window > 0 ? std::min(layer.window, tokens) : tokens);
    const double pairs = w * (w + 1.0) / 2.0 + (n - w) * w;
    all += 4.0 * static_cast<double>(layer.heads * layer.head_dim) * pairs;
  }
  return all;
}

Plan plan(const AcceptOptions& options, const Speed& speed, const LocalShape* shape) {
  Adder adder(options, speed, shape);
  if (has_level(options, 1)) {
    add_level_one(adder, options);
  }
  if (shape != nullptr && (has_level(options, 2) || has_level(options, 3))) {
    add_texts(adder, options);
  }
  const bool ranked = options.ranking == "on";
  for (const int64_t level : {2, 3}) {
    if (has_level(options, level) && !ranked) {
      add_quality(adder, options, level);
    }
  }
  if (has_level(options, 2) && ranked) {
    add_ranking(adder, options);
  }
  if (options.curves) {
    add_curves(adder, options);
  }
  return adder.take();
}

}  // namespace gyre::accept
