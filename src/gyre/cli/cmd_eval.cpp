// gyre eval RUN: loss by length and position, needle ranking and band use of a trained run.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/cli/option_set.h"
#include "gyre/cli/verb.h"
#include "gyre/evaluate/eval_record.h"
#include "gyre/evaluate/evaluate.h"

namespace gyre::cli {
namespace {

struct EvalVerb {
  CommonOptions common;
  OptionSet options;
  evaluate::EvalOptions eval;
  std::string run;
  std::vector<std::string> data;
  std::string out;
  bool force = false;
};

/// Other text, tokenised as the run's was.
data::Dataset open_other(const train::RunManifest& manifest,
                         const std::vector<std::string>& names) {
  data::DataOptions options = manifest.data;
  options.data = names;
  if (manifest.tokenizer_kind != "bytes") {  // a BPE trained on other text would be another one
    options.tokenizer = (train::open_run_dataset(manifest).dir / "tokenizer.json").string();
  }
  return data::open_dataset(options);
}

std::string evaluate_other(const EvalVerb& verb) {
  const std::filesystem::path out = verb.out;
  if (!out.empty() && std::filesystem::exists(out) && !verb.force) {
    throw Error(Code::Usage, out.string(), " exists; give another --out or --force");
  }
  const train::Run run = train::load_run(verb.run, verb.common.device);
  const data::Dataset dataset = open_other(run.manifest, verb.data);
  const std::string text = to_json(evaluate::evaluate(run, dataset, verb.eval), run);
  if (!out.empty()) {
    write_file_atomic(out, text + "\n");
  }
  return text;
}

int run_eval(EvalVerb& verb) {
  if (!verb.common.config.empty()) {
    verb.options.apply_file(verb.common.config);
  }
  verb.options.apply_flags();
  if (verb.common.print_config) {
    std::cout << verb.options.describe();
    return 0;
  }
  if (verb.run.empty()) {
    throw Error(Code::Usage, "eval: which run? give the folder that gyre train or compare wrote");
  }
  if (!verb.out.empty() && verb.data.empty()) {
    throw Error(Code::Usage, "eval: --out goes with --data; the run's own corpus is recorded in ",
                (std::filesystem::path(verb.run) / "eval.json").string());
  }
  apply_common(verb.common);
  evaluate::check(verb.eval);
  const std::string text =
      verb.data.empty()
          ? evaluate::evaluate_run(verb.run, verb.eval, verb.force, verb.common.device)
          : evaluate_other(verb);
  write_json(verb.common, text);
  if (verb.common.json != "-") {
    std::cout << evaluate::eval_table(text) << std::flush;
  }
  return 0;
}

}  // namespace

Action add_eval(CLI::App& app) {
  const auto verb = std::make_shared<EvalVerb>();
  app.add_option("run", verb->run, "run directory, written by gyre train or gyre compare")
      ->type_name("RUN");
  add_common(app, verb->common);
  verb->options.add(app, "Evaluation", fields_of(verb->eval));
  app.add_option("--data", verb->data,
                 "evaluate on other text (names or paths), tokenised as the run's was [its own]")
      ->type_name("")
      ->delimiter(',')
      ->group("Data");
  app.add_option("--out", verb->out, "with --data: file for the result [none]")
      ->type_name("PATH")
      ->group("Data");
  app.add_flag("--force", verb->force, "measure again although the result exists")
      ->group("General");
  return [verb] { return run_eval(*verb); };
}

}  // namespace gyre::cli
