#include "gyre/accept/regression.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "gyre/accept/record.h"
#include "gyre/accept/statistics.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

constexpr double kOneSided = 0.05;

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

bool counts(const Item& item, int64_t original_length) {
  const bool ranked = item.form == AnswerForm::Ranking && item.length == original_length;
  return item.level >= 2 && (item.arm == "short" || (item.arm == "main" && ranked));
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
                        int64_t original_length, double margin) {
  std::map<std::string, bool> right;
  for (const Sample& sample : before) {
    if (counts(sample.item, original_length)) {
      right.emplace(key_of(sample.item), sample.ok());
    }
  }
  Regression out;
  out.margin = margin;
  std::set<std::string> seen;
  for (const Sample& sample : after) {
    const auto at =
        counts(sample.item, original_length) ? right.find(key_of(sample.item)) : right.end();
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
        "no item of the original length is in both runs: one of them read answers and the other "
        "ranked candidates, or got no answer at all";
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

Before::Before(std::filesystem::path dir, const AcceptOptions& options,
               const std::filesystem::path& out)
    : dir_(std::move(dir)) {
  const auto record = Record::read_only(dir_);
  std::error_code missing;
  if (!out.empty() && std::filesystem::equivalent(dir_, out, missing)) {
    throw Error(Code::Usage, "accept: --before and --out are the same folder ", dir_.string(),
                "; give the new run a folder of its own");
  }
  const AcceptOptions was = options_of(record->settings());
  const auto differ = [&](const char* name, int64_t before, int64_t now) {
    if (before != now) {
      throw Error(Code::Usage, "accept: --before ", dir_.string(), " was run with --", name, " ",
                  before, ", this run has ", now, ": no item is in both; use --", name, " ",
                  before);
    }
  };
  original_length_ = options.original_length;
  differ("original-length", was.original_length, options.original_length);
  differ("seed", was.seed, options.seed);
  const auto shares = [&](int64_t level) {
    const auto has = [&](const AcceptOptions& one) {
      return std::find(one.levels.begin(), one.levels.end(), level) != one.levels.end();
    };
    return has(was) && has(options);
  };
  if (!shares(2) && !shares(3)) {
    throw Error(Code::Usage, "accept: --before ", dir_.string(),
                " and this run share neither level 2 nor level 3, whose short items are compared; "
                "add one with --levels");
  }
  samples_ = record->samples();
}

Regression Before::compare(const std::vector<Sample>& after) const {
  Regression out = compare_runs(samples_, after, original_length_);
  out.before = dir_.string();
  return out;
}

}  // namespace gyre::accept
