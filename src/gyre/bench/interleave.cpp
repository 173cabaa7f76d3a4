#include "gyre/bench/interleave.h"

#include "gyre/base/progress.h"
#include "gyre/bench/line_process.h"
#include "gyre/study/statistics.h"

namespace gyre::bench {
namespace {

double turn(const Side& side) {
  constexpr double kTurnMs = 50.0;
  constexpr size_t kMost = 100;
  std::vector<double> steps;
  double spent = 0.0;
  do {
    steps.push_back(side.step_ms());
    spent += steps.back();
  } while (spent < kTurnMs && steps.size() < kMost);
  return study::median(std::move(steps));
}

}  // namespace

void interleave(std::vector<Side>& sides, int64_t rounds,
                const std::function<void(const Side&)>& on_turn) {
  for (int64_t round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < sides.size(); ++i) {
      if (interrupted()) {
        throw Interrupted();
      }
      Side& side = sides[round % 2 == 0 ? i : sides.size() - 1 - i];
      if (on_turn) {
        on_turn(side);
      }
      side.ms.push_back(turn(side));
    }
  }
}

}  // namespace gyre::bench
