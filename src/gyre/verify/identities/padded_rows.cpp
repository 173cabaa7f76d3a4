// Left padding: positions count the tokens of the row, and go on from there in decoding. An offset
// of a whole row is harmless under rotation; a gap between prompt and decoded tokens is not.
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

constexpr int64_t kDim = 16;

// Output of the last token of a row without its padding.
Rows last_output(const Subject& subject, const Keyed& raw, const std::vector<int64_t>& positions) {
  const auto plan = plan_of(geometric(10000.0, kDim / 2, kDim), kDim);
  const Turned turned = rotated(subject, {raw.q, raw.k}, positions, plan);
  return attended(subject, {turned.q, turned.k, raw.v}, plan.layers[0]);
}

CheckResult run(const Subject& subject) {
  Tally tally;
  const auto positions = subject.padded_positions({0, 0, 1, 1, 1}, 2);  // unsloth#3699
  const std::vector<int64_t> expected{0, 1, 2, 3, 4};
  for (size_t i = 0; i < expected.size(); ++i) {
    tally.require(positions[i + 2] == expected[i],
                  "case 37: row 0 0 1 1 1 and two decoded tokens: "
                  "token ",
                  i, " has position ", positions[i + 2]);
  }
  double gap = 0.0;
  for (const int64_t n_padding : {0, 1, 2, 7}) {
    std::vector<int64_t> row(static_cast<size_t>(n_padding), 0);
    row.insert(row.end(), 5, 1);
    const auto padded = subject.padded_positions(row, 3);
    const std::vector<int64_t> real(padded.begin() + n_padding, padded.end());
    const Keyed raw{normal_rows("padded q", {1, 1, 8, kDim}),
                    normal_rows("padded k", {1, 1, 8, kDim}),
                    normal_rows("padded v", {1, 1, 8, kDim})};
    const Rows alone = last_output(subject, raw, count_from(0, 8));
    tally.at_most(max_difference(last_output(subject, raw, real), alone), 1e-13, n_padding,
                  " padding tokens: batched and alone");
    tally.at_most(max_difference(last_output(subject, raw, count_from(n_padding, 8)), alone), 1e-13,
                  n_padding, " padding tokens: pure offset of all");
    auto broken = count_from(0, 8);
    for (size_t i = 5; i < 8; ++i) {
      broken[i] += n_padding;
    }
    const double moved = max_difference(last_output(subject, raw, broken), alone);
    gap = n_padding == 2 ? moved : gap;
    tally.at_least(n_padding == 0 ? 1.0 : moved, 1e-3, "a gap of ", n_padding, " is noticed");
  }
  return tally.result(
      str("row 0 0 1 1 1: positions 0 1 2, next 3; a gap of 2 moves an output by ", gap));
}

}  // namespace

Identity padded_rows() {
  return {"padded-rows", "P39, case 37", "Padded rows count their own tokens",
          "unslothai/unsloth#3699, transformers#22161; 1e-13: sums of 16 terms in float64", run};
}

}  // namespace gyre::verify
