// LongRoPE: a searched divisor for every pair, one list up to the original length and another
// beyond it. All keys of a sequence use one list (docs/schemes.md).
#include <cmath>

#include "gyre/base/error.h"
#include "gyre/position/schemes/run_frequencies.h"

namespace gyre::position {
namespace {

enum class Choice { Length, Short, Long };

}  // namespace
}  // namespace gyre::position

template <>
struct gyre::EnumNames<gyre::position::Choice> {
  static constexpr std::pair<gyre::position::Choice, const char*> list[] = {
      {gyre::position::Choice::Length, "length"},
      {gyre::position::Choice::Short, "short"},
      {gyre::position::Choice::Long, "long"}};
};

namespace gyre::position {
namespace {

struct Options : ExtendedOptions {
  std::vector<std::string> shorts, longs;  // numbers above 0, one per pair
  int64_t original = 0;                    // tokens; 0 = the training length
  int64_t max = 0;                         // tokens; 0 = 4 x original
  double factor = 0.0;                     // 0 = max / original
  double attention_factor = 0.0;           // of both lists; 0 = computed
  double long_attention_factor = 0.0;      // where the long list holds; 0 = that of both
  Choice choice = Choice::Length;

  template <class V>
  void fields(V& v) {
    ExtendedOptions::fields(v);
    v("short", shorts, "divisor of each pair up to the original length; [] = 1 for all");
    v("long", longs, "divisor of each pair beyond it; [] = factor for all");
    v("original", original, "tokens of the original context; 0 = the training length");
    v("max", max, "tokens of the extended context; 0 = 4 x original");
    v("factor", factor, "extension factor of the amplitude; 0 = max/original");
    v("attention_factor", attention_factor, "amplitude of rotated q and k; wins; 0 = computed");
    v("long_attention_factor", long_attention_factor,
      "amplitude where the long list holds; 0 = attention_factor");
    v("choice", choice, "list: by the sequence's length, or declared static: short, long");
  }
};

std::vector<double> divisors(const char* name, const std::vector<std::string>& list,
                             int64_t n_pairs, double otherwise) {
  if (list.empty()) {
    return std::vector<double>(static_cast<size_t>(n_pairs), otherwise);
  }
  if (static_cast<int64_t>(list.size()) != n_pairs) {
    throw Error(Code::Usage, "longrope: '", name, "' has ", list.size(), " divisors, there are ",
                n_pairs, " pairs");
  }
  std::vector<double> out;
  for (const std::string& text : list) {
    double value = 0.0;
    detail::parse(text, value);
    if (!(value > 0.0) || !std::isfinite(value)) {
      throw Error(Code::Usage, "longrope: '", name, "' must hold numbers above 0, got ", text);
    }
    out.push_back(value);
  }
  return out;
}

bool use_long(const Options& options, int64_t original, const PlanRequest& request) {
  return options.choice == Choice::Length ? longrope_uses_long(sequence_length(request), original)
                                          : options.choice == Choice::Long;
}

double amplitude_of(const Options& options, bool late, double factor, int64_t original) {
  if (late && options.long_attention_factor > 0.0) {
    return options.long_attention_factor;
  }
  return options.attention_factor > 0.0
             ? options.attention_factor
             : longrope_attention_factor(factor, static_cast<double>(original));
}

// The second amplitude in words, when there are two.
std::string amplitude_rule(const Options& options, double factor, int64_t original) {
  const double early = amplitude_of(options, false, factor, original);
  const double late = amplitude_of(options, true, factor, original);
  return early == late
             ? ""
             : str(" and amplitude ", detail::format(late), " in place of ", detail::format(early));
}

PositionPlan plan(const Options& options, const PlanRequest& request) {
  const int64_t original = original_length("longrope", options.original, request);
  const double factor = options.factor > 0.0 ? options.factor
                        : options.max > 0
                            ? static_cast<double>(options.max) / static_cast<double>(original)
                            : 4.0;
  check_factor("longrope", factor);
  PositionPlan plan = unextended_plan("longrope", options, request);
  const auto shorts = divisors("short", options.shorts, plan.n_pairs(), 1.0);
  const auto longs = divisors("long", options.longs, plan.n_pairs(), factor);
  const bool late = use_long(options, original, request);
  const auto& list = late ? longs : shorts;
  change_bands(plan, [&](const Bands& bands) { return longrope_bands(bands, list); });
  const double amplitude = amplitude_of(options, late, factor, original);
  for (LayerPlan& layer : plan.layers) {
    layer.amplitude = amplitude;
  }
  if (options.choice == Choice::Length) {
    plan.holds_to = late ? 0 : original;
    plan.length_rule = str("a sequence of more than ", original, " tokens: every query and key is ",
                           "rotated with the long list", amplitude_rule(options, factor, original),
                           "; shorter ones: with the short list");
  }
  return plan;
}

}  // namespace

SchemeInfo longrope_scheme() {
  return {
      "longrope", "LongRoPE: a divisor per pair, one list for short and one for long sequences",
      "theta_m = base^(-2m/R) / short_m up to the original length, / long_m for a longer sequence; "
      "amplitude sqrt(1 + ln(max/original)/ln(original)) at every length (Ding et al. 2024, "
      "arXiv:2402.13753)",
      []() -> std::unique_ptr<Scheme> { return std::make_unique<SchemeOf<Options, plan>>(); }};
}

}  // namespace gyre::position
