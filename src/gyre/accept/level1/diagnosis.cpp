// From prompt sizes to causes, as a pure function. The order matters: what explains a loss better
// takes it away from the coarser names.
#include <algorithm>
#include <cmath>
#include <functional>

#include "gyre/accept/level1/probe.h"
#include "gyre/base/error.h"

namespace gyre::accept {

namespace {

using Pick = std::function<bool(const Probe&)>;

std::vector<Probe> those(const std::vector<Probe>& probes, const Pick& pick) {
  std::vector<Probe> chosen;
  std::copy_if(probes.begin(), probes.end(), std::back_inserter(chosen), pick);
  return chosen;
}

std::vector<std::string> evidence_of(const std::vector<Probe>& probes) {
  std::vector<std::string> all;
  for (const Probe& probe : probes) {
    for (const std::string& sid : probe.evidence) {
      if (std::find(all.begin(), all.end(), sid) == all.end()) {
        all.push_back(sid);
      }
    }
  }
  return all;
}

std::string joined(const std::vector<int64_t>& numbers) {
  std::string text;
  for (const int64_t number : numbers) {
    text += (text.empty() ? "" : ", ") + str(number);
  }
  return text;
}

/// "chat" or "completions" where the other one keeps what this one loses, else "both" or the one.
std::string endpoint_of(const std::vector<Probe>& lost, const std::vector<Probe>& all) {
  const Api api = lost.front().api;
  bool other_asked = false, other_lost = false;
  for (const Probe& probe : all) {
    if (probe.api == api || !probe.definite() || probe.tokens + 64 < lost.front().tokens) {
      continue;
    }
    other_asked = true;
    other_lost = other_lost || !probe.whole();
  }
  return other_asked && other_lost ? "both" : name_of(api);
}

/// All edges could be one and the same.
bool one_edge(const std::vector<Probe>& probes) {
  int64_t low = 0, high = 1LL << 60;
  for (const Probe& probe : probes) {
    const int64_t slack =
        probe.tokens / int64_t(probe.stripes_n);  // one stripe of a doubtful answer
    low = std::max(low, probe.edge_lo - slack);
    high = std::min(high, probe.edge_hi + slack);
  }
  return low <= high;
}

std::string between(const std::vector<Probe>& probes) {
  int64_t low = 0, high = 1LL << 60;
  for (const Probe& probe : probes) {
    low = std::max(low, probe.edge_lo);
    high = std::min(high, probe.edge_hi);
  }
  return low <= high ? str(low, " to ", high) : str(high, " to ", low);
}

class Diagnosis {
 public:
  explicit Diagnosis(const Case& the_case) : case_(the_case) {}

  std::vector<Finding> all() {
    bands();
    cuts();
    unused();
    overflows();
    errors();
    claims();
    return findings_;
  }

 private:
  const Case& case_;
  std::vector<Finding> findings_;
  bool banded_ = false, halved_ = false;
  bool first_cut_ = false;  // through the first endpoint; else only the other one loses

  void find(const char* id, std::string says, const std::vector<Probe>& shown,
            std::map<std::string, std::string> facts = {}) {
    findings_.push_back({id, std::move(says), evidence_of(shown), std::move(facts)});
  }

  bool longer_one_is_whole(const Probe& lost) const {
    return std::any_of(case_.probes.begin(), case_.probes.end(), [&](const Probe& other) {
      return other.api == lost.api && other.whole() && other.tokens > lost.tokens;
    });
  }

