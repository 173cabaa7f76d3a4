#include "gyre/accept/level1/garbage.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>

#include "gyre/accept/scoring/answer_text.h"
#include "gyre/base/error.h"

namespace gyre::accept {

namespace {

constexpr int64_t kGrid = 128;  // tokens; blocks of attention kernels divide it

bool is_plain(const std::string& word) {
  const auto odd = std::count_if(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) == 0 && std::string(".,:;-'\"()").find(char(c)) == std::string::npos;
  });
  return odd == 0 && word.size() <= 24;
}

/// The first stripe whose code is garbage, by halving; the edge lies between its place and that of
/// the one before.
void find_cliff(Prober& prober, Probe& probe) {
  int64_t good = 1, bad = int64_t(probe.stripes_n);
  while (bad - good > 1) {
    const int64_t middle = (good + bad) / 2;
    (ask_alone(prober, probe, middle).outcome == Outcome::Kept ? good : bad) = middle;
  }
  const auto place = [&](int64_t checkpoint) {
    return int64_t(double(probe.tokens) * (double(checkpoint) - 0.5) / double(probe.stripes_n));
  };
  probe.edge_lo = place(good);
  probe.edge_hi = place(bad);
  probe.gap = {Shape::Tail, bad - 1, int64_t(probe.stripes_n) - 1};
}

/// A prompt whose tokens are divisible by the grid, the next one above; empty when none can be made
/// because the server does not count.
std::optional<Seen> ask_aligned(Prober& prober, const Probe& probe) {
  if (!probe.reported || *probe.reported <= 0) {
    return std::nullopt;
  }
  int64_t length = probe.length + (kGrid - *probe.reported % kGrid) % kGrid;
  RollCall dials;
  dials.salt = prober.fresh_salt();
  for (int attempt = 0; attempt < 3; ++attempt) {
    Seen seen = prober.ask(dials, length, probe.api);
    const int64_t counted = seen.reported.value_or(0);
    if (!seen.reply().answered() || counted <= 0) {
      return std::nullopt;
    }
    const int64_t over = counted % kGrid;
    if (over == 0) {
      return seen;
    }
    length += over > kGrid / 2 ? kGrid - over : -over;
  }
  return std::nullopt;
}

/// Fails here, comes back whole a few tokens further on: not a matter of size.
bool depends_on_residue(Prober& prober, Ladder& ladder, Probe& probe) {
  const auto aligned = ask_aligned(prober, probe);
  if (!aligned) {
    return false;
  }
  probe.evidence.push_back(aligned->sid());
  if (aligned->outcome != Outcome::Kept || aligned->unnumbered) {
    return false;
  }
  Probe whole;
  whole.length = aligned->sample.item.length;
  whole.api = probe.api;
  whole.tokens = aligned->tokens();
  whole.answer = aligned->sample.item.ask.max_tokens;
  whole.reported = aligned->reported;
  whole.stripes = aligned->stripes;
  whole.stripes_n = aligned->stripes.size();
  whole.evidence = {aligned->sid()};
  whole.aligned = true;
  ladder.probes.push_back(std::move(whole));
  return true;
}

}  // namespace

Seen ask_alone(Prober& prober, Probe& probe, int64_t checkpoint) {
  RollCall dials;
  dials.salt = prober.fresh_salt();
  dials.stripes = prober.stripes_at(probe.length);
  dials.only = checkpoint;
  Seen seen = prober.ask(dials, probe.length, probe.api);
  probe.evidence.push_back(seen.sid());
  return seen;
}

bool is_strange(const Seen& seen) {
  if (seen.degenerate) {
    return true;
  }
  std::istringstream words(seen.text);
  std::map<std::string, int64_t> counts;
  int64_t n = 0, odd = 0, most = 0;
  for (std::string word; words >> word; ++n) {
    odd += !is_plain(word);
    most = std::max(most, ++counts[word]);
  }
  const bool holds_answer = seen.text.find("NONE") != std::string::npos;
  return n > 0 && (10 * odd >= 2 * n || (!holds_answer && n >= 8 && 2 * most > n));
}

void explain_garbage(Prober& prober, Ladder& ladder, Probe& probe, const Seen& seen) {
  if (depends_on_residue(prober, ladder, probe)) {
    probe.loss = Loss::Garbage;
    return;
  }
  const Seen first = ask_alone(prober, probe, 1);
  const Seen last = ask_alone(prober, probe, int64_t(probe.stripes_n));
  const bool first_right = first.outcome == Outcome::Kept;
  const bool last_right = last.outcome == Outcome::Kept;
  if (first_right && last_right) {
    probe.loss = seen.outcome == Outcome::Kept ? Loss::None : Loss::Weak;
  } else if (first_right) {
    probe.loss = Loss::Cliff;
    find_cliff(prober, probe);
  } else {
    const bool strange = is_strange(seen) || is_strange(first) || is_strange(last);
    probe.loss = strange ? Loss::Garbage : Loss::Guess;
    probe.instead = refuses(seen.text)     ? "a refusal"
                    : says_none(seen.text) ? "the answer that there are no codes"
                                           : "an invented answer";
  }
}

}  // namespace gyre::accept
