// From the records of single cells to the numbers of the comparison: means over seeds, length
// curves, needle counts, use of frequencies.
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "gyre/base/error.h"
#include "gyre/evaluate/interval.h"
#include "gyre/study/comparison.h"
#include "gyre/study/fairness.h"

namespace gyre::study {
namespace {

using Records = std::vector<const CellRecord*>;  // of one arm

constexpr size_t kCurvePoints = 200;
constexpr size_t kTrajectoryPoints = 60;
constexpr double kSuppressedTurns = 0.05;  // of phase over the training length (L30)

Records of_arm(const StudyCells& study, size_t arm) {
  Records out;
  for (const CellRecord& record : study.records) {
    if (record.arm == arm) {
      out.push_back(&record);
    }
  }
  return out;
}

template <class Get>
double mean_of(const Records& records, const Get& get) {
  std::vector<double> values;
  for (const CellRecord* record : records) {
    values.push_back(get(*record));
  }
  return mean(values);
}

std::vector<PositionLoss> mean_positions(const Records& records) {
  std::vector<PositionLoss> out = records.front()->positions;
  for (size_t i = 0; i < out.size(); ++i) {
    out[i].loss = mean_of(records, [i](const CellRecord& r) { return r.positions.at(i).loss; });
  }
  return out;
}

ArmSummary summarize_arm(const Arm& arm, const Records& records) {
  const train::RunManifest& m = records.front()->manifest;
  ArmSummary out;
  out.name = arm.name;
  out.scheme = arm.source >= 0 ? arm.scheme : m.scheme;  // "@arm" reads better than one seed's path
  out.mask = m.mask;
  out.params = m.params;
  out.alpha_params = m.alpha_params;
  std::vector<double> losses;
  for (const CellRecord* record : records) {
    losses.push_back(record->val_loss);
    Curve curve{record->seed, {}, {}};
    for (const size_t i : thinned(record->curve_step.size(), kCurvePoints)) {
      curve.step.push_back(record->curve_step[i]);
      curve.loss.push_back(record->curve_loss[i]);
    }
    out.curves.push_back(std::move(curve));
  }
  out.n_seeds = static_cast<int64_t>(records.size());
  out.val_loss_mean = mean(losses);
  out.val_loss_sd = sample_sd(losses);
  out.ppl = std::exp(out.val_loss_mean);
  out.bits_per_byte = mean_of(records, [](const CellRecord& r) { return r.bits_per_byte; });
  out.tokens_per_s = mean_of(records, [](const CellRecord& r) { return r.tokens_per_s; });
  out.peak_rss_mib = mean_of(records, [](const CellRecord& r) { return r.peak_rss_mib; });
  out.positions = mean_positions(records);
  return out;
}

std::vector<LengthPoint> length_points(const std::string& arm, const Records& records) {
  std::map<std::pair<int64_t, std::string>, std::vector<double>> losses;
  for (const CellRecord* record : records) {
    for (const LengthLoss& length : record->lengths) {
      losses[{length.length, length.windows}].push_back(length.loss);
    }
  }
  std::vector<LengthPoint> out;
  for (const auto& [key, values] : losses) {
    out.push_back({arm, key.second, key.first, static_cast<int64_t>(values.size()), mean(values),
                   sample_sd(values)});
  }
  return out;
}

double ratio(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : kUnknown;
}

// Counts over all seeds; the worst depth bucket is the worst of the pooled ones.
std::vector<NeedlePoint> needle_points(const std::string& arm, const Records& records) {
  std::map<int64_t, NeedleCount> sums;
  for (const CellRecord* record : records) {
    for (const NeedleCount& count : record->needle) {
      NeedleCount& sum = sums[count.distractors];
      sum.chance = count.chance;
      sum.n += count.n;
      sum.correct += count.correct;
      sum.control_n += count.control_n;
      sum.control_correct += count.control_correct;
      sum.bucket_n.resize(count.bucket_n.size());
      sum.bucket_correct.resize(count.bucket_n.size());
      for (size_t i = 0; i < count.bucket_n.size(); ++i) {
        sum.bucket_n[i] += count.bucket_n[i];
        sum.bucket_correct[i] += count.bucket_correct[i];
      }
    }
  }
  std::vector<NeedlePoint> out;
  for (const auto& [distractors, sum] : sums) {
    NeedlePoint point;
    point.arm = arm;
    point.distractors = distractors;
    point.n = sum.n;
    point.accuracy = ratio(sum.correct, sum.n);
    point.chance = sum.chance;
    const auto [low, high] = evaluate::wilson95(sum.correct, sum.n);
    point.ci95 = {low, high};
    point.no_evidence_accuracy = ratio(sum.control_correct, sum.control_n);
    for (size_t i = 0; i < sum.bucket_n.size(); ++i) {
      const double share = ratio(sum.bucket_correct[i], sum.bucket_n[i]);
      point.worst_bucket_accuracy = std::fmin(point.worst_bucket_accuracy, share);
    }
    out.push_back(point);
  }
  return out;
}

FrequencyUse frequency_use(const std::string& arm, const CellRecord& record) {
  FrequencyUse out;
  out.arm = arm;
  out.seed = record.seed;
  out.initial = record.frequencies.front().inv_freq;
  out.final = record.frequencies.back().inv_freq;
  out.bands = record.bands;
  out.learned = record.learned();
  for (const size_t i : thinned(record.frequencies.size(), kTrajectoryPoints)) {
    TrajectoryPoint point{record.frequencies[i].step, {}};
    for (const double inv_freq : record.frequencies[i].inv_freq) {
      point.wavelength.push_back(position::wavelength_tokens(inv_freq));
    }
    out.trajectory.push_back(std::move(point));
  }
  for (size_t m = 0; m < out.initial.size(); ++m) {
    const double turns = out.initial[m] * static_cast<double>(record.manifest.train_length) /
                         (2.0 * std::numbers::pi);
    if (turns < kSuppressedTurns) {
      out.suppressed_initial.push_back(static_cast<int64_t>(m));
    }
  }
  return out;
}

BandConsistency consistency_of(const std::string& arm, const Records& records) {
  BandConsistency out;
  out.arm = arm;
  std::map<int64_t, int64_t> counts;
  std::vector<double> wavelengths, ratios;
  for (const CellRecord* record : records) {
    if (record->bands.has_dominant) {
      ++counts[record->bands.dominant.band];
      wavelengths.push_back(record->bands.dominant.wavelength);
      ratios.push_back(record->bands.dominant.over_train_length);
    }
  }
  out.n_runs = static_cast<int64_t>(wavelengths.size());
  if (out.n_runs == 0) {
    return out;
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& x, const auto& y) { return x.second < y.second; });
  out.band = most->first;
  out.same_band = ratio(most->second, out.n_runs);
  const double center = median(wavelengths);
  const auto near = std::count_if(wavelengths.begin(), wavelengths.end(), [center](double value) {
    return std::abs(value - center) <= 0.1 * center;
  });
  out.near_median = ratio(near, out.n_runs);
  out.over_train_length = median(ratios);
  return out;
}

ArmLosses losses_of(const std::string& name, const Records& records) {
  ArmLosses out{name, {}};
  for (const CellRecord* record : records) {
    out.runs.push_back({record->seed, record->val_loss, record->blocks});
  }
  return out;
}

Settings settings_of(const StudyCells& study) {
  const train::RunManifest& m = study.records.front().manifest;
  model::ModelConfig config = m.model;
  Settings out;
  out.tokens = m.tokens;
  out.length = m.train_length;
  out.batch = m.batch;
  out.params = m.params - m.alpha_params;
  out.seeds = study.seeds;
  out.data = m.data.data;
  out.corpus_hash = m.corpus_hash;
  out.tokenizer = m.tokenizer_kind;
  out.model_json = fields_to_json(fields_of(config));
  return out;
}

std::vector<CellLine> cell_lines(const StudyCells& study) {
  std::vector<CellLine> out;
  for (size_t i = 0; i < study.plans.size(); ++i) {
    const CellPlan& plan = study.plans[i];
    const CellResult& result = study.results[i];
    out.push_back({study.arms[plan.arm].name, status_name(result.status),
                   std::filesystem::relative(plan.dir, study.out).generic_string(), result.error,
                   plan.seed, result.seconds});
  }
  return out;
}

void check_fair(const StudyCells& study) {
  std::vector<std::string> names;
  for (const Arm& arm : study.arms) {
    names.push_back(arm.name);
  }
  std::set<std::pair<size_t, int64_t>> failed;
  for (size_t i = 0; i < study.plans.size(); ++i) {
    if (study.results[i].status == CellStatus::Failed) {
      failed.emplace(study.plans[i].arm, study.plans[i].seed);
    }
  }
  check_comparable(study.records, names, failed);
}

// Against the first arm: what part of each learned arm's gain do the others have?
void add_gain_shares(const std::vector<ArmLosses>& losses, const std::vector<bool>& learned,
                     Comparison& out) {
  for (size_t best = 1; best < losses.size(); ++best) {
    for (size_t other = 1; other < losses.size() && learned[best]; ++other) {
      if (other != best) {
        out.gain_shares.push_back(share_of_gain(losses[0], losses[best], losses[other]));
      }
    }
  }
}

}  // namespace

