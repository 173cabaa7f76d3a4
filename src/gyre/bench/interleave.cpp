#include "gyre/bench/interleave.h"

#include "gyre/base/progress.h"
#include "gyre/bench/line_process.h"

namespace gyre::bench {

void interleave(std::vector<Side>& sides, int64_t rounds,
                const std::function<void(const Side&)>& on_step) {
  for (int64_t round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < sides.size(); ++i) {
      if (interrupted()) {
        throw Interrupted();
      }
      Side& side = sides[round % 2 == 0 ? i : sides.size() - 1 - i];
      if (on_step) {
        on_step(side);
      }
      side.ms.push_back(side.step_ms());
    }
  }
}

}  // namespace gyre::bench
