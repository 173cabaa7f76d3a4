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

/// `rounds` times every side once; every second round goes backwards. `on_step` is called before
/// each step. throws Interrupted on Ctrl-C.
void interleave(std::vector<Side>& sides, int64_t rounds,
                const std::function<void(const Side&)>& on_step = {});

}  // namespace gyre::bench
