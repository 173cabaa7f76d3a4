#include "gyre/bench/capped.h"

#include <algorithm>
#include <cmath>

#include "gyre/base/error.h"
#include "gyre/bench/commands.h"
#include "gyre/bench/machine.h"
#include "gyre/study/statistics.h"

namespace gyre::bench {
namespace {

constexpr double kMibPerGib = 1024.0;

std::string rounded(double value) {
  return str(std::round(value * 10.0) / 10.0);
}

}  // namespace

std::vector<AttentionCase> cases_of(const AttentionShape& shape) {
  std::vector<int64_t> lengths = shape.lengths;
  std::sort(lengths.begin(), lengths.end());
  std::vector<AttentionCase> out;
  for (const int64_t head_dim : shape.head_dims) {
    for (const std::string& kind : shape.kinds) {
      for (const int64_t length : lengths) {
        out.push_back({shape.batch, shape.heads, shape.dtype, kind, length, head_dim});
      }
    }
  }
  return out;
}

std::string left_out(const std::string& why_not_ours, const std::string& why_not_peer) {
  std::string out = why_not_ours.empty() ? "" : "ours left out: " + why_not_ours;
  if (!why_not_peer.empty()) {
    out += (out.empty() ? "peer left out: " : "; peer left out: ") + why_not_peer;
  }
  return out;
}

std::string case_words(const AttentionCase& each) {
  return str(each.kind, " ", each.length, " ", each.head_dim);
}

std::string case_title(const AttentionCase& each) {
  return str(each.kind, ", T ", each.length, ", D ", each.head_dim);
}

std::string series_of(const AttentionCase& each) {
  return str(each.kind, ", D ", each.head_dim);
}

void StepTimes::add(const AttentionCase& each, const std::vector<double>& ms) {
  if (!ms.empty()) {
    series_[series_of(each)].push_back({static_cast<double>(each.length), study::median(ms)});
  }
}

std::string StepTimes::over(const AttentionCase& each, double limit_s) const {
  const auto found = series_.find(series_of(each));
  if (found == series_.end()) {
    return "";
  }
  const std::vector<Point>& points = found->second;
  const Point& last = points.back();
  double power = 2.0;
  if (points.size() > 1) {
    const Point& before = points[points.size() - 2];
    const double seen = std::log(last.ms / before.ms) / std::log(last.length / before.length);
    power = std::clamp(seen, 1.0, 2.0);
  }
  const double growth = std::pow(static_cast<double>(each.length) / last.length, power);
  const double expected_s = last.ms * growth / 1e3;
  return expected_s > limit_s ? str("a step would take about ", rounded(expected_s),
                                    " s, over --step-limit-s ", limit_s)
                              : "";
}

double expected_peer_gib(const AttentionCase& each) {
  // Measured at 2048 and 4096 tokens: the process grows by twice the bytes of an attn_mask in the
  // compute type, which a boolean [T, T] becomes too.
  const double n_masks = each.kind == "causal"  ? 0.0
                         : each.kind == "alibi" ? static_cast<double>(each.heads)
                                                : 1.0;
  const double element_bytes = each.dtype == "float32" ? 4.0 : 2.0;
  const auto length = static_cast<double>(each.length);
  return 2.0 * element_bytes * n_masks * length * length / (kMibPerGib * kMibPerGib * kMibPerGib);
}

std::string over_memory(const AttentionCase& each, const Limits& limits) {
  constexpr double kShareOfFree = 0.7;
  const double limit = limits.memory_limit_gib > 0.0 ? limits.memory_limit_gib
                                                     : kShareOfFree * available_mib() / kMibPerGib;
  const double expected = expected_peer_gib(each);
  return expected > limit ? str("it would need about ", rounded(expected),
                                " GiB, over the limit of ", rounded(limit))
                          : "";
}

Row attention_memory_row(const AttentionCase& each, const Contest& contest,
                         const std::string& why_not_ours, const std::string& why_not_peer) {
  AttentionShape shape;
  shape.batch = each.batch;
  shape.heads = each.heads;
  shape.dtype = each.dtype;
  const std::string words = case_words(each);
  const auto peak = [&](const Command& program, const std::string& why_not) {
    return why_not.empty()
               ? peak_of(attention_command(program, shape, contest), words, 1, contest.limits)
               : Peak();
  };
  Row row = memory_row(
      "peak memory, " + case_title(each), contest.attention_peer.empty() ? "" : "SDPA",
      peak(contest.own_attention, why_not_ours), peak(contest.attention_peer, why_not_peer));
  row.series = series_of(each);
  row.x = static_cast<double>(each.length);
  const std::string why = left_out(why_not_ours, why_not_peer);
  row.note += row.note.empty() || why.empty() ? why : "; " + why;
  return row;
}

}  // namespace gyre::bench
