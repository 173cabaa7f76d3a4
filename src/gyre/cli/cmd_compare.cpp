// `gyre compare`, the main job: trains every arm on every seed, compares, writes the report.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <sstream>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/log.h"
#include "gyre/cli/option_set.h"
#include "gyre/cli/verb.h"
#include "gyre/evaluate/eval_options.h"
#include "gyre/report/report.h"
#include "gyre/study/study.h"
#include "gyre/train/trainer.h"

namespace gyre::cli {
namespace {

/// Options of the comparison itself.
struct CompareOptions {
  std::string arms = "rope,prope:p=0.75,nope,lerope,alibi";
  std::string seeds = "2";
  std::string preset = "tiny";
  std::string mask = "full";
  std::string title = "Position schemes compared";
  int64_t jobs = 0;
  double overhead_seconds = 10.0;

  template <class V>
  void fields(V& v) {
    v("arms", arms,
      "schemes with options, e.g. rope,prope:p=0.75,cut=high,rope@window:128/full; the first is "
      "what the others are compared with");
    v("seeds", seeds, "how many (3 = seeds 1 to 3) or which (5,8,13)");
    v("preset", preset, "model shape and length: tiny | h2 ... h40 | gemma2b-paper");
    v("mask", mask, "mask of arms without '@': full | window:w | dilated:wxd | a/b by layer");
    v("title", title, "title of the report");
    v("jobs", jobs, "cells at a time; 0 = one per core");
    v("overhead-seconds", overhead_seconds,
      "time spent on measuring what learned frequencies cost; 0 = not measured");
  }
};

struct CompareVerb {
  CommonOptions common;
  OptionSet options;
  CompareOptions compare;
  study::StudySetup setup;
  evaluate::EvalOptions eval;
  std::string out = "gyre-compare";
  bool force = false, no_report = false;
};

/// A preset's shape, batch and length, under whatever flags and file said (as in gyre train).
void apply_preset(CompareVerb& verb) {
  const model::Preset& preset = model::find_preset(verb.compare.preset);
  model::ModelConfig config = preset.config;
  config.vocab = 0;
  for (const Field& field : fields_of(config)) {
    verb.options.set(field.name, field.get(), "preset");
  }
  verb.options.set("length", str(preset.length), "preset");
  verb.options.set("batch", str(preset.batch), "preset");
  const train::TrainOptions& t = verb.setup.train;
  // 400,000: ten cells of the tiny preset take five minutes on two cores (docs/compare.md).
  verb.options.set("tokens", preset.steps > 0 ? str(preset.steps * t.batch * t.length) : "400000",
                   preset.steps > 0 ? "preset" : "compare");
  // About sixty points a curve, whatever the run's length.
  verb.options.set("log-every", str(std::max<int64_t>(1, train::n_steps(t) / 60)), "compare");
}

/// What children need beyond their defaults: everything that was given, and what decides the size.
study::SharedSettings flags_to_pass(const CompareVerb& verb, const Fields& fields) {
  study::SharedSettings flags;
  for (const Field& field : fields) {
    const bool size = field.name == "tokens" || field.name == "length" || field.name == "batch" ||
                      field.name == "log-every";
    if (field.name != "seed" && (size || verb.options.given(field.name))) {
      flags[field.name] = field.get();
    }
  }
  return flags;
}

void fill_setup(CompareVerb& verb) {
  study::StudySetup& s = verb.setup;
  s.title = verb.compare.title;
  s.command = command_text();
  s.arms = study::parse_arms(verb.compare.arms);
  s.seeds = study::parse_seeds(verb.compare.seeds);
  s.mask = verb.compare.mask;
  for (const Fields& fields : {fields_of(s.train), fields_of(s.data), fields_of(s.model)}) {
    s.train_flags.merge(flags_to_pass(verb, fields));
  }
  s.train_flags["preset"] = verb.compare.preset;
  s.eval_flags = flags_to_pass(verb, fields_of(verb.eval));
  s.program = std::filesystem::read_symlink("/proc/self/exe");
  s.out = std::filesystem::absolute(verb.out).lexically_normal();
  s.jobs = verb.compare.jobs;
  s.threads = verb.common.threads;
  s.device = verb.common.device;
  s.force = verb.force;
  s.overhead_seconds = verb.compare.overhead_seconds;
}

void check_options(const CompareVerb& verb) {
  if (verb.compare.jobs < 0) {
    throw Error(Code::Usage, "--jobs must be 0 or more, got ", verb.compare.jobs);
  }
  evaluate::check(verb.eval);
}

/// The page; a fault there must not hide the result that is already on disk.
int write_page(const std::filesystem::path& out) {
  try {
    report::write_report(out);
    return 0;
  } catch (const Error& error) {
    log(Level::Warning, "report.html was not written: ", error.what());
    return exit_code(error.code());
  }
}

int run_compare(CompareVerb& verb) {
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
  check_options(verb);
  fill_setup(verb);
  study::Comparison result;
  try {
    result = study::run_study(verb.setup);
  } catch (const train::Interrupted& stopped) {
    std::cerr << "gyre: " << stopped.what() << ": " << command_text() << '\n';
    constexpr int kInterruptedExit = 130;  // as shells report SIGINT
    return kInterruptedExit;
  }
  const int page = verb.no_report ? 0 : write_page(verb.setup.out);
  write_json(verb.common, read_file(verb.setup.out / "compare.json"));
  if (verb.common.json != "-") {
    std::cout << study::to_table(result)
              << "\nAll numbers: " << (verb.setup.out / "compare.json").string() << '\n';
    if (page == 0 && !verb.no_report) {
      std::cout << "Report:      " << (verb.setup.out / "report.html").string() << std::endl;
    }
  }
  return result.any_failed() ? 1 : page;
}

}  // namespace

Action add_compare(CLI::App& app) {
  auto verb = std::make_shared<CompareVerb>();
  verb->setup.train.dtype = train::fastest_dtype();
  Fields train = fields_of(verb->setup.train);
  std::erase_if(train, [](const Field& field) { return field.name == "seed"; });  // --seeds
  verb->options.add(app, "Comparison", fields_of(verb->compare));
  verb->options.add(app, "Training (of every cell)", train);
  verb->options.add(app, "Data", fields_of(verb->setup.data));
  verb->options.add(app, "Evaluation (of every cell)", fields_of(verb->eval));
  verb->options.add(app, "Model (overrides the preset)", fields_of(verb->setup.model));
  app.add_option("--out", verb->out, "folder of the comparison [gyre-compare]")
      ->type_name("DIR")
      ->group("Comparison");
  app.add_flag("--force", verb->force, "discard the comparison that is in --out and start over")
      ->group("Comparison");
  app.add_flag("--no-report", verb->no_report, "leave report.html out")->group("Comparison");
  add_common(app, verb->common);
  app.footer(
      "Running the same command again goes on where it stopped; finished cells are kept, and arms "
      "or\n"
      "seeds may be added. Exit: 0 done, 1 a cell failed (the others are reported), 130 Ctrl-C.");
  return [verb] { return run_compare(*verb); };
}

}  // namespace gyre::cli