Comparison summarize(const StudyCells& study) {
  Comparison out;
  out.cells = cell_lines(study);
  if (study.records.empty()) {
    throw Error(Code::CheckFailed, "no cell is complete: ",
                out.cells.empty() ? "none was asked for" : out.cells.front().error);
  }
  check_fair(study);
  out.settings = settings_of(study);
  std::vector<ArmLosses> losses;
  std::vector<bool> learned;
  for (size_t i = 0; i < study.arms.size(); ++i) {
    const std::string& name = study.arms[i].name;
    const Records records = of_arm(study, i);
    if (records.empty()) {
      continue;
    }
    out.arms.push_back(summarize_arm(study.arms[i], records));
    losses.push_back(losses_of(name, records));
    learned.push_back(records.front()->learned());
    for (LengthPoint& point : length_points(name, records)) {
      out.length_curve.push_back(std::move(point));
    }
    for (NeedlePoint& point : needle_points(name, records)) {
      out.needle.push_back(std::move(point));
    }
    for (const CellRecord* record : records) {
      if (!record->frequencies.empty() && !record->frequencies.front().inv_freq.empty()) {
        out.frequencies.push_back(frequency_use(name, *record));
      }
    }
    if (learned.back()) {
      out.consistency.push_back(consistency_of(name, records));
    }
  }
  const bool have_reference = out.arms.front().name == study.arms.front().name;
  if (have_reference) {
    out.pairs = compare_pairs(losses);
    add_gain_shares(losses, learned, out);
  }
  return out;
}

const ArmSummary* Comparison::find_arm(const std::string& name) const {
  const auto found =
      std::find_if(arms.begin(), arms.end(), [&](const ArmSummary& a) { return a.name == name; });
  return found == arms.end() ? nullptr : &*found;
}

const PairResult* Comparison::find_pair(const std::string& arm) const {
  const auto found =
      std::find_if(pairs.begin(), pairs.end(), [&](const PairResult& p) { return p.b == arm; });
  return found == pairs.end() ? nullptr : &*found;
}

bool Comparison::any_failed() const {
  return std::any_of(cells.begin(), cells.end(),
                     [](const CellLine& cell) { return cell.status == "failed"; });
}

}  // namespace gyre::study
