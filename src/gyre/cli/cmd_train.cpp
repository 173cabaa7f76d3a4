// `gyre train`: one run in one directory.
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>

#include "gyre/base/error.h"
#include "gyre/base/log.h"
#include "gyre/base/progress.h"
#include "gyre/cli/option_set.h"
#include "gyre/cli/verb.h"
#include "gyre/train/trainer.h"

namespace gyre::cli {
namespace {

/// Options that belong to the run as a whole.
struct RunOptions {
  std::string preset = "tiny";
  std::string scheme = "rope";
  std::string mask = "full";

  template <class V>
  void fields(V& v) {
    v("preset", preset, "model shape and length: tiny | h2 ... h40 | gemma2b-paper");
    v("scheme", scheme, "position scheme, e.g. rope:base=10000 (gyre schemes)");
    v("mask", mask, "full | window:w | dilated:wxd | window:w+global:n | a/b alternating layers");
  }
};

struct TrainVerb {
  CommonOptions common;
  OptionSet options;
  RunOptions run;
  train::RunSetup setup;
  std::string out;
};

/// A preset's shape, batch and length, under whatever flags and file said.
void apply_preset(TrainVerb& verb) {
  const model::Preset& preset = model::find_preset(verb.run.preset);
  model::ModelConfig config = preset.config;
  config.vocab = 0;  // a trained model has its tokenizer's vocabulary unless --vocab says otherwise
  const std::string origin = "preset";
  for (const Field& field : fields_of(config)) {
    verb.options.set(field.name, field.get(), origin);
  }
  verb.options.set("length", str(preset.length), origin);
  verb.options.set("batch", str(preset.batch), origin);
  if (preset.steps > 0) {
    const train::TrainOptions& t = verb.setup.train;
    verb.options.set("tokens", str(preset.steps * t.batch * t.length), origin);
  }
}

void print_result(const train::RunResult& result, const train::RunSetup& setup) {
  std::printf("%-14s %s\n", "run", setup.out.string().c_str());
  std::printf("%-14s %s, mask %s, seed %lld\n", "scheme", setup.scheme.c_str(), setup.mask.c_str(),
              static_cast<long long>(setup.train.seed));
  std::printf("%-14s %lld (%lld of them frequencies)\n", "parameters",
              static_cast<long long>(result.params), static_cast<long long>(result.alpha_params));
  std::printf("%-14s %lld steps, %lld tokens in %s\n", "trained",
              static_cast<long long>(result.steps), static_cast<long long>(result.tokens),
              format_duration(result.seconds).c_str());
  std::printf("%-14s %.4f nats per token (perplexity %.3f)\n", "validation", result.val_loss,
              std::exp(result.val_loss));
  std::printf("%-14s %.0f tokens/s, %.0f %% of the measured matmul peak, %.0f MiB\n", "speed",
              result.tokens_per_s, 100.0 * result.mfu, result.peak_rss_mib);
}

int run_train(TrainVerb& verb) {
  if (!verb.common.config.empty()) {
    verb.options.apply_file(verb.common.config);
  }
  verb.options.apply_flags();
  apply_preset(verb);
  if (verb.common.print_config) {
    std::cout << verb.options.describe();
    return 0;
  }
  apply_common(verb.common);
  verb.setup.scheme = verb.run.scheme;
  verb.setup.mask = verb.run.mask;
  verb.setup.device = verb.common.device;
  verb.setup.out = verb.out;
  verb.setup.config_json = verb.options.to_json();
  try {
    const train::RunResult result = train::run(verb.setup);
    if (result.finished_before) {
      log(Level::Info, verb.out, ": this run is complete; nothing to do (--force starts over)");
    }
    if (verb.common.json != "-") {
      print_result(result, verb.setup);
    }
    write_json(verb.common, train::result_to_json(result));
  } catch (const train::Interrupted& stopped) {
    std::cerr << "gyre: " << stopped.what() << '\n';
    constexpr int kInterruptedExit = 130;  // as shells report SIGINT
    return kInterruptedExit;
  }
  return 0;
}

}  // namespace

Action add_train(CLI::App& app) {
  auto verb = std::make_shared<TrainVerb>();
  verb->setup.train.dtype = train::fastest_dtype();
  verb->options.add(app, "Run", fields_of(verb->run));
  verb->options.add(app, "Training", fields_of(verb->setup.train));
  verb->options.add(app, "Data", fields_of(verb->setup.data));
  verb->options.add(app, "Model (overrides the preset)", fields_of(verb->setup.model));
  app.add_option("--out", verb->out, "folder of the run")->type_name("DIR")->group("Run");
  app.add_flag("--resume", verb->setup.resume,
               "go on with a stopped run; fails when there is none (running the same command again "
               "resumes too)")
      ->group("Run");
  app.add_flag("--force", verb->setup.force, "discard the run that is in --out and start over")
      ->group("Run");
  add_common(app, verb->common);
  app.footer("Ctrl-C saves a checkpoint and exits with 130; a run that diverges exits with 1.");
  return [verb] { return run_train(*verb); };
}

}  // namespace gyre::cli
