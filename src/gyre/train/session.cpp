#include "gyre/train/session.h"

#include <ATen/Parallel.h>

#include <chrono>
#include <cmath>
#include <cstdio>

#include "gyre/base/error.h"
#include "gyre/base/log.h"
#include "gyre/position/scheme.h"
#include "gyre/train/machine.h"
#include "gyre/train/revision.h"
#include "gyre/train/schedule.h"
#include "gyre/train/train_step.h"
#include "gyre/train/validation.h"

namespace gyre::train {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

model::ModelConfig resolve(model::ModelConfig config, const data::Dataset& dataset) {
  if (config.vocab == 0) {
    config.vocab = dataset.vocab;
  }
  if (config.vocab < dataset.vocab) {
    throw Error(Code::Usage, "--vocab ", config.vocab, " is smaller than the tokenizer's ",
                dataset.vocab, "; leave it out or raise it");
  }
  model::check(config);
  return config;
}

position::PositionPlan make_plan(const RunSetup& setup, const model::ModelConfig& config) {
  position::PositionPlan plan = position::make_plan(
      setup.scheme, setup.mask, model::plan_request(config, setup.train.length));
  if (plan.learning.sharing != position::Sharing::None) {
    plan.learning.lr = setup.train.alpha_lr >= 0 ? setup.train.alpha_lr : plan.learning.lr;
    plan.learning.clip = setup.train.alpha_clip >= 0 ? setup.train.alpha_clip : plan.learning.clip;
  }
  return plan;
}

at::ScalarType compute_type(const TrainOptions& options) {
  return options.dtype == ComputeDtype::Bf16 ? at::kBFloat16 : at::kFloat;
}

RunManifest make_manifest(const RunSetup& setup, const data::Dataset& dataset,
                          const model::Transformer& model) {
  RunManifest m;
  m.train_length = setup.train.length;
  m.scheme = setup.scheme;
  m.mask = setup.mask;
  m.plan = model.plan();
  m.model = model.config();
  m.params = model.n_parameters();
  m.alpha_params = model.n_alpha();
  m.tokenizer_kind = dataset.tokenizer ? dataset.tokenizer->kind() : "none";
  m.tokenizer_hash = dataset.tokenizer_hash;
  m.corpus_hash = dataset.corpus_hash;
  m.data = setup.data;
  m.truncation_policy =
      "none: documents are joined by the end-of-document token and cut into windows of T + 1";
  m.seed = setup.train.seed;
  m.batch = setup.train.batch;
  m.tokens = n_steps(setup.train) * setup.train.batch * setup.train.length;
  m.build_revision = build_revision();
  m.machine = machine_line(setup.device);
  m.threads = at::get_num_threads();
  m.dtype = compute_type(setup.train) == at::kBFloat16 ? "bf16" : "fp32";
  return m;
}

}  // namespace

Session::Session(const RunSetup& setup)
    : setup_(setup),
      dataset_(data::open_dataset(setup.data)),
      config_(resolve(setup.model, dataset_)),
      model_(config_, make_plan(setup, config_), setup.device),
      optimizer_(model_, setup.train),
      batches_(dataset_.train, dataset_.corpus_hash, static_cast<uint64_t>(setup.train.seed),
               setup.train.batch, setup.train.length),
      guard_(setup.train.spike),
      manifest_(make_manifest(setup, dataset_, model_)),
      n_steps_(n_steps(setup.train)) {
  model_.set_compute_dtype(compute_type(setup.train));
  peak_flops_ = measure_matmul_peak(compute_type(setup.train), setup.device);
}

void Session::start() {
  const fs::path checkpoint = last_checkpoint(setup_.out);
  if (checkpoint.empty()) {
    model_.init(static_cast<uint64_t>(setup_.train.seed));
  } else {
    restore(checkpoint);
  }
  prepare_files();
}

void Session::restore(const fs::path& checkpoint) {
  const CheckpointState state = read_state(checkpoint);
  RunManifest mine = manifest_;
  mine.build_revision = state.manifest.build_revision;
  mine.machine = state.manifest.machine;
  if (mine.threads != state.manifest.threads) {
    log(Level::Warning, setup_.out.string(), ": started with ", state.manifest.threads,
        " threads, resuming with ", mine.threads, "; losses may differ in the last bits");
    mine.threads = state.manifest.threads;
  }
  check_same_manifest(state.manifest, mine, setup_.out.string());
  manifest_ = state.manifest;
  load_weights(checkpoint, model_);
  load_optimizer(checkpoint, state.step, optimizer_);
  guard_.restore(state.loss_mean, state.loss_count);
  step_ = state.step;
  train_seconds_ = state.train_seconds;
  log(Level::Info, "resuming ", setup_.out.string(), " at step ", step_, " of ", n_steps_);
}

