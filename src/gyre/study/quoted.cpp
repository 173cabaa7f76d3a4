// Published numbers beside ours, and where each idea comes from. Quoted numbers were copied from
// their source; none was measured here.
#include <algorithm>
#include <cmath>

#include "gyre/base/error.h"
#include "gyre/study/comparison.h"
#include "gyre/study/format.h"

namespace gyre::study {
namespace {

constexpr const char* kLearned = "Karypis et al. 2026, arXiv:2607.10134";
constexpr const char* kLearnedLicence = "CC BY 4.0";
constexpr const char* kRound = "Barbero et al. 2025, arXiv:2410.06205";
constexpr const char* kRoundLicence = "single numbers, quoted as facts";

/// The first arm that learns its frequencies, or nothing.
const ArmSummary* learned_arm(const Comparison& c) {
  const auto found = std::find_if(c.arms.begin(), c.arms.end(),
                                  [](const ArmSummary& arm) { return arm.alpha_params > 0; });
  return found == c.arms.end() ? nullptr : &*found;
}

/// Arms with fixed frequencies of which some, not all, are zero.
bool is_cut(const Comparison& c, const std::string& arm) {
  return std::any_of(c.frequencies.begin(), c.frequencies.end(), [&](const FrequencyUse& f) {
    const auto zeros = std::count(f.initial.begin(), f.initial.end(), 0.0);
    return f.arm == arm && !f.learned && zeros > 0;
  });
}

std::string gap_text(const PairResult* pair, double sign) {
  return pair == nullptr
             ? ""
             : str(signed_number(sign * pair->delta), " nats (", pair->b, "; ", pair->verdict, ")");
}

std::string share_text(const Comparison& c, bool (*wanted)(const Comparison&, const std::string&)) {
  std::string out;
  for (const GainShare& g : c.gain_shares) {
    if (g.known() && wanted(c, g.arm)) {
      out += str(out.empty() ? "" : "; ", g.arm, " ", fixed(100 * g.share, 0), " % (",
                 fixed(100 * g.ci95.lo, 0), " to ", fixed(100 * g.ci95.hi, 0), ")");
    }
  }
  return out;
}

bool is_frozen(const Comparison& c, const std::string& arm) {
  const ArmSummary* found = c.find_arm(arm);
  return found != nullptr && found->scheme.find("=@") != std::string::npos;
}

std::string band_text(const Comparison& c) {
  std::string out;
  for (const BandConsistency& bands : c.consistency) {
    if (bands.n_runs > 0) {
      out += str(out.empty() ? "" : "; ", fixed(bands.over_train_length, 2), " (", bands.arm,
                 ", median of ", bands.n_runs, " runs at length ", c.settings.length, ")");
    }
  }
  return out;
}

std::string overhead_text(const Comparison& c) {
  std::string out;
  for (const Overhead& o : c.overhead) {
    out += str(out.empty() ? "" : "; ", o.arm, " step time x ", fixed(o.step_time_ratio, 3));
  }
  return out;
}

/// The loss gap and ppl of cut arms.
std::string cut_text(const Comparison& c) {
  std::string out;
  for (const PairResult& pair : c.pairs) {
    if (is_cut(c, pair.b)) {
      out += (out.empty() ? "" : "; ") + gap_text(&pair, 1.0);
    }
  }
  return out;
}

void quote_learned(Comparison& c) {
  const ArmSummary* learned = learned_arm(c);
  const PairResult* pair = learned == nullptr ? nullptr : c.find_pair(learned->name);
  const auto add = [&](const char* what, const char* value, const char* unit,
                       const std::string& ours) {
    c.quoted.push_back({what, value, unit, kLearned, kLearnedLicence, ours});
  };
  add("LeRoPE below RoPE in loss, 217M parameters (3 to 7 standard deviations)", "0.0066", "nats",
      gap_text(pair, -1.0));
  add("LeRoPE below RoPE in loss, Python source", "0.0104", "nats", "");
  add("share of LeRoPE's gain that p-RoPE has", "10.4", "%", share_text(c, is_cut));
  add("share of LeRoPE's gain that its final frequencies have when frozen in a new model", "63.6",
      "%", share_text(c, is_frozen));
  add("wavelength of the dominant band over the training length", "2.2", "", band_text(c));
  add("wavelength of the dominant band at training length 2048 (2.04 times; the two numbers "
      "disagree)",
      "4170", "tokens", "");
  add("compute saved for the same loss, 2.5B parameters", "3.4", "%", overhead_text(c));
}

void quote_round(Comparison& c) {
  const auto add = [&](const char* what, const char* value, const char* unit,
                       const std::string& ours) {
    c.quoted.push_back({what, value, unit, std::string(kRound) + ", table 2", kRoundLicence, ours});
  };
  add("0.75-RoPE against RoPE in loss, 2B parameters, Wikipedia (one run each)", "-0.0048", "nats",
      cut_text(c));
  add("0.75-RoPE against RoPE in loss, 2B parameters, FlanV2 (one run each)", "-0.0001", "nats",
      "");
  add("perplexity on Wikipedia: NoPE, RoPE base 10k, RoPE base 500k", "4.8594, 4.4627, 4.4485", "",
      "");
  add("perplexity on Wikipedia: fastest quarter cut, partial, 0.25-RoPE, 0.75-RoPE",
      "4.4592, 4.4537, 4.5302, 4.4414", "", "");
  add("perplexity on FlanV2: NoPE, RoPE base 10k, RoPE base 500k, 0.75-RoPE",
      "6.6429, 6.4429, 6.4593, 6.4422", "", "");
}

void add_sources(Comparison& c) {
  const std::string here = "measured here";
  c.sources = {
      {"difference", "every arm has the weights, batches and validation tokens of the first", here},
      {"rotation", "pairs of channels turn with the position, base^(-2m/D) rad per token",
       "Su et al. 2021, arXiv:2104.09864"},
      {"cut frequencies",
       "p-RoPE keeps the int(p D / 2) fastest pairs at their original spacing; the rest stand "
       "still",
       kRound},
      {"learned frequencies",
       "LeRoPE trains alpha in theta exp(alpha), with its own learning rate and clip", kLearned},
      {"dominant band",
       "the pair whose contribution to the logits by distance alone has the largest range",
       kLearned},
      {"suppressed bands", "pairs with less than 0.05 turn over the training length", kLearned},
      {"linear bias", "ALiBi takes slope times distance from the scores",
       "Press et al. 2022, arXiv:2108.12409"},
      {"no positions", "NoPE: causal attention without any position encoding",
       "Kazemnejad et al. 2023, arXiv:2305.19466"},
      {"early-token effect",
       "disjoint windows favour long inputs because fewer tokens stand early; sliding windows do "
       "not",
       "Press et al. 2022, arXiv:2108.12409"},
      {"pooled spread", "randomised-block analysis of variance: arm and seed means taken out",
       "Fisher 1935, The Design of Experiments"},
      {"several arms", "step-down correction of p values", "Holm 1979, Scand. J. Statist. 6:65"},
      {"needle interval", "score interval of a proportion", "Wilson 1927, JASA 22:209"}};
}

}  // namespace

void add_quoted(Comparison& c) {
  quote_learned(c);
  quote_round(c);
  add_sources(c);
}

}  // namespace gyre::study
