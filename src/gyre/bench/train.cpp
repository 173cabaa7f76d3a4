// `gyre bench train`: whole training steps of ours and PyTorch's in turn, then peak memory of each
// in a process of its own.
#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>

#include "gyre/base/error.h"
#include "gyre/base/progress.h"
#include "gyre/bench/bench.h"
#include "gyre/bench/commands.h"
#include "gyre/bench/interleave.h"
#include "gyre/bench/least_memory.h"
#include "gyre/bench/machine.h"
#include "gyre/bench/our_training.h"
#include "gyre/bench/peer.h"
#include "gyre/bench/profile.h"
#include "gyre/train/machine.h"

namespace gyre::bench {
namespace {

/// One kind of step: who runs it, in which type, with which frequencies.
struct Kind {
  std::string mode;  // "" = ours, else PyTorch's mode
  std::string dtype;
  bool learned = false;
  bool ours() const { return mode.empty(); }
  std::string who() const {
    return ours() ? "ours" : mode.ends_with("-compile") ? "compile" : "eager";
  }
  std::string rope() const { return learned ? "learned" : "fixed"; }
};

std::string dtype_of(const std::string& mode) {
  return mode.substr(0, mode.find('-'));
}

at::ScalarType type_of(const std::string& dtype) {
  return dtype == "bf16" ? at::kBFloat16 : at::kFloat;
}

class TrainBench {
 public:
  TrainBench(const TrainShape& shape, const TrainRun& run, const Contest& contest)
      : shape_(shape),
        run_(run),
        contest_(contest),
        progress_("bench train", n_steps(), "step"),
        model_(model_of(shape)) {}

  Record result();

 private:
  int64_t n_steps() const {
    const int64_t n_ropes = run_.rope == Rope::Both ? 2 : 1;
    const auto n_modes = static_cast<int64_t>(run_.modes.size());
    const int64_t n_sides = n_ropes * (1 + (contest_.train_peer.empty() ? 0 : n_modes));
    return n_sides * (run_.steps + 1) + 2 * run_.pairs + 2;
  }
  void add_ours();
  void add_peers();
  void prepare(const std::string& note);
  void measure_rounds();
  void measure_pairs();
  const Side* find(const std::string& who, const std::string& dtype, bool learned) const;
  double tokens() const { return static_cast<double>(shape_.batch * shape_.length); }
  double gflops(double ms) const {
    return model::train_flops_per_token(model_, shape_.length) * tokens() / ms / 1e6;
  }
  void throughput_rows(Record& record) const;
  void add_throughput(Record& record, const std::string& who, const Side& ours,
                      const std::string& dtype, bool learned) const;
  void rope_rows(Record& record) const;
  void memory_rows(Record& record);
  void totals(Record& record) const;
  void profile_ours(Record& record);

