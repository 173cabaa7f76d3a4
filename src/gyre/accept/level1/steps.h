// The steps of level 1 in the order in which run_level_one takes them. Each asks through the
// prober and leaves what it learned in the ladder or finds a finding that needs no other step.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gyre/accept/level1/probe.h"
#include "gyre/accept/level1/prober.h"

namespace gyre::accept {

/// What all prompt sizes showed together.
struct Ladder {
  std::vector<Probe> probes;           // in the order of asking
  Window window;                       // measured
  std::optional<int64_t> told;         // window by the server's own words
  int64_t asked_again = 0, flips = 0;  // equal requests, and how many changed their codes
  std::vector<std::string> flip_evidence;
  std::map<int64_t, std::string> no_room;  // lengths too short for a roll call, and why

  /// The longest whole one of an endpoint; null when there is none.
  const Probe* longest_kept(Api api) const;
  /// The shortest of an endpoint that is not whole and above all whole ones; null: none.
  const Probe* shortest_lost(Api api) const;
};

/// Two short roll calls: tokens a byte, output budget, ability. False: the server answers nothing.
bool calibrate(Prober& prober);

/// Everything about one prompt size through one endpoint.
Probe probe(Prober& prober, Ladder& ladder, int64_t length, Api api);

/// All lengths, off the grid too.
void climb(Prober& prober, Ladder& ladder);
void measure_window(Prober& prober, Ladder& ladder);

// At a length that is kept whole.
void test_repeat(Prober& prober, Ladder& ladder);
/// Once an answer changed: how often do they, alone and four at a time? Finds NONDETERMINISTIC.
void measure_flips(Prober& prober, Ladder& ladder);
void test_together(Prober& prober, Ladder& ladder);
void test_bytes(Prober& prober, int64_t length);
void test_turns(Prober& prober, int64_t length);
void test_endpoints(Prober& prober);
void test_shift(Prober& prober, const Ladder& ladder);
void test_overflow(Prober& prober, Ladder& ladder);
void test_echo(Prober& prober);

/// Whether the server answers a short prompt.
bool answers(Prober& prober, Api api);

}  // namespace gyre::accept
