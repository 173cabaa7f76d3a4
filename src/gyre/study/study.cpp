#include "gyre/study/study.h"

#include <ATen/Parallel.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <thread>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/log.h"
#include "gyre/base/progress.h"
#include "gyre/position/scheme.h"
#include "gyre/study/format.h"
#include "gyre/study/overhead.h"
#include "gyre/train/machine.h"
#include "gyre/train/revision.h"

namespace gyre::study {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// Tokens of one cell, in whole steps.
int64_t cell_tokens(const StudySetup& setup) {
  return train::n_steps(setup.train) * setup.train.batch * setup.train.length;
}

struct Share {
  int64_t jobs, threads;  // threads per job
};

Share share_cores(const StudySetup& setup) {
  const auto cores = static_cast<int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  const int64_t threads = setup.threads > 0 ? setup.threads : cores;
  const auto n_cells = static_cast<int64_t>(setup.arms.size() * setup.seeds.size());
  const int64_t at_once = setup.device.is_cpu() ? threads : 1;
  const int64_t jobs = std::min(setup.jobs > 0 ? setup.jobs : at_once, n_cells);
  return {jobs, std::max<int64_t>(1, threads / jobs)};
}

std::vector<std::string> as_args(const SharedSettings& flags) {
  std::vector<std::string> args;
  for (const auto& [name, value] : flags) {
    if (value == "true" || value == "false") {
      args.push_back((value == "true" ? "--" : "--no-") + name);
    } else {
      args.push_back(str("--", name, "=", value));
    }
  }
  return args;
}

model::ModelConfig resolved_model(const StudySetup& setup, const data::Dataset& dataset) {
  model::ModelConfig config = setup.model;
  config.vocab = config.vocab == 0 ? dataset.vocab : config.vocab;
  return config;
}

position::PositionPlan plan_of(const StudySetup& setup, const Arm& arm,
                               const model::ModelConfig& config) {
  return position::make_plan(arm.scheme, arm.mask.empty() ? setup.mask : arm.mask,
                             model::plan_request(config, setup.train.length));
}

// Everything that can be refused before hours of training is refused here.
void check_setup(const StudySetup& setup) {
  model::ModelConfig config = setup.model;
  config.vocab = std::max<int64_t>(config.vocab, 2);
  model::check(config);
  train::check(setup.train);
  for (const Arm& arm : setup.arms) {
    if (arm.source < 0) {
      plan_of(setup, arm, config);
    } else {
      position::make_scheme(arm.scheme);  // its run does not exist yet
      position::parse_masks(arm.mask.empty() ? setup.mask : arm.mask, config.layers);
    }
  }
}

void forecast(const StudySetup& setup, const std::vector<CellPlan>& plans,
              const data::Dataset& dataset, const Share& share) {
  CellResult ignored;
  const auto waiting = std::count_if(plans.begin(), plans.end(), [&](const CellPlan& plan) {
    return !read_finished(plan, ignored);
  });
  const std::string what =
      str(plans.size(), " cells (", setup.arms.size(), " arms x ", setup.seeds.size(), " seeds), ",
          with_commas(cell_tokens(setup)), " tokens each, ", share.jobs, " at a time");
  if (waiting == 0) {
    log(Level::Info, what, ": all complete in ", setup.out.string());
    return;
  }
  const model::ModelConfig config = resolved_model(setup, dataset);
  const auto first = std::find_if(setup.arms.begin(), setup.arms.end(),
                                  [](const Arm& arm) { return arm.source < 0; });
  at::set_num_threads(static_cast<int>(share.threads));
  const double per_token = seconds_per_token({config, plan_of(setup, *first, config), setup.device},
                                             dataset, setup.train);
  const double rounds = std::ceil(static_cast<double>(waiting) / static_cast<double>(share.jobs));
  // Cells that run side by side share caches and memory: 1.25 measured for two on two cores.
  const double crowding = share.jobs > 1 ? 1.25 : 1.0;
  const double seconds =
      crowding * rounds * per_token * (static_cast<double>(setup.train.tokens) + setup.eval_tokens);
  log(Level::Info, what,
      waiting < static_cast<int64_t>(plans.size())
          ? str(", ", plans.size() - static_cast<size_t>(waiting), " of them complete")
          : "",
      ": about ", format_duration(seconds));
}

std::vector<CellResult> run_cells(const StudySetup& setup, const std::vector<CellPlan>& plans,
                                  const Share& share) {
  CellRunner runner;
  runner.program = setup.program;
  runner.jobs = share.jobs;
  runner.threads = share.threads;
  runner.tokens = cell_tokens(setup);
  Progress bar("compare", runner.tokens * static_cast<int64_t>(plans.size()), "tokens");
  runner.progress = [&](int64_t tokens, const std::string& note) { bar.update(tokens, note); };
  size_t n_ended = 0;
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  runner.finished = [&](const CellPlan& plan, const CellResult& result) {
    ++n_ended;
    const bool failed = result.status == CellStatus::Failed;
    if (!terminal || failed) {
      log(failed ? Level::Warning : Level::Info, "cell ", n_ended, " of ", plans.size(), ": ",
          plan.label, " ", status_name(result.status),
          failed ? ": " + result.error : " (" + format_duration(result.seconds) + ")");
    }
  };
  return runner.run(plans);
}

// A cell whose files cannot be read counts as failed; the others are still worth comparing.
void read_records(StudyCells& study) {
  for (size_t i = 0; i < study.plans.size(); ++i) {
    CellResult& result = study.results[i];
    if (result.status == CellStatus::Failed) {
      continue;
    }
    try {
      const CellPlan& plan = study.plans[i];
      study.records.push_back(read_cell(plan.arm, plan.seed, plan.dir));
      study.records.back().peak_rss_mib = result.peak_rss_mib;
    } catch (const Error& error) {
      result.status = CellStatus::Failed;
      result.error = error.what();
      log(Level::Warning, study.plans[i].label, " cannot be read: ", error.what());
    }
  }
}

const CellRecord* record_of(const StudyCells& study, const std::string& arm) {
  const auto found =
      std::find_if(study.records.begin(), study.records.end(),
                   [&](const CellRecord& r) { return study.arms[r.arm].name == arm; });
  return found == study.records.end() ? nullptr : &*found;
}

std::vector<TableCell> log_memory(const std::vector<CellRecord>& records) {
  std::vector<TableCell> cells;
  for (const CellRecord& record : records) {
    cells.push_back({static_cast<int64_t>(record.arm), record.seed, std::log(record.peak_rss_mib)});
  }
  return cells;
}

void add_overhead(const StudySetup& setup, const StudyCells& study, const data::Dataset& dataset,
                  const Share& share, Comparison& comparison) {
  const ArmSummary& first = comparison.arms.front();
  for (const ArmSummary& arm : comparison.arms) {
    const CellRecord* record = record_of(study, arm.name);
    if (!record->learned() || arm.name == first.name || setup.overhead_seconds <= 0.0) {
      continue;
    }
    log(Level::Info, "timing steps of ", arm.name, " against ", first.name);
    at::set_num_threads(static_cast<int>(share.threads));
    const train::RunManifest& a = record_of(study, first.name)->manifest;
    const train::RunManifest& b = record->manifest;
    const StepRatio time =
        time_steps({a.model, a.plan, setup.device}, {b.model, b.plan, setup.device}, dataset,
                   setup.train, setup.overhead_seconds);
    const MemoryRatio memory = memory_ratio(log_memory(study.records),
                                            static_cast<int64_t>(record_of(study, first.name)->arm),
                                            static_cast<int64_t>(record->arm));
    comparison.overhead.push_back({arm.name, first.name, b.params - a.params, time.n_pairs,
                                   time.ratio, time.ci95, memory.ratio, memory.ci95,
                                   memory.n_seeds});
  }
}

std::string date_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

}  // namespace

