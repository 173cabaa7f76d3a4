// The public reports on low precision, with the numbers given there: what each shortcut loses, and
// that the subject's own table and bias do not lose it.
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <numbers>

#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

double bf16(double x) {
  return static_cast<double>(static_cast<float>(c10::BFloat16(static_cast<float>(x))));
}
double fp16(double x) {
  return static_cast<double>(static_cast<float>(c10::Half(static_cast<float>(x))));
}

// gpt-neox#1003: angles in float16, d 32, base 1e4.
void half_angles(const Subject& subject, Tally& tally) {
  const auto bands = geometric(1e4, 16, 32);
  // The reported angle has its frequency rounded to float32; in float64 it is 1044.267841.
  const auto single = static_cast<double>(static_cast<float>(bands[1]));
  tally.at_most(std::abs(1857.0 * single - 1044.267854), 5e-7, "case 17: angle");
  tally.at_most(std::abs(fp16(1857.0 * fp16(bands[1])) - 1045.0), 0.0, "case 17: angle in float16");
  double worst = 0.0;
  const auto positions = count_from(0, 2048);
  const TableRows table = table_rows(subject, plan_of(bands, 32), positions, false);
  for (int64_t p = 0; p < 2048; ++p) {
    for (size_t m = 0; m < bands.size(); ++m) {
      const double angle = static_cast<double>(p) * bands[m];
      worst = std::max(worst, std::abs(std::cos(fp16(static_cast<double>(p) * fp16(bands[m]))) -
                                       std::cos(angle)));
      tally.at_most(std::abs(table.cos[static_cast<size_t>(p)][m] - std::cos(angle)), 1.2e-7,
                    "case 17: float32 table, position ", p, " pair ", m);
    }
  }
  tally.at_most(std::abs(worst - 0.7819), 5e-5, "case 17: worst cosine error, float16");
}

// transformers#29285: position and frequency in bfloat16, d 128, base 1e4, position 4095.
void bf16_frequencies(const Subject& subject, Tally& tally) {
  const auto bands = geometric(1e4, 64, 128);
  const TableRows table = table_rows(subject, plan_of(bands, 128), {4095}, false);
  double lost = 0.0, lost_single = 0.0;
  for (size_t m = 0; m < bands.size(); ++m) {
    const double angle = 4095.0 * bands[m];
    lost = std::max(lost, std::abs(bf16(4095.0) * bf16(bands[m]) - angle));
    lost_single = std::max(
        lost_single, std::abs(static_cast<double>(4095.0F * static_cast<float>(bands[m])) - angle));
    tally.at_most(std::abs(table.sin[0][m] - std::sin(angle)), 1.2e-7, "case 18: table, pair ", m);
  }
  tally.at_most(std::abs(bf16(4095.0) - 4096.0), 0.0, "case 18: position 4095 in bfloat16");
  tally.at_most(std::abs(lost - 5.88), 5e-3, "case 18: phase error in bfloat16");
  tally.at_most(lost_single, 1.5e-4, "case 18: phase error in float32");
}

// gpt-neox#1016: neighbours merge above 256.
void merged_neighbours(const Subject& subject, Tally& tally) {
  tally.require(bf16(257.0) == 256.0 && bf16(511.0) == 512.0 && bf16(513.0) == 512.0,
                "case 19: 257 and 256, 511 and 513 merge in bfloat16");
  const std::vector<int64_t> positions{256, 257, 511, 513};
  const TableRows table = table_rows(subject, plan_of({1.0}, 2), positions, false);
  for (size_t t = 0; t < positions.size(); t += 2) {
    tally.at_least(std::abs(table.cos[t][0] - table.cos[t + 1][0]), 0.1, "case 19: positions ",
                   positions[t], " and ", positions[t + 1], " are told apart");
  }
}

// TensorRT-Model-Connect#667: slope 0.5, keys 4088 .. 4110.
void bf16_bias(const Subject& subject, Tally& tally) {
  for (int64_t key = 4088; key <= 4110; ++key) {
    tally.at_most(std::abs(bf16(0.5 * static_cast<double>(key)) - 2048.0), 0.0,
                  "case 21: bias of key ", key, " in bfloat16");
  }
  constexpr int64_t kKeys = 4111;
  position::LayerPlan layer;
  layer.slopes = {0.5};
  const Turned still{zero_rows({1, 1, 1, 2}), zero_rows({1, 1, kKeys, 2})};
  Rows v = zero_rows({1, 1, kKeys, 2});  // weight of the last key, and mean distance
  v.at(0, 0, kKeys - 1, 0) = 1.0;
  for (int64_t j = 0; j < kKeys; ++j) {
    v.at(0, 0, j, 1) = static_cast<double>(kKeys - 1 - j);
  }
  const Rows out = attended(subject, {still.q, still.k, v}, layer, Precision::F32);
  // Geometric weights (1 - r) r^distance with r = e^-0.5.
  const double r = std::exp(-0.5);
  tally.at_most(std::abs(out.at(0, 0, 0, 0) - (1.0 - r)), 1e-5, "case 21: weight of the last key");
  tally.at_most(std::abs(out.at(0, 0, 0, 1) - r / (1.0 - r)), 1e-4, "case 21: mean distance");
}

CheckResult run(const Subject& subject) {
  Tally tally;
  half_angles(subject, tally);
  bf16_frequencies(subject, tally);
  merged_neighbours(subject, tally);
  bf16_bias(subject, tally);
  return tally.result(
      "float16 angles lose 0.7819 in a cosine, bfloat16 5.88 rad at 4095; the "
      "subject's float32 table 6e-8");
}

}  // namespace

Identity precision_cases() {
  return {"precision-cases", "cases 17, 18, 19, 21", "What low-precision shortcuts lose",
          "gpt-neox#1003, #1016, transformers#29285, TensorRT-Model-Connect#667; 1.2e-7: rounding "
          "of a float32 table",
          run};
}

}  // namespace gyre::verify
