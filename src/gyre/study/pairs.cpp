#include "gyre/study/pairs.h"

#include <algorithm>
#include <cmath>

#include "gyre/base/error.h"

namespace gyre::study {
namespace {

const SeedLoss* find_seed(const ArmLosses& arm, int64_t seed) {
  const auto found = std::find_if(arm.runs.begin(), arm.runs.end(),
                                  [seed](const SeedLoss& run) { return run.seed == seed; });
  return found == arm.runs.end() ? nullptr : &*found;
}

// Block losses of an arm, averaged over the given seeds.
std::vector<double> mean_blocks(const ArmLosses& arm, const std::vector<int64_t>& seeds) {
  std::vector<double> out;
  for (const int64_t seed : seeds) {
    const std::vector<double>& blocks = find_seed(arm, seed)->blocks;
    out.resize(blocks.size(), 0.0);
    for (size_t i = 0; i < blocks.size(); ++i) {
      out[i] += blocks[i] / static_cast<double>(seeds.size());
    }
  }
  return out;
}

std::vector<int64_t> common_seeds(const ArmLosses& a, const ArmLosses& b) {
  std::vector<int64_t> seeds;
  for (const SeedLoss& run : a.runs) {
    if (find_seed(b, run.seed) != nullptr) {
      seeds.push_back(run.seed);
    }
  }
  return seeds;
}

std::vector<double> difference(std::vector<double> b, const std::vector<double>& a) {
  if (a.size() != b.size()) {
    throw Error(Code::CheckFailed, "unfair comparison: validation blocks: ", a.size(), " and ",
                b.size(), " of them; evaluate every run on the same text");
  }
  for (size_t i = 0; i < b.size(); ++i) {
    b[i] -= a[i];
  }
  return b;
}

Residual pooled_residual(const std::vector<ArmLosses>& arms) {
  std::vector<TableCell> table;
  for (size_t i = 0; i < arms.size(); ++i) {
    for (const SeedLoss& run : arms[i].runs) {
      table.push_back({static_cast<int64_t>(i), run.seed, run.loss});
    }
  }
  return two_way_residual(table);
}

PairResult compare_pair(const ArmLosses& a, const ArmLosses& b, const Residual& pooled) {
  PairResult out;
  out.a = a.name;
  out.b = b.name;
  out.seeds = common_seeds(a, b);
  for (const int64_t seed : out.seeds) {
    out.deltas.push_back(find_seed(b, seed)->loss - find_seed(a, seed)->loss);
  }
  const TTest own = t_test(out.deltas);
  out.delta = own.mean;
  out.sd_seeds = own.sd;
  out.ci95_unpooled = own.ci95;
  out.p_unpooled = own.p;
  out.p_sign = sign_test(out.deltas);
  const PairedTest paired = paired_test(out.deltas, pooled);
  const TTest& used = paired.test;
  if (out.deltas.size() >= 2) {
    out.interval_over = paired.pooled ? "seeds, pooled sd" : "seeds";
  }
  out.sd_used = used.sd;
  out.df = used.df;
  out.ci95 = used.ci95;
  out.p = used.p;
  out.seeds_needed = runs_needed(used.sd > 0.0 ? out.delta / used.sd : kUnknown);
  const TTest blocks = t_test(difference(mean_blocks(b, out.seeds), mean_blocks(a, out.seeds)));
  out.n_blocks = static_cast<int64_t>(blocks.df) + 1;
  out.ci95_blocks = blocks.ci95;
  out.p_blocks = blocks.p;
  return out;
}

std::string verdict_of(const PairResult& pair) {
  const bool over_seeds = pair.p_holm < 0.05;
  const bool below = pair.delta < 0.0 && pair.ci95_blocks.hi < 0.0;
  const bool above = pair.delta > 0.0 && pair.ci95_blocks.lo > 0.0;
  return over_seeds && below ? "better" : over_seeds && above ? "worse" : "no difference seen";
}

}  // namespace

std::vector<PairResult> compare_pairs(const std::vector<ArmLosses>& arms) {
  const Residual pooled = pooled_residual(arms);
  std::vector<PairResult> pairs;
  std::vector<double> p_values;
  for (size_t i = 1; i < arms.size(); ++i) {
    if (!common_seeds(arms.front(), arms[i]).empty()) {
      pairs.push_back(compare_pair(arms.front(), arms[i], pooled));
      p_values.push_back(pairs.back().p);
    }
  }
  const std::vector<double> corrected = holm(p_values);
  for (size_t i = 0; i < pairs.size(); ++i) {
    pairs[i].p_holm = corrected[i];
    pairs[i].verdict = verdict_of(pairs[i]);
  }
  return pairs;
}

std::string verdict_rule() {
  return str(
      "better or worse: the t test over seeds gives p < 0.05 after Holm's correction for the "
      "number of arms, and the 95 % interval over blocks lies on the same side of zero. "
      "Below ",
      kOwnSpreadSeeds,
      " seeds the spread is pooled over all arms (arm and seed means taken out; assumes "
      "that arms spread alike).");
}

GainShare share_of_gain(const ArmLosses& reference, const ArmLosses& best, const ArmLosses& other) {
  GainShare out;
  out.arm = other.name;
  out.of = best.name;
  std::vector<int64_t> seeds = common_seeds(reference, best);
  std::erase_if(seeds, [&](int64_t seed) { return find_seed(other, seed) == nullptr; });
  if (seeds.empty()) {
    return out;
  }
  const std::vector<double> r = mean_blocks(reference, seeds);
  const std::vector<double> gain = difference(r, mean_blocks(best, seeds));
  const std::vector<double> part = difference(r, mean_blocks(other, seeds));
  out.n_blocks = static_cast<int64_t>(gain.size());
  if (!(t_test(gain).ci95.lo > 0.0)) {
    return out;  // a share of nothing
  }
  out.share = mean(part) / mean(gain);
  out.ci95 = bootstrap(
      out.n_blocks,
      [&](std::span<const int64_t> drawn) {
        double whole = 0.0, some = 0.0;
        for (const int64_t i : drawn) {
          whole += gain[static_cast<size_t>(i)];
          some += part[static_cast<size_t>(i)];
        }
        return some / whole;
      },
      2000, 1);
  return out;
}

}  // namespace gyre::study