  void bands();
  void cuts();
  bool halved(const std::vector<Probe>& lost);
  void truncated(Shape shape, const char* id, const char* part);
  void unused();
  void overflows();
  void errors();
  void claims();
  void slots(const Claim& claim);
};

void Diagnosis::bands() {
  const auto bad = those(case_.probes, [&](const Probe& probe) {
    const bool kind = probe.loss == Loss::Cut || probe.loss == Loss::Unused ||
                      probe.loss == Loss::Garbage || probe.loss == Loss::Cliff;
    return kind && longer_one_is_whole(probe);
  });
  if (bad.empty()) {
    return;
  }
  banded_ = true;
  std::vector<int64_t> bad_sizes, good_sizes;
  bool aligned = false;
  for (const Probe& probe : case_.probes) {
    if (probe.api == bad.front().api && probe.definite()) {
      (probe.whole() ? good_sizes : bad_sizes).push_back(probe.reported.value_or(probe.tokens));
      aligned = aligned || (probe.aligned && probe.whole());
    }
  }
  std::string says = str("prompts of ", joined(bad_sizes), " tokens fail, of ", joined(good_sizes),
                         " are kept: no length up to which all is well");
  if (aligned) {
    says += "; a size that 128 divides is kept";
  }
  find("LENGTH_BAND", says, bad, {{"bad", joined(bad_sizes)}, {"good", joined(good_sizes)}});
}

bool Diagnosis::halved(const std::vector<Probe>& lost) {
  const Constant stay = constant_stay(lost);
  if (!stay.tokens || !case_.window.fits || lost.size() < 2) {
    return false;
  }
  const double share = double(*stay.tokens) / double(*case_.window.fits);
  const double slack = stay.by_usage ? 0.05 : 0.1;
  if (std::abs(share - 0.5) > slack) {
    return false;
  }
  find("WINDOW_HALVED",
       str("prompts up to about ", *case_.window.fits, " tokens are kept; of longer ones only ",
           *stay.tokens, " tokens stay (",
           stay.by_usage ? "usage" : "by the stripes that came back", ")"),
       lost,
       {{"fits", str(*case_.window.fits)},
        {"after_overflow", str(*stay.tokens)},
        {"endpoint", endpoint_of(lost, case_.probes)}});
  return true;
}

void Diagnosis::truncated(Shape shape, const char* id, const char* part) {
  const auto planned = [&](const Probe& probe) {
    return probe.loss == Loss::Cut && (probe.planned || (!first_cut_ && probe.rung > 0));
  };
  const auto lost = those(
      case_.probes, [&](const Probe& probe) { return planned(probe) && probe.gap.shape == shape; });
  if (lost.empty()) {
    return;
  }
  const Probe& worst = lost.back();
  std::map<std::string, std::string> facts{{"endpoint", endpoint_of(lost, case_.probes)}};
  std::string says = str("of a prompt of ", worst.tokens, " tokens ",
                         words(worst.gap, worst.stripes_n), " at the ", part, " did not come back");
  if (worst.counted_less) {
    says += str("; usage counts ", *worst.reported);
  }
  if (std::count(worst.read.begin(), worst.read.end(), 0) > 0) {
    says += "; replacing text there changes no log-probability";
  } else if (!worst.counted_less) {
    says += "; nothing but the answers shows it, a window of attention would look the same";
  }
  if (case_.window.fits) {
    says += str("; prompts up to about ", *case_.window.fits, " tokens are kept");
    facts["window"] = str(*case_.window.fits);
  }
  find(id, says, lost, std::move(facts));
}

void Diagnosis::cuts() {
  const auto lost = those(case_.probes, [](const Probe& probe) { return probe.loss == Loss::Cut; });
  if (lost.empty()) {
    return;
  }
  if (std::any_of(lost.begin(), lost.end(), [](const Probe& p) { return p.counted_less; })) {
    const auto shown = those(lost, [](const Probe& probe) { return probe.counted_less; });
    std::map<std::string, std::string> facts;
    if (const Constant stay = constant_stay(lost); stay.tokens && stay.by_usage) {
      facts["window"] = str(*stay.tokens);
    }
    find("USAGE_POST_TRUNC",
         str("a prompt of ", shown.front().tokens, " tokens is counted as ",
             *shown.front().reported, ": what was left of it"),
         shown, std::move(facts));
  }
  if (banded_) {
    return;
  }
  halved_ = halved(lost);
  first_cut_ = std::any_of(lost.begin(), lost.end(), [](const Probe& p) { return p.planned; });
  if (!halved_) {
    truncated(Shape::Head, "TRUNC_HEAD", "beginning");
    truncated(Shape::Middle, "TRUNC_MIDDLE", "middle");
    truncated(Shape::Tail, "TRUNC_TAIL", "end");
  }
}

void Diagnosis::unused() {
  if (banded_) {
    return;
  }
  const auto of = [&](Shape shape) {
    return those(case_.probes, [&](const Probe& probe) {
      return probe.loss == Loss::Unused && probe.gap.shape == shape;
    });
  };
  const auto heads = of(Shape::Head);
  if (!heads.empty() && one_edge(heads)) {
    find("SWA_SUSPECT",
         str("only the last ", between(heads),
             " tokens can be told, at every length; the text before them is read, but not used"),
         heads, {{"window", between(heads)}});
  }
  auto cliffs = of(Shape::Tail);
  if (!one_edge(cliffs)) {
    cliffs.clear();
  }
  const auto garbage = those(case_.probes, [](const Probe& probe) {
    return probe.loss == Loss::Cliff || probe.loss == Loss::Garbage;
  });
  cliffs.insert(cliffs.end(), garbage.begin(), garbage.end());
  if (cliffs.empty()) {
    return;
  }
  const bool edge = cliffs.front().edge_hi > 0;
  std::string says = edge
                         ? str("what stands past token ",
                               between(those(cliffs, [](const Probe& p) { return p.edge_hi > 0; })),
                               " cannot be told, at every length")
                         : str("a prompt of ", cliffs.front().tokens,
                               " tokens gets no sensible answer, whatever is asked of it");
  size_t strange = size_t(std::count_if(cliffs.begin(), cliffs.end(), [](const Probe& p) {
    return p.loss == Loss::Garbage || p.loss == Loss::Cliff;
  }));
  says +=
      str("; ", strange, " of ", case_.probes.size(), " prompt sizes got garbage for an answer");
  find("POSITION_CLIFF", says, cliffs,
       {{"first_failing", str(cliffs.front().length)},
        {"share", str(strange, " of ", case_.probes.size())}});
}

void Diagnosis::overflows() {
  const auto empty = those(case_.probes, [](const Probe& probe) {
    return probe.loss == Loss::Empty || probe.loss == Loss::Guess;
  });
  if (empty.empty()) {
    return;
  }
  const bool text = empty.front().loss == Loss::Guess;
  find("OVERFLOW_200",
       str("a prompt of ", empty.front().tokens, " tokens gets HTTP 200 and ",
           text ? empty.front().instead : "no text"),
       empty, {{"verdict", text ? "wrong_code" : "empty"}});
}

void Diagnosis::errors() {
  const auto failed =
      those(case_.probes, [](const Probe& probe) { return probe.loss == Loss::Failed; });
  const bool shorter_work = std::any_of(case_.probes.begin(), case_.probes.end(),
                                        [](const Probe& probe) { return probe.whole(); });
  if (failed.empty() || !shorter_work) {
    return;
  }
  const Probe& first = failed.front();
  if (first.server_error || first.hung || first.closed) {
    find("OVERFLOW_5XX",
         str("a prompt of ", first.tokens, " tokens gets ",
             first.closed ? "a closed connection"
             : first.hung ? "no answer"
                          : "a server error",
             ": ", first.says),
         failed);
  }
  if (first.closed) {
    find("SERVER_CLOSED",
         str("the connection is closed before any answer to a prompt of ", first.tokens, " tokens"),
         failed);
  }
}

void Diagnosis::slots(const Claim& claim) {
  std::optional<int64_t> window = case_.told;
  const Constant stay = constant_stay(case_.probes);
  if (!window && stay.by_usage) {
    window = stay.tokens;
  }
  const bool promised = claim.source == "--context" && case_.slots.value_or(1) < 2;
  const bool undivided = case_.slots == int64_t{1};  // the server says so
  if (!window || *window <= 0 || halved_ || promised || undivided) {
    return;
  }
  const double ratio = double(claim.tokens) / double(*window);
  const double parts = std::round(ratio);
  if (parts < 2 || parts > 16 || std::abs(ratio - parts) > 0.01 * parts) {
    return;
  }
  find("SLOT_SPLIT",
       str("the window of ", *window, " tokens is 1/", int64_t(parts), " of the claimed ",
           claim.tokens,
           case_.slots && *case_.slots > 1 ? str("; the server tells of ", *case_.slots, " slots")
                                           : ""),
       those(case_.probes, [](const Probe& probe) { return probe.window_like(); }),
       {{"ratio", str(int64_t(parts))}, {"window", str(*window)}});
}

void Diagnosis::claims() {
  if (banded_) {
    return;
  }
  for (const Claim& claim : case_.claims) {
    const auto below = those(case_.probes, [&](const Probe& probe) {
      return probe.window_like() && probe.tokens + probe.answer <= claim.tokens;
    });
    if (below.empty()) {
      continue;
    }
    const auto window = case_.told ? case_.told : case_.window.fits;
    std::string all;
    for (const Claim& other : case_.claims) {
      all += (all.empty() ? "" : ", ") + str(other.source, " ", other.tokens);
    }
    std::map<std::string, std::string> facts{{"claim", str(claim.tokens)}, {"claims", all}};
    if (window) {
      facts["window"] = str(*window);
    }
    find("WINDOW_BELOW_CLAIM",
         str(claim.source, " says ", claim.tokens, " tokens; a prompt of ", below.front().tokens,
             " was not kept", window ? str(", the window is about ", *window) : std::string()),
         below, std::move(facts));
    slots(claim);
    return;
  }
}

}  // namespace

std::vector<Finding> diagnose(const Case& ladder) {
  return Diagnosis(ladder).all();
}

}  // namespace gyre::accept
