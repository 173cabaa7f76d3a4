// Odd bytes half-way in a prompt, codes after them: U+0000, a special token's text, CR LF, a
// character outside the basic plane.
#include <algorithm>

#include "gyre/accept/level1/steps.h"
#include "gyre/base/error.h"

namespace gyre::accept {

namespace {

struct Odd {
  const char* name;
  std::string bytes;
};

const std::vector<Odd>& odd_bytes() {
  static const std::vector<Odd> all = {{"U+0000", std::string("a\0b", 3)},
                                       {"<|endoftext|>", "<|endoftext|>"},
                                       {"CR LF", "one\r\ntwo"},
                                       {"U+1F9ED", "\U0001F9ED"}};
  return all;
}

Seen ask_odd(Prober& prober, int64_t length, const std::string& bytes) {
  RollCall dials;
  dials.salt = prober.fresh_salt();
  dials.odd = bytes;
  return prober.ask(dials, length, prober.main);
}

/// What stands after the odd bytes is gone, or most of everything is.
bool lost_after(const Seen& seen) {
  if (!seen.reply().answered() || seen.stripes.empty()) {
    return false;
  }
  const auto n = int64_t(seen.stripes.size());
  const auto after = std::count(seen.stripes.begin() + n / 2, seen.stripes.end(), 1);
  return seen.outcome == Outcome::Wrong || 4 * after <= n / 2;
}

}  // namespace

void test_bytes(Prober& prober, int64_t length) {
  std::string all;
  for (const Odd& odd : odd_bytes()) {
    all += (all.empty() ? "" : " ") + odd.bytes;
  }
  const Seen first = ask_odd(prober, length, all);
  if (!lost_after(first)) {
    return;
  }
  std::vector<Seen> shown{first};
  std::string names;
  for (const Odd& odd : odd_bytes()) {
    const Seen seen = ask_odd(prober, length, odd.bytes);
    if (lost_after(seen)) {
      names += (names.empty() ? "" : ", ") + std::string(odd.name);
      shown.push_back(seen);
    }
  }
  if (names.empty()) {
    return;  // that one text was unlucky
  }
  prober.bench.find(
      "BYTE_UNSAFE",
      str("what stands after ", names, " does not come back: ", first.wrong(), " of ",
          first.stripes.size(), " codes lost in a prompt of ", first.predicted, " tokens",
          first.reported ? str(", counted as ", *first.reported) : std::string()),
      sids(shown), {{"bytes", names}});
}

}  // namespace gyre::accept
