// One prompt size through one endpoint with all that is known of it, and the pure functions that
// name what happened from these alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gyre/accept/level1/seen.h"
#include "gyre/accept/result.h"

namespace gyre::accept {

enum class Loss {
  None,
  Weak,     // codes are missing, but the text was read, or nothing tells
  Cut,      // a part of the text was never read
  Unused,   // a part was read, but none of its codes can be told
  Garbage,  // no answer of any sense
  Cliff,    // garbage as soon as a late part is asked for
  Guess,    // 200 and a wrong answer with no trace of the text
  Empty,    // 200 and no text
  Refused,  // by its length
  Rate,
  Failed,  // an error, with other texts of this length too
};

struct Probe {
  int64_t length = 0;  // prompt and answer
  Api api = Api::Chat;
  int64_t tokens = 0;  // of the prompt as sent
  int64_t answer = 0;  // max_tokens
  std::optional<int64_t> reported;
  Loss loss = Loss::None;
  Gap gap;
  size_t stripes_n = 16;
  std::vector<int> stripes;   // 1 came back in any of the tries
  std::vector<int> read;      // by influence: 1 read, 0 not, -1 not known
  bool counted_less = false;  // usage says that a part is gone
  int64_t rung = 0;           // the planned length that it belongs to; 0 = none
  bool planned = false;       // that length itself, through the first endpoint
  bool aligned = false;       // made so that 128 divides its tokens
  // Where the edge of the loss lies, tokens: from the end for a lost head, else from the start.
  int64_t edge_lo = 0, edge_hi = 0;
  std::optional<int64_t> limit;  // that the server told
  int64_t errors = 0;            // requests that failed for good
  std::string instead;           // what came instead of an answer: "a refusal", ...
  bool by_one = false;           // codes that a list left out came back when asked for alone
  bool closed = false, server_error = false, hung = false;
  std::string says;
  std::vector<std::string> evidence;

  bool whole() const { return loss == Loss::None; }
  /// Kept whole or not, without doubt.
  bool definite() const { return loss != Loss::Weak && loss != Loss::Rate; }
  /// A part is missing at one side: of the kinds by which a window shows.
  bool window_like() const { return loss == Loss::Cut || loss == Loss::Refused; }
};

/// Fills gap, tokens and edges from a roll call that lost some.
void place_gap(Probe& probe, const Seen& seen);

/// Tokens that stay of an over-long prompt, at least and at most, by the stripes that came back.
struct Stay {
  int64_t least = 0, most = 0;
};
std::optional<Stay> stay_of(const Probe& probe);

/// The tokens that stay of every cut prompt when it is the same number for all; by usage where
/// that tells, else by stripes.
struct Constant {
  std::optional<int64_t> tokens;
  bool by_usage = false;
};
Constant constant_stay(const std::vector<Probe>& probes);

/// What the ladder says, without asking anything.
struct Case {
  std::vector<Probe> probes;
  Window window;
  std::optional<int64_t> told;  // window by error messages
  std::vector<Claim> claims;
  std::optional<int64_t> slots;
  bool able = false;
};
std::vector<Finding> diagnose(const Case& ladder);

/// What single replies say: usage, streams, thoughts, rates, errors.
std::vector<Finding> diagnose_replies(const std::vector<Seen>& all, double slow_s);

}  // namespace gyre::accept
