// The attention factor: on queries and on keys, so squared in a logit; once, and only when asked.
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

struct Case {
  const char* name;
  double amplitude;      // by its formula
  double printed;        // the value of the report
  double logit, logits;  // its effect on a logit by formula and as printed; 0 = not given
};

CheckResult run(const Subject& subject) {
  const auto yarn = [](double factor) { return 0.1 * std::log(factor) + 1.0; };
  const double phi4 = std::sqrt(1.0 + std::log(32.0) / std::log(4096.0));
  const Case cases[] = {
      {"case 4: explicit 1", 1.0, 1.0, 0, 0},
      {"case 4: factor 64 when the explicit one is dropped", yarn(64), 1.415888308,
       yarn(64) * yarn(64), 2.004740},
      {"case 15: longrope 131072/4096", phi4, 1.190238071, phi4 * phi4, 1.416667},
      {"case 24: yarn factor 32", yarn(32), 1.346573590, 0, 0},
      {"case 24: applied twice", yarn(32) * yarn(32), 1.813260434, 0, 0},
      {"case 43: explicit 1, factor 16 gives", yarn(16), 1.277258872, yarn(16) * yarn(16),
       1.631390},
      {"case 2: explicit factor 4", yarn(4), 1.138629436, 0, 0},
      {"case 2: factor replaced by 1.25", yarn(1.25), 1.022314355, 0, 0},
  };
  constexpr int64_t kDim = 16, kTokens = 6;
  const Turned raw{normal_rows("amplitude q", {1, 1, kTokens, kDim}),
                   normal_rows("amplitude k", {1, 1, kTokens, kDim})};
  auto plan = plan_of(geometric(1.5e5, kDim / 2, kDim), kDim);
  const auto positions = count_from(7, kTokens);
  const Turned plain = rotated(subject, raw, positions, plan);
  const auto scores = dots(plain.q, plain.k);
  Tally tally;
  for (const Case& one : cases) {
    tally.at_most(std::abs(one.amplitude - one.printed), 5.1e-10, one.name);
    tally.at_most(one.logits == 0 ? 0.0 : std::abs(one.logit - one.logits), 5.1e-7, one.name,
                  ", logits");
    plan.layers[0].amplitude = one.amplitude;
    const Turned grown = rotated(subject, raw, positions, plan);
    const auto larger = dots(grown.q, grown.k);
    for (size_t i = 0; i < scores.size(); ++i) {
      for (size_t j = 0; j <= i; ++j) {
        const double expected = one.amplitude * one.amplitude * scores[i][j];
        tally.at_most(std::abs(larger[i][j] - expected), 1e-13, one.name, ": logit ", i, ",", j);
      }
    }
    const TableRows table = table_rows(subject, plan, {10});  // case 24: angle 10 at pair 0, not 20
    tally.at_most(std::abs(table.cos[0][0] - one.amplitude * std::cos(10.0)), 1e-15, one.name,
                  ": table at position 10");
  }
  return tally.result("a factor a multiplies every logit by a^2: 1.190238 by 1.416667");
}

}  // namespace

Identity amplitude() {
  return {"amplitude", "P18, cases 2, 4, 15, 24, 43", "The attention factor is applied once",
          "Peng et al. 2023, arXiv:2309.00071, eq. (22); vllm#46280, executorch#19235, "
          "TensorRT-LLM#16378, atlas#342; tolerances: printed digits, else rounding",
          run};
}

}  // namespace gyre::verify
