// gyre analyze MODEL: how a model uses its frequencies, what its heads attend to, as one page.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>

#include "gyre/analyze/analysis.h"
#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/cli/option_set.h"
#include "gyre/cli/verb.h"
#include "gyre/report/analyze_page.h"
#include "gyre/report/report.h"
#include "gyre/train/run_dir.h"

namespace gyre::cli {
namespace {

struct AnalyzeVerb {
  CommonOptions common;
  OptionSet options;
  analyze::AnalyzeOptions analyze;
  std::string model, out;
  std::vector<std::string> text;
  bool force = false;
};

void check_usage(const AnalyzeVerb& verb) {
  if (verb.model.empty()) {
    throw Error(Code::Usage, "analyze: which model? give the folder that gyre train wrote");
  }
  if (verb.out.empty()) {
    throw Error(Code::Usage, "analyze: where to? give a folder with --out DIR");
  }
  if (!verb.analyze.builtin && verb.text.empty()) {
    throw Error(Code::Usage, "analyze: no text; give --text FILE or leave out --no-builtin");
  }
  if (verb.common.device != "cpu") {
    throw Error(Code::Usage, "analyze: reads queries and keys on the CPU, got --device ",
                verb.common.device, "; use --device cpu");
  }
}

std::unique_ptr<model::Tokenizer> tokenizer_of(const train::RunManifest& manifest) {
  return manifest.tokenizer_kind == "bytes"
             ? model::byte_tokenizer()
             : model::load_tokenizer(train::open_run_dataset(manifest).dir / "tokenizer.json");
}

int run_analyze(AnalyzeVerb& verb) {
  if (!verb.common.config.empty()) {
    verb.options.apply_file(verb.common.config);
  }
  verb.options.apply_flags();
  if (verb.common.print_config) {
    std::cout << verb.options.describe();
    return 0;
  }
  check_usage(verb);
  check(verb.analyze);
  apply_common(verb.common);
  (void)report::find_plotly();  // before anything is computed
  std::vector<analyze::Text> texts;
  for (const std::string& path : verb.text) {
    texts.push_back(analyze::read_text(path));
  }
  const train::Run run = train::load_run(verb.model);
  const auto tokenizer = tokenizer_of(run.manifest);
  const analyze::Subject subject{.name = verb.model,
                                 .identity = str("step ", run.manifest.step, " seed ",
                                                 run.manifest.seed, " ", run.manifest.scheme),
                                 .model = run.model,
                                 .tokenizer = *tokenizer,
                                 .train_length = run.manifest.train_length};
  const analyze::Analysis analysis =
      analyze::analyze({subject, texts, verb.analyze, verb.out, verb.force});
  report::write_analyze_report(analysis, command_text(), verb.out);
  write_json(verb.common, to_json(analysis));
  if (verb.common.json != "-") {
    std::cout << to_text(analysis)
              << "page: " << (std::filesystem::path(verb.out) / "report.html").string() << '\n';
  }
  return 0;
}

}  // namespace

Action add_analyze(CLI::App& app) {
  const auto verb = std::make_shared<AnalyzeVerb>();
  app.add_option("model", verb->model, "run directory, written by gyre train or gyre compare")
      ->type_name("MODEL");
  add_common(app, verb->common);
  app.add_option("--text", verb->text,
                 "texts beside the built-in ones; each is a domain of its own")
      ->type_name("FILE...")
      ->group("Texts");
  app.add_option("--out", verb->out, "folder for analyze.json, report.html and figures/*.csv")
      ->type_name("DIR")
      ->group("Output");
  app.add_flag("--force", verb->force, "start over in a folder that holds an analysis")
      ->group("Output");
  verb->options.add(app, "Analysis", fields_of(verb->analyze));
  return [verb] { return run_analyze(*verb); };
}

}  // namespace gyre::cli