void Session::prepare_files() {
  fs::create_directories(setup_.out);
  write_config(setup_);
  write_file_atomic(setup_.out / "manifest.json", manifest_to_json(manifest_) + "\n");
  truncate_lines(setup_.out / "metrics.jsonl", step_);
  truncate_lines(setup_.out / "frequencies.jsonl", step_);
  if (step_ == 0) {
    fs::remove(setup_.out / "metrics.jsonl");
    fs::remove(setup_.out / "frequencies.jsonl");
    LineWriter(setup_.out / "frequencies.jsonl").write(frequency_line(0, model_));
  }
}

Metric Session::train_step() {
  const auto start = Clock::now();
  Metric metric;
  metric.lr = setup_.train.lr * learning_rate_share(setup_.train, step_, n_steps_);
  metric.step = step_ + 1;
  metric.tokens = metric.step * setup_.train.batch * setup_.train.length;
  metric.loss = accumulate_gradient(model_, batches_.at(step_), setup_.train.accumulate);
  std::string notice = guard_.notice(metric.loss);
  metric.norms = optimizer_.step(metric.lr / setup_.train.lr);
  if (notice.empty() && !(std::isfinite(metric.norms.grad) && std::isfinite(metric.norms.alpha))) {
    notice = "a gradient is not finite";
  }
  if (!notice.empty()) {
    fail(metric, notice);
  }
  ++step_;
  wait_for(setup_.device);
  const double seconds = seconds_since(start);
  train_seconds_ += seconds;
  metric.step_ms = 1e3 * seconds;
  metric.tokens_per_s = static_cast<double>(setup_.train.batch * setup_.train.length) / seconds;
  return metric;
}

void Session::log_metric(const Metric& metric) {
  LineWriter(setup_.out / "metrics.jsonl").write(metric_line(metric));
  if (model_.has_parameter("alpha") || step_ == n_steps_) {
    LineWriter(setup_.out / "frequencies.jsonl").write(frequency_line(step_, model_));
  }
}

void Session::save() const {
  save_checkpoint(setup_.out,
                  {.step = step_,
                   .seed = setup_.train.seed,
                   .train_seconds = train_seconds_,
                   .loss_mean = guard_.mean(),
                   .loss_count = guard_.count(),
                   .manifest = manifest_},
                  model_, optimizer_);
}

void Session::fail(const Metric& metric, const std::string& notice) {
  const fs::path file = write_failure(setup_.out, metric, notice, guard_.mean());
  throw Error(Code::CheckFailed, setup_.out.string(), ": stopped at step ", metric.step, ": ",
              notice, " (loss ", metric.loss, ", running mean ", guard_.mean(), ", gradient norm ",
              metric.norms.grad, "); see ", file.string(), "; try a lower --lr or --alpha-lr");
}

void Session::stop() {
  save();
  throw Interrupted(Code::CheckFailed, "stopped at step ", step_, " of ", n_steps_,
                    "; saved. to go on, give the same command again, or add --resume (",
                    setup_.out.string(), ")");
}

double Session::tokens_per_s() const {
  const auto tokens = static_cast<double>(step_ * setup_.train.batch * setup_.train.length);
  return train_seconds_ > 0.0 ? tokens / train_seconds_ : 0.0;
}

double Session::mfu() const {
  return tokens_per_s() * model::train_flops_per_token(config_, setup_.train.length) / peak_flops_;
}

RunResult Session::finish() {
  save();
  RunResult result;
  result.steps = step_;
  result.tokens = step_ * setup_.train.batch * setup_.train.length;
  result.params = manifest_.params;
  result.alpha_params = manifest_.alpha_params;
  result.val_loss =
      validation_loss(model_, *dataset_.val, setup_.train.length, setup_.train.eval_tokens);
  result.tokens_per_s = tokens_per_s();
  result.mfu = mfu();
  result.seconds = train_seconds_;
  result.peak_rss_mib = peak_rss_mib();
  write_file_atomic(setup_.out / "train.json", result_to_json(result) + "\n");
  return result;
}

RunResult Session::run() {
  start();
  const int64_t tokens_per_step = setup_.train.batch * setup_.train.length;
  std::optional<Progress> progress;
  if (!setup_.quiet) {
    progress.emplace(setup_.scheme, n_steps_ * tokens_per_step, "tokens");
    progress->update(step_ * tokens_per_step);
  }
  while (step_ < n_steps_) {
    const Metric metric = train_step();
    if (step_ == 1 || step_ % setup_.train.log_every == 0 || step_ == n_steps_) {
      log_metric(metric);
    }
    if (progress) {
      char note[96];
      std::snprintf(note, sizeof(note), "step %lld  loss %.4f  %.0f%% of peak",
                    static_cast<long long>(step_), metric.loss, 100.0 * mfu());
      progress->update(metric.tokens, note);
    }
    if (interrupted() && step_ < n_steps_) {
      stop();
    }
    const int64_t every = setup_.train.checkpoint_every;
    if (every > 0 && step_ % every == 0 && step_ < n_steps_) {
      save();
    }
  }
  return finish();
}

}  // namespace gyre::train
