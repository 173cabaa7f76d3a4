// The precision table against numbers worked out by hand or given in public reports.
#include "gyre/verify/precision.h"

#include <c10/util/Half.h>
#include <gtest/gtest.h>

#include <cmath>

namespace gyre::verify {
namespace {

double at(const PrecisionTable& table, const std::string& method, int64_t position) {
  for (const PrecisionRow& row : table.rows) {
    for (size_t i = 0; i < table.positions.size(); ++i) {
      if (row.method == method && table.positions[i] == position) {
        return row.worst[i];
      }
    }
  }
  ADD_FAILURE() << method << " at " << position;
  return NAN;
}

TEST(PrecisionTable, GyreStaysFlat) {
  const PrecisionTable table = precision_table(sound_subject());
  for (const int64_t position : table.positions) {
    EXPECT_LT(at(table, "float64 table", position), 1e-13);
    EXPECT_LT(at(table, "float32 table", position), 6.1e-8);  // half a unit of float32
  }
}

TEST(PrecisionTable, ShortcutsGrow) {
  const PrecisionTable table = precision_table(sound_subject());
  // 257 becomes 256: band 0 is off by |cos 257 - cos 256| or the sine; 2 sin(1/2) at most.
  EXPECT_NEAR(at(table, "bfloat16 positions", 257),
              std::max(std::abs(std::cos(257.0) - std::cos(256.0)),
                       std::abs(std::sin(257.0) - std::sin(256.0))),
              0.1);
  EXPECT_GT(at(table, "bfloat16 positions", 4095), 0.5);
  EXPECT_LT(at(table, "bfloat16 positions", 255), 1e-4);  // exact up to 256
  // The product of 1e6 and a frequency below 1 is rounded to 2^-5 at most: half a unit is 0.03.
  EXPECT_LT(at(table, "float32 angles", 1000000), 0.065);
  EXPECT_GT(at(table, "float32 angles", 1000000), 0.01);
  EXPECT_TRUE(std::isinf(at(table, "float16 positions", 1000000)));  // float16 ends at 65504
  EXPECT_LT(at(table, "bfloat16 table, cast last", 1000000), 1.0 / 256.0);
}

// Case 17, EleutherAI/gpt-neox#1003: the frequency is rounded, then its product with the position.
TEST(PrecisionTable, Float16AnglesRoundFrequencyAndProduct) {
  const auto half = [](double x) {
    return static_cast<double>(static_cast<float>(c10::Half(static_cast<float>(x))));
  };
  double expected = 0.0;
  for (int m = 0; m < 64; ++m) {
    const double theta = std::pow(10000.0, -m / 64.0), angle = half(255.0 * half(theta));
    expected = std::max({expected, std::abs(std::cos(angle) - std::cos(255.0 * theta)),
                         std::abs(std::sin(angle) - std::sin(255.0 * theta))});
  }
  EXPECT_NEAR(at(precision_table(sound_subject()), "float16 angles", 255), expected, 1e-6);
}

TEST(PrecisionTable, ReadsTheSubject) {
  const PrecisionTable broken = precision_table(faulty_subject("bf16-positions"));
  EXPECT_GT(at(broken, "float64 table", 257), 0.1);
}

}  // namespace
}  // namespace gyre::verify
