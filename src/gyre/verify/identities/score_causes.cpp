// What a score depends on besides distance: content, frequency and weights, varied one at a time
// over a full grid, with the share of the variance that each explains.
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

constexpr int64_t kDim = 16, kContents = 8, kBases = 5, kWeights = 8, kDistance = 12;
constexpr double kBase[kBases] = {100.0, 1000.0, 10000.0, 100000.0, 500000.0};

// Weights w (two matrices) applied to content c: query and key before the rotation.
Turned projected(const Rows& contents, const Rows& weights, int64_t c, int64_t w) {
  Turned out{zero_rows({1, 1, 2, kDim}), zero_rows({1, 1, 2, kDim})};
  for (int64_t d = 0; d < kDim; ++d) {
    for (int64_t e = 0; e < kDim; ++e) {
      out.q.at(0, 0, 0, d) += contents.at(c, 0, 0, e) * weights.at(w, 0, e, d) / kDim;
      out.k.at(0, 0, 1, d) += contents.at(c, 1, 0, e) * weights.at(w, 1, e, d) / kDim;
    }
  }
  return out;
}

double plain_score(const Turned& raw, const std::vector<double>& bands) {
  double sum = 0.0;
  for (size_t m = 0; m < kDim / 2; ++m) {
    const auto x = static_cast<int64_t>(m), y = x + kDim / 2;
    const double qx = raw.q.at(0, 0, 0, x), qy = raw.q.at(0, 0, 0, y);
    const double kx = raw.k.at(0, 0, 1, x), ky = raw.k.at(0, 0, 1, y);
    sum += (qx * kx + qy * ky) * std::cos(kDistance * bands[m]) -
           (qy * kx - qx * ky) * std::sin(kDistance * bands[m]);
  }
  return sum;
}

using Grid = std::vector<double>;  // [content][base][weights]
double at(const Grid& grid, int64_t c, int64_t f, int64_t w) {
  return grid[static_cast<size_t>((c * kBases + f) * kWeights + w)];
}

// Variance of the means over the two other causes: the main effect of cause 0, 1 or 2.
double main_effect(const Grid& grid, int cause, double mean) {
  const int64_t sizes[3] = {kContents, kBases, kWeights};
  std::vector<double> sums(static_cast<size_t>(sizes[cause]), 0.0);
  for (int64_t c = 0; c < kContents; ++c) {
    for (int64_t f = 0; f < kBases; ++f) {
      for (int64_t w = 0; w < kWeights; ++w) {
        const int64_t level[3] = {c, f, w};
        sums[static_cast<size_t>(level[cause])] += at(grid, c, f, w);
      }
    }
  }
  double variance = 0.0;
  for (const double sum : sums) {
    const double others = static_cast<double>(grid.size()) / static_cast<double>(sums.size());
    variance += (sum / others - mean) * (sum / others - mean);
  }
  return variance / static_cast<double>(sums.size());
}

// Largest change of a score when one cause alone moves away from level 0.
double one_at_a_time(const Grid& grid, int cause) {
  const int64_t sizes[3] = {kContents, kBases, kWeights};
  double worst = 0.0;
  for (int64_t level = 1; level < sizes[cause]; ++level) {
    const double moved =
        at(grid, cause == 0 ? level : 0, cause == 1 ? level : 0, cause == 2 ? level : 0);
    worst = std::max(worst, std::abs(moved - at(grid, 0, 0, 0)));
  }
  return worst;
}

CheckResult run(const Subject& subject) {
  const Rows contents = normal_rows("causes: content", {kContents, 2, 1, kDim});
  const Rows weights = normal_rows("causes: weights", {kWeights, 2, kDim, kDim});
  Tally tally;
  Grid grid;
  for (int64_t c = 0; c < kContents; ++c) {
    for (int64_t f = 0; f < kBases; ++f) {
      const auto bands = geometric(kBase[f], kDim / 2, kDim);
      for (int64_t w = 0; w < kWeights; ++w) {
        const Turned raw = projected(contents, weights, c, w);
        const Turned turned = rotated(subject, raw, {kDistance, 0}, plan_of(bands, kDim));
        grid.push_back(dots(turned.q, turned.k)[0][1]);
        tally.at_most(std::abs(grid.back() - plain_score(raw, bands)), 1e-12, "content ", c,
                      ", base ", kBase[f], ", weights ", w);
      }
    }
  }
  double mean = 0.0, total = 0.0;
  for (const double score : grid) {
    mean += score / static_cast<double>(grid.size());
  }
  for (const double score : grid) {
    total += (score - mean) * (score - mean) / static_cast<double>(grid.size());
  }
  std::string note = "distance 12; share of variance:";
  double explained = 0.0;
  const char* names[] = {"content", "frequency", "weights"};
  for (int cause = 0; cause < 3; ++cause) {
    const double share = main_effect(grid, cause, mean) / total;
    explained += share;
    tally.at_least(one_at_a_time(grid, cause), 0.01, names[cause], " alone moves the score");
    note += str(" ", names[cause], " ", std::round(share * 1000.0) / 10.0, " %,");
  }
  tally.at_most(explained, 1.0, "main effects cannot explain more than everything");
  return tally.result(
      str(note, " interactions ", std::round((1 - explained) * 1000.0) / 10.0, " %"));
}

}  // namespace

Identity score_causes() {
  return {"score-causes", "P10", "A score depends on content, frequency and weights as well",
          "full 8 x 5 x 8 grid at one distance, analysis of variance; 1e-12: 16 terms", run};
}

}  // namespace gyre::verify
