#include "gyre/accept/regression.h"

#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "gyre/accept/record.h"
#include "gyre/accept/statistics.h"
#include "gyre/base/error.h"
#include "gyre/study/statistics.h"

namespace gyre::accept {
namespace {

constexpr double kOneSided = 0.05;
constexpr int64_t kRepeats = 2000;

/// What makes an item the same in both runs. Dials that are measured, not set, depend on the texts.
std::string key_of(const Item& item) {
  static const std::set<std::string> kMeasured{"jaccard", "overlap"};
  std::string key = str(item.level, "|", item.task, "|", item.arm, "|", item.length, "|",
                        item.occasion, "|", item.index);
  for (const auto& [name, value] : item.dials) {
    if (!kMeasured.contains(name)) {
      key += str("|", name, "=", value);
    }
  }
  return key;
}

bool counts(const Sample& sample) {
  return sample.item.level >= 2 && sample.item.arm == "short";
}

std::string words_of(const Regression& result) {
  char text[320];
  std::snprintf(
      text, sizeof text,
      "%lld of %lld items right before, %lld after: %+.1f points (%+.1f to %+.1f, 90 %%), "
      "%lld lost and %lld won, McNemar p = %.3g; margin %.1f points",
      static_cast<long long>(result.both + result.only_before),
      static_cast<long long>(result.pairs), static_cast<long long>(result.both + result.only_after),
      100 * result.difference, 100 * result.lo, 100 * result.hi,
      static_cast<long long>(result.only_before), static_cast<long long>(result.only_after),
      result.p, 100 * result.margin);
  return text;
}

}  // namespace

Regression compare_runs(const std::vector<Sample>& before, const std::vector<Sample>& after,
                        double margin) {
  std::map<std::string, bool> right;
  for (const Sample& sample : before) {
    if (counts(sample)) {
      right.emplace(key_of(sample.item), sample.ok());
    }
  }
  Regression out;
  out.margin = margin;
  std::set<std::string> seen;
  for (const Sample& sample : after) {
    const auto at = counts(sample) ? right.find(key_of(sample.item)) : right.end();
    if (at == right.end() || !seen.insert(at->first).second) {
      continue;
    }
    ++out.pairs;
    const bool was = at->second, is = sample.ok();
    ++(was && is ? out.both : was ? out.only_before : is ? out.only_after : out.neither);
    if (was && !is) {
      out.lost.push_back(sample.item.sid);
    }
  }
  if (out.pairs == 0) {
    out.says =
        "no item of the original length is in both runs; both need the same --original-length, "
        "--seed and levels 2 or 3";
    return out;
  }
  const auto difference = paired_difference(out.only_before, out.only_after, out.pairs, kOneSided);
  out.difference = difference.value;
  out.lo = difference.lo;
  out.hi = difference.hi;
  out.p = mcnemar_exact(out.only_before, out.only_after);
  out.status = out.lo > -margin   ? Status::Pass
               : out.hi < -margin ? Status::Fail
                                  : Status::Undecided;
  out.says = words_of(out);
  return out;
}

Regression compare_with(const std::filesystem::path& before, const std::vector<Sample>& after) {
  Regression out = compare_runs(Record::read_only(before)->samples(), after);
  out.before = before.string();
  return out;
}

Measure nll_delta(std::span<const double> before, std::span<const double> after, int64_t length) {
  if (before.size() != after.size()) {
    throw Error(Code::Internal, "nll delta: ", before.size(), " texts before, ", after.size(),
                " after");
  }
  Measure out;
  out.id = "nll_delta";
  out.title = "nats per token, after minus before, same texts";
  out.level = 1;
  out.length = length;
  out.n = static_cast<int64_t>(before.size());
  std::vector<double> differences;
  for (size_t i = 0; i < before.size(); ++i) {
    differences.push_back(after[i] - before[i]);
  }
  out.value = study::mean(differences);
  const auto interval = study::bootstrap(
      out.n,
      [&](std::span<const int64_t> drawn) {
        double sum = 0.0;
        for (const int64_t i : drawn) {
          sum += differences[static_cast<size_t>(i)];
        }
        return sum / static_cast<double>(drawn.size());
      },
      kRepeats, 1);
  out.lo = interval.lo;
  out.hi = interval.hi;
  out.says = "above 0: the change made the model worse at this length";
  return out;
}

}  // namespace gyre::accept
