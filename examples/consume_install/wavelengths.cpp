// Prints the wavelengths, in tokens, that a position scheme gives the pairs of one head.
//   wavelengths [SCHEME] [HEAD_DIM]      e.g. wavelengths prope:p=0.75 64
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "gyre/position/scheme.h"

int main(int argc, char** argv) {
  const std::string scheme = argc > 1 ? argv[1] : "rope";
  gyre::position::PlanRequest request;
  request.head_dim = argc > 2 ? std::atol(argv[2]) : 64;
  try {
    const gyre::position::PositionPlan plan = gyre::position::make_plan(scheme, "full", request);
    const auto& groups = plan.layers.at(0).inv_freq;
    if (groups.empty()) {
      std::printf("%s rotates nothing\n", scheme.c_str());
      return 0;
    }
    std::printf("%s, head dim %ld\n", scheme.c_str(), static_cast<long>(plan.head_dim));
    for (size_t pair = 0; pair < groups[0].size(); ++pair) {
      std::printf("pair %2zu  %.4f\n", pair, gyre::position::wavelength_tokens(groups[0][pair]));
    }
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "wavelengths: %s\n", fault.what());
    return 2;
  }
  return 0;
}