std::vector<CellPlan> plan_cells(const StudySetup& setup) {
  std::vector<CellPlan> plans;
  const std::vector<size_t> order = run_order(setup.arms);
  for (const int64_t seed : setup.seeds) {
    const size_t row = plans.size();  // of this seed's first cell
    for (const size_t i : order) {
      const Arm& arm = setup.arms[i];
      CellPlan plan;
      plan.arm = i;
      plan.seed = seed;
      plan.label = str(arm.name, ", seed ", seed);
      plan.dir = setup.out / "cells" / cell_name(arm, seed);
      std::string scheme = arm.scheme;
      if (arm.source >= 0) {
        const auto source = std::find(order.begin(), order.end(), static_cast<size_t>(arm.source));
        plan.after = static_cast<int64_t>(row) + (source - order.begin());
        scheme = resolve_source(arm, plans[static_cast<size_t>(plan.after)].dir.string());
      }
      plan.train = {"train", "--out=" + plan.dir.string(), "--scheme=" + scheme,
                    "--mask=" + (arm.mask.empty() ? setup.mask : arm.mask), str("--seed=", seed)};
      const std::vector<std::string> train = as_args(setup.train_flags);
      plan.train.insert(plan.train.end(), train.begin(), train.end());
      plan.eval = {"eval", plan.dir.string()};
      const std::vector<std::string> eval = as_args(setup.eval_flags);
      plan.eval.insert(plan.eval.end(), eval.begin(), eval.end());
      if (!setup.device.is_cpu()) {
        plan.train.push_back("--device=" + setup.device.str());
        plan.eval.push_back("--device=" + setup.device.str());
      }
      plans.push_back(std::move(plan));
    }
  }
  return plans;
}

Comparison run_study(const StudySetup& setup) {
  const auto start = Clock::now();
  check_setup(setup);
  SharedSettings shared = setup.train_flags;
  shared["mask"] = setup.mask;
  const StudyFolder folder(setup.out, shared, setup.force);
  // Opened here first: the shards are prepared once, and a bad path is one line before any cell.
  const data::Dataset dataset = data::open_dataset(setup.data);
  const Share share = share_cores(setup);
  StudyCells study{setup.arms, setup.seeds, plan_cells(setup), {}, {}, setup.out};
  forecast(setup, study.plans, dataset, share);
  study.results = run_cells(setup, study.plans, share);
  read_records(study);
  Comparison comparison = summarize(study);
  add_overhead(setup, study, dataset, share, comparison);
  comparison.title = setup.title;
  comparison.command = setup.command;
  comparison.build_revision = train::build_revision();
  comparison.machine = train::machine_line(setup.device);
  comparison.date = date_now();
  add_words(comparison);
  add_quoted(comparison);
  comparison.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  write_file_atomic(setup.out / "compare.json", to_json(comparison) + "\n");
  return comparison;
}

}  // namespace gyre::study
