// Repetitions of several sides in turn: load, clock and heat hit all of them alike.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gyre::bench {

struct Side {
  std::string name;
  std::function<double()> step_ms;  // runs one step, returns its ms
  std::vector<double> ms;           // one value per round
};

/// `rounds` times a turn of every side; every second round goes backwards. A turn is one step, or
/// as many as fill 50 ms, of which the median counts: right after a turn the threads of the other
/// side still spin for a moment, which a step of a few ms would feel. `on_turn` is called before
/// each. throws Interrupted on Ctrl-C.
void interleave(std::vector<Side>& sides, int64_t rounds,
                const std::function<void(const Side&)>& on_turn = {});

}  // namespace gyre::bench
