// Losses of fixed runs, step by step, against files. A refactor keeps them; machines differ in
// instruction sets and so in summation order, hence the tolerance: 2e-4 nats over 20 steps.
// To write the files anew after an intended change: GYRE_WRITE_GOLDEN=1 train_test
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "gyre/train/run_testing.h"

namespace gyre::train {
namespace {

constexpr double kTolerance = 2e-4;

class Golden : public ::testing::TestWithParam<const char*> {};

TEST_P(Golden, LossPerStep) {
  const data::TestFolder folder;
  RunSetup setup = small_setup(folder, "run", GetParam());
  setup.train.tokens = 20 * 4 * 32;
  run(setup);
  const std::vector<double> losses = losses_of(setup.out);
  const std::string file =
      str(GYRE_SOURCE_DIR, "/testing/golden/loss_", std::string(GetParam()), ".txt");
  if (std::getenv("GYRE_WRITE_GOLDEN") != nullptr) {
    std::ofstream out(file);
    for (const double loss : losses) {
      char line[32];
      std::snprintf(line, sizeof(line), "%.4f\n", loss);
      out << line;
    }
  }
  std::ifstream in(file);
  std::vector<double> expected;
  for (double value = 0; in >> value;) {
    expected.push_back(value);
  }
  ASSERT_EQ(expected.size(), losses.size()) << file;
  for (size_t i = 0; i < losses.size(); ++i) {
    EXPECT_NEAR(losses[i], expected[i], kTolerance) << "step " << i + 1;
  }
}

INSTANTIATE_TEST_SUITE_P(Schemes, Golden, ::testing::Values("rope", "lerope", "nope", "alibi"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace gyre::train
