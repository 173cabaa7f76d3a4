// gyre bench: training steps and attention of ours and PyTorch's in turn, memory, cost by length.
#include <ATen/Parallel.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <memory>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/bench/bench.h"
#include "gyre/bench/line_process.h"
#include "gyre/bench/peer.h"
#include "gyre/cli/option_set.h"
#include "gyre/cli/verb.h"
#include "gyre/report/bench_page.h"
#include "gyre/report/report.h"

namespace gyre::cli {
namespace {

/// Flags that mean the same for a training step and for attention, with different defaults.
struct BothFlags {
  int64_t batch = bench::TrainShape().batch;
  std::vector<int64_t> head_dim = {bench::TrainShape().head_dim};
  int64_t steps = bench::TrainRun().steps;

  template <class V>
  void fields(V& v) {
    v("batch", batch, "sequences per step; attention, length: 1");
    v("head-dim", head_dim, "channels per head; attention: 64,128");
    v("steps", steps, "rounds, each of which runs every side once; attention: 5, length: 3");
  }
};

struct BenchVerb {
  CommonOptions common;
  OptionSet options;
  std::string what = "train", preset = "small", report;
  bench::TrainShape shape;
  bench::TrainRun run;
  bench::AttentionShape attention;
  bench::InferShape infer;
  bench::Limits limits;
  BothFlags both;
  bool quick = false, no_peer = false, force = false, serve = false;
};

/// What each benchmark does when no flag says otherwise.
void set_defaults(BenchVerb& verb) {
  bench::TrainShape shape = bench::train_preset(verb.preset);
  bench::AttentionShape attention;
  bench::TrainRun run;
  if (verb.what == "length") {
    attention = bench::length_shape();
  } else if (verb.what == "memory") {
    attention = bench::memory_shape();
  } else if (verb.what == "infer") {
    attention.lengths = verb.infer.lengths;
  }
  if (verb.quick) {
    shape = {.width = 64,
             .layers = 1,
             .hidden = 64,
             .vocab = 64,
             .length = 16,
             .batch = 2,
             .head_dim = 32};
    attention.lengths = {16, 32};
    attention.kinds = {"causal", "window:8", "alibi"};
    attention.heads = 2;
    attention.head_dims = {32};
    attention.steps = run.steps = run.pairs = 2;
    run.modes = {"bf16"};
  }
  const std::string origin = verb.quick ? "quick" : verb.preset;
  for (const Fields& fields : {fields_of(shape), fields_of(attention), fields_of(run)}) {
    for (const Field& field : fields) {
      verb.options.set(field.name, field.get(), origin);
    }
  }
  const bool trains = verb.what == "train" || verb.what == "memory";
  BothFlags both{trains ? shape.batch : attention.batch,
                 trains ? std::vector<int64_t>{shape.head_dim} : attention.head_dims,
                 trains ? run.steps : attention.steps};
  for (const Field& field : fields_of(both)) {
    verb.options.set(field.name, field.get(), origin);
  }
}

void spread_both(BenchVerb& verb) {
  verb.attention.batch = verb.what == "memory" ? 1 : verb.both.batch;
  verb.attention.head_dims = verb.both.head_dim;
  verb.attention.steps = verb.run.steps = verb.both.steps;
  verb.shape.batch = verb.both.batch;
  verb.infer.steps = verb.both.steps;
  verb.infer.lengths = verb.attention.lengths;
  verb.infer.dtype = verb.attention.dtype == "float32" ? "fp32" : "bf16";
  if (verb.what == "train" || verb.what == "memory") {
    if (verb.both.head_dim.size() != 1) {
      throw Error(Code::Usage, "bench ", verb.what, " takes one --head-dim, got ",
                  verb.both.head_dim.size());
    }
    verb.shape.head_dim = verb.both.head_dim.front();
  }
}

// Before anything runs: what was measured must not be lost to a path.
void check_usage(const BenchVerb& verb) {
  const std::string& what = verb.what;
  if (what != "train" && what != "attention" && what != "memory" && what != "length" &&
      what != "infer") {
    throw Error(Code::Usage, "bench: no benchmark '", what,
                "'; known: train, attention, memory, length, infer");
  }
  if (what == "infer" && verb.common.device != "cpu") {
    throw Error(Code::Usage, "bench infer measures the CPU; use --device cpu");
  }
  if (what == "memory" && verb.common.device != "cpu") {
    throw Error(Code::Usage, "bench memory measures resident memory; use --device cpu");
  }
  for (const auto& [flag, file] :
       {std::pair<const char*, std::string>("--report", verb.report),
        std::pair<const char*, std::string>("--json", verb.common.json)}) {
    check_output(flag, file);
  }
  if (!verb.report.empty() && verb.report == verb.common.json) {
    throw Error(Code::Usage, "--json and --report both name ", verb.report,
                "; give each its own file");
  }
  if (!verb.report.empty() && std::filesystem::exists(verb.report) && !verb.force) {
    throw Error(Code::Usage, verb.report, " exists; give another --report or --force");
  }
}

bench::Contest contest_of(const BenchVerb& verb) {
  bench::Contest contest;
  contest.limits = verb.limits;
  contest.quick = verb.quick;
  contest.threads = at::get_num_threads();
  contest.device = verb.common.device;
  const std::string own = bench::own_program().string();
  if (!verb.no_peer) {
    const bench::PeerPlace place = bench::find_peer(verb.limits.python);
    contest.train_peer = {place.python, (place.scripts / "torch_train.py").string()};
    contest.attention_peer = {place.python, (place.scripts / "torch_attention.py").string()};
    contest.infer_peer = {place.python, (place.scripts / "torch_infer.py").string()};
  }
  contest.own_training = {own, "bench", "train"};
  contest.own_attention = {own, "bench", "attention"};
  contest.own_inference = {own, "bench", "infer"};
  return contest;
}

bench::Record measured(const BenchVerb& verb) {
  const bench::Contest contest = contest_of(verb);
  if (verb.what == "train") {
    return bench::run_train(verb.shape, verb.run, contest);
  }
  if (verb.what == "memory") {
    return bench::run_memory(verb.shape, verb.attention, contest);
  }
  if (verb.what == "infer") {
    return bench::run_infer(verb.infer, contest);
  }
  return verb.what == "length" ? bench::run_length(verb.attention, contest)
                               : bench::run_attention(verb.attention, contest);
}

std::string date_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

int run_bench(BenchVerb& verb) {
  check_usage(verb);
  if (!verb.common.config.empty()) {
    verb.options.apply_file(verb.common.config);
  }
  set_defaults(verb);
  verb.options.apply_flags();
  spread_both(verb);
  if (verb.common.print_config) {
    std::cout << verb.options.describe();
    return 0;
  }
  apply_common(verb.common);
  if (verb.serve) {
    verb.what == "infer"   ? bench::serve_inference(verb.infer)
    : verb.what == "train" ? bench::serve_training(verb.shape, verb.common.device)
                           : bench::serve_attention(verb.attention, verb.common.device);
    return 0;
  }
  const std::string plotly = verb.report.empty() ? "" : read_file(report::find_plotly());
  const auto start = std::chrono::steady_clock::now();
  bench::Record record;
  try {
    record = measured(verb);
  } catch (const bench::Interrupted& stopped) {
    std::cerr << "gyre: " << stopped.what() << '\n';
    constexpr int kInterruptedExit = 130;  // as shells report SIGINT
    return kInterruptedExit;
  }
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  record.command = command_text();
  record.date = date_now();
  if (verb.common.json != "-") {
    std::cout << to_text(record) << std::flush;
  }
  write_json(verb.common, to_json(record));
  if (!verb.report.empty()) {
    write_file_atomic(verb.report, report::bench_page(record, plotly));
  }
  return 0;
}

}  // namespace

Action add_bench(CLI::App& app) {
  const auto verb = std::make_shared<BenchVerb>();
  app.add_option("what", verb->what,
                 "train: whole training steps; attention: forward and backward with rotation;\n"
                 "memory: peak of both; length: attention from 512 to 32768 tokens;\n"
                 "infer: prefill and decoding of a checkpoint [train]")
      ->type_name("");
  verb->options.add(app, "All", fields_of(verb->both));
  app.add_option(
         "--preset", verb->preset,
         "small: width 256, 6 layers, 16 x 512; large: width 512, 8 layers, 8 x 1024 [small]")
      ->type_name("")
      ->group("Model of train and memory (overrides the preset)");
  verb->options.add(app, "Model of train and memory (overrides the preset)",
                    fields_of(verb->shape));
  verb->options.add(app, "Train", fields_of(verb->run));
  app.add_flag("--profile", verb->run.profile,
               "also time per operator of ours and its distance to the roofline")
      ->group("Train");
  verb->options.add(app, "Attention, length and memory", fields_of(verb->attention));
  verb->options.add(app, "Inference (with --lengths and --dtype)", fields_of(verb->infer));
  app.add_flag("--no-peer", verb->no_peer, "measure ours alone")->group("Peer and limits");
  verb->options.add(app, "Peer and limits", fields_of(verb->limits));
  app.add_flag("--quick", verb->quick, "tiny shapes, two rounds: shows that it works, not how fast")
      ->group("General");
  add_common(app, verb->common);
  app.add_option("--report", verb->report, "write a self-contained HTML page to FILE")
      ->type_name("FILE")
      ->group("General");
  app.add_flag("--force", verb->force, "overwrite the --report file")->group("General");
  app.add_flag("--serve", verb->serve)->group("");  // our side as a peer, see bench/peer.h
  app.footer(
      "Ours and PyTorch's steps alternate in one run on equal threads; figures are medians, with "
      "a\n"
      "95 % interval of their ratio over the rounds. Peak memory is that of a process of its own.\n"
      "The peers are bench/torch_train.py, torch_attention.py and torch_infer.py. See "
      "docs/benchmarks.md.");
  return [verb] { return run_bench(*verb); };
}

}  // namespace gyre::cli