  TrainShape shape_;
  TrainRun run_;
  Contest contest_;
  Progress progress_;
  model::ModelConfig model_;
  std::vector<std::string> dtypes_;
  std::vector<bool> ropes_;  // learned or not, the primary one first
  std::deque<OurTraining> ours_;
  std::unique_ptr<Server> peer_;
  std::string peer_name_;
  std::vector<Kind> kinds_;  // of sides_, same order
  std::vector<Side> sides_;
  std::vector<MatmulPeak> peaks_;  // of dtypes_, same order
  std::vector<double> learned_ms_, fixed_ms_;
  std::vector<std::string> notes_;
  int64_t done_ = 0;
};

void TrainBench::prepare(const std::string& note) {
  progress_.update(done_++, note);
}

void TrainBench::add_ours() {
  for (const std::string& mode : run_.modes) {
    const std::string dtype = dtype_of(mode);
    if (std::find(dtypes_.begin(), dtypes_.end(), dtype) == dtypes_.end()) {
      dtypes_.push_back(dtype);
      peaks_.emplace_back(type_of(dtype), at::Device(contest_.device), contest_.quick);
    }
  }
  ropes_ = run_.rope == Rope::Both ? std::vector<bool>{true, false}
                                   : std::vector<bool>{run_.rope == Rope::Learned};
  for (const std::string& dtype : dtypes_) {
    for (const bool learned : ropes_) {
      const Kind kind{"", dtype, learned};
      prepare("ours, warm-up");
      OurTraining& ours =
          ours_.emplace_back(shape_, type_of(dtype), learned, at::Device(contest_.device));
      kinds_.push_back(kind);
      sides_.push_back(
          {"ours " + dtype + " " + kind.rope(), [&ours] { return ours.timed_ms(); }, {}});
    }
  }
}

void TrainBench::add_peers() {
  if (contest_.train_peer.empty()) {
    return;
  }
  peer_ = std::make_unique<Server>(train_command(contest_.train_peer, shape_, contest_),
                                   contest_.limits);
  peer_name_ = peer_->name();
  for (const std::string& mode : run_.modes) {
    for (const bool learned : ropes_) {
      const Kind kind{mode, dtype_of(mode), learned};
      const std::string words = mode + " " + kind.rope();
      prepare("PyTorch " + words +
              (kind.who() == "compile" ? ", compiling (half a minute or more)" : ", warm-up"));
      try {
        peer_->step_ms(words);
      } catch (const Interrupted&) {
        throw;
      } catch (const TimedOut&) {
        throw Error(Code::Remote, "PyTorch's first step of ", words, " took over ",
                    contest_.limits.start_limit_s,
                    " s; raise --start-limit-s or leave out the mode", " with --modes");
      } catch (const Error& fault) {
        if (kind.who() == "eager") {
          throw;
        }
        notes_.push_back("left out: PyTorch " + words + ": " + fault.what());
        continue;
      }
      kinds_.push_back(kind);
      sides_.push_back({"PyTorch " + words, [this, words] { return peer_->step_ms(words); }, {}});
    }
  }
}

void TrainBench::measure_rounds() {
  for (int64_t round = 0; round < run_.steps; ++round) {
    for (MatmulPeak& peak : peaks_) {
      peak.measure();
    }
    interleave(sides_, 1, [this](const Side& side) { progress_.update(done_++, side.name); });
  }
}

/// More pairs than rounds, because steps of ours are short and their ratio is wanted to a percent.
void TrainBench::measure_pairs() {
  if (ropes_.size() < 2) {
    return;
  }
  std::vector<Side> pair = {{sides_[0].name, sides_[0].step_ms, {}},
                            {sides_[1].name, sides_[1].step_ms, {}}};
  for (int64_t i = 0; i < run_.pairs; ++i) {
    if (i % 2 == 1) {
      std::swap(pair[0], pair[1]);
    }
    interleave(pair, 1, [this](const Side& side) { progress_.update(done_++, side.name); });
    if (i % 2 == 1) {
      std::swap(pair[0], pair[1]);
    }
  }
  learned_ms_ = pair[0].ms;
  fixed_ms_ = pair[1].ms;
  learned_ms_.insert(learned_ms_.end(), sides_[0].ms.begin(), sides_[0].ms.end());
  fixed_ms_.insert(fixed_ms_.end(), sides_[1].ms.begin(), sides_[1].ms.end());
}

const Side* TrainBench::find(const std::string& who, const std::string& dtype, bool learned) const {
  for (size_t i = 0; i < kinds_.size(); ++i) {
    if (kinds_[i].who() == who && kinds_[i].dtype == dtype && kinds_[i].learned == learned) {
      return &sides_[i];
    }
  }
  return nullptr;
}

void TrainBench::add_throughput(Record& record, const std::string& who, const Side& ours,
                                const std::string& dtype, bool learned) const {
  const Side* peer = find(who, dtype, learned);
  const std::string name =
      str("training step, ", dtype, ", ", learned ? "learned" : "fixed", " frequencies");
  Row row = time_row(name, peer == nullptr ? "" : who, ours.ms,
                     peer == nullptr ? std::vector<double>{} : peer->ms);
  row.series = dtype + (learned ? " learned" : " fixed");
  row.x = kUnknown;
  record.rows.push_back(row);
  Row rate = row;
  rate.ours_samples.clear();
  rate.peer_samples.clear();
  rate.unit = "tokens/s";
  rate.ours = 1e3 * tokens() / row.ours;
  rate.peer = 1e3 * tokens() / row.peer;
  record.rows.push_back(rate);
  const auto place = std::find(dtypes_.begin(), dtypes_.end(), dtype) - dtypes_.begin();
  const double peak = peaks_[static_cast<size_t>(place)].gflops();
  Row share = rate;
  share.what = "share of the matmul peak, " + name;
  share.unit = "%";
  share.ours = 100.0 * gflops(row.ours) / peak;
  share.peer = 100.0 * gflops(row.peer) / peak;
  record.rows.push_back(std::move(share));
}

void TrainBench::throughput_rows(Record& record) const {
  for (const std::string& dtype : dtypes_) {
    for (const bool learned : ropes_) {
      const Side& ours = *find("ours", dtype, learned);
      bool any = false;
      for (const char* who : {"eager", "compile"}) {
        if (find(who, dtype, learned) != nullptr) {
          add_throughput(record, who, ours, dtype, learned);
          any = true;
        }
      }
      if (!any) {
        add_throughput(record, "", ours, dtype, learned);
      }
    }
  }
}

/// What learning the frequencies costs: ours, and PyTorch's plain autograd form beside it.
void TrainBench::rope_rows(Record& record) const {
  if (ropes_.size() < 2) {
    return;
  }
  const std::string& dtype = dtypes_.front();
  const Ratio ours = median_of_ratios(learned_ms_, fixed_ms_);
  bool any = false;
  for (const char* who : {"eager", "compile", ""}) {
    const Side* learned = find(who, dtype, true);
    const Side* fixed = find(who, dtype, false);
    if ((learned == nullptr || fixed == nullptr) && (any || *who != '\0')) {
      continue;
    }
    any = true;
    Row row;
    row.what = "step time, learned over fixed frequencies, " + dtype;
    row.unit = "x";
    row.ours = ours.value;
    row.ratio_is = "ours over the peer's";
    row.note = ours.ci95.known() ? str("ours ", learned_ms_.size(), " pairs, 95 % ",
                                       std::round(ours.ci95.lo * 1e4) / 1e4, " to ",
                                       std::round(ours.ci95.hi * 1e4) / 1e4)
                                 : "";
    row.ours_samples = {};
    if (learned != nullptr && fixed != nullptr) {
      row.peer_name = str(who, ", autograd through cos and sin");
      row.peer = median_of_ratios(learned->ms, fixed->ms).value;
      row.ratio = row.ours / row.peer;
    }
    record.rows.push_back(std::move(row));
  }
}

void TrainBench::memory_rows(Record& record) {
  constexpr int64_t kSteps = 2;
  const bool learned = ropes_.front();
  const std::string& dtype = dtypes_.front();
  const std::string words = dtype + (learned ? " learned" : " fixed");
  if (contest_.device != "cpu") {
    record.notes.emplace_back("peak memory is measured on the CPU only");
    return;
  }
  prepare("peak memory, ours");
  const Peak ours = peak_of(train_command(contest_.own_training, shape_, contest_), words, kSteps,
                            contest_.limits);
  prepare("peak memory, PyTorch");
  const Peak eager =
      peak_of(train_command(contest_.train_peer, shape_, contest_), words, kSteps, contest_.limits);
  record.rows.push_back(memory_row("peak memory of the training process, " + words,
                                   contest_.train_peer.empty() ? "" : "eager", ours, eager));
  record.totals.emplace_back("peak_rss_mib", ours.mib);
  record.totals.emplace_back("peak_rss_mib_peer", eager.mib);
}

void TrainBench::totals(Record& record) const {
  const double ms = study::median(sides_.front().ms);
  const double peak = peaks_.front().gflops();
  record.totals = {{"params", static_cast<double>(model::count_parameters(model_))},
                   {"tokens_per_s", 1e3 * tokens() / ms},
                   {"step_ms", ms},
                   {"gflops", gflops(ms)},
                   {"peak_gflops", peak},
                   {"mfu", gflops(ms) / peak}};
  if (ropes_.size() > 1) {
    const Ratio ratio = median_of_ratios(learned_ms_, fixed_ms_);
    record.totals.emplace_back("learned_over_fixed", ratio.value);
    record.totals.emplace_back("learned_over_fixed_lo", ratio.ci95.lo);
    record.totals.emplace_back("learned_over_fixed_hi", ratio.ci95.hi);
  }
}

void TrainBench::profile_ours(Record& record) {
  constexpr int64_t kSteps = 3;
  prepare("profile");
  record.machine.gbytes_per_s = measure_bandwidth(at::Device(contest_.device), contest_.quick);
  OurTraining& ours = ours_.front();
  record.profile = profile([&ours] { ours.step(); }, contest_.quick ? 1 : kSteps,
                           peaks_.front().gflops(), record.machine.gbytes_per_s);
}

Record TrainBench::result() {
  add_ours();
  add_peers();
  measure_rounds();
  measure_pairs();
  peer_.reset();
  Record record;
  record.what = "train";
  record.title = str("Training step: width ", shape_.width, ", ", shape_.layers,
                     " layers, heads of ", shape_.head_dim, ", hidden ", shape_.hidden,
                     ", vocabulary ", shape_.vocab, ", batch ", shape_.batch, " x ", shape_.length);
  record.machine = describe_machine();
  set_peer(record, peer_name_);
  totals(record);
  throughput_rows(record);
  rope_rows(record);
  if (run_.profile) {
    profile_ours(record);
  }
  ours_.clear();
  memory_rows(record);
  record.notes.insert(record.notes.end(), notes_.begin(), notes_.end());
  return record;
}

}  // namespace

Record run_train(const TrainShape& shape, const TrainRun& run, const Contest& contest) {
  check(shape);
  check(run);
  check(contest.limits);
  check_fits(shape, contest);
  train::keep_freed_memory();
  return TrainBench(shape, run, contest).result();
}

}  // namespace gyre::bench
