// gyre analyze MODEL: how a model uses its frequencies, what its heads attend to, as one page.
#include <CLI/CLI.hpp>
#include <algorithm>
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
#include "gyre/train/any_model.h"

namespace gyre::cli {
namespace {

struct AnalyzeVerb {
  CommonOptions common;
  OptionSet options;
  analyze::AnalyzeOptions analyze;
  std::string model, out, dtype = "fp32";
  std::vector<std::string> text;
  bool force = false;
};

constexpr uintmax_t kStreamedBytes = uintmax_t{2} << 30;

void check_usage(const AnalyzeVerb& verb) {
  if (verb.model.empty()) {
    throw Error(Code::Usage,
                "analyze: which model? give a folder with config.json, a .gguf file or a run",
                verb.text.empty() ? "" : "; it comes before --text, which takes all that follows");
  }
  if (verb.out.empty()) {
    throw Error(Code::Usage, "analyze: where to? give a folder with --out DIR");
  }
  if (!verb.analyze.builtin && verb.text.empty()) {
    throw Error(Code::Usage, "analyze: no text; give --text FILE or leave out --no-builtin");
  }
  if (verb.dtype != "fp32" && verb.dtype != "bf16") {
    throw Error(Code::Usage, "--dtype must be fp32 or bf16, got '", verb.dtype, "'");
  }
  if (verb.common.device != "cpu") {
    throw Error(Code::Usage, "analyze: reads queries and keys on the CPU, got --device ",
                verb.common.device, "; use --device cpu");
  }
}

/// When a file was last written, ns: other weights may have the same size.
int64_t written_at(const std::filesystem::path& path) {
  std::error_code missing;
  return std::filesystem::last_write_time(path, missing).time_since_epoch().count();
}

/// Names, sizes and times of the model's files: tells a changed model under the same path, and
/// whether it should be read block by block.
struct ModelFiles {
  std::string identity;
  uintmax_t bytes = 0;
};

ModelFiles files_of(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) {
    const uintmax_t bytes = std::filesystem::exists(path) ? std::filesystem::file_size(path) : 0;
    return {str(bytes, " bytes of ", written_at(path)), bytes};
  }
  std::vector<std::string> names;
  ModelFiles out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) {
      names.push_back(
          str(entry.path().string(), " ", entry.file_size(), " ", written_at(entry.path())));
      out.bytes += entry.file_size();
    }
  }
  std::sort(names.begin(), names.end());
  std::string all;
  for (const std::string& name : names) {
    all += name + "\n";
  }
  out.identity = str(names.size(), " files ", sha256(all).substr(0, 12));
  return out;
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
  const ModelFiles files = files_of(verb.model);
  const train::AnyModel any =
      train::load_any_model(verb.model, {.dtype = verb.dtype == "bf16" ? at::kBFloat16 : at::kFloat,
                                         .streamed = files.bytes > kStreamedBytes,
                                         .text_for = "analyze"});
  const model::Transformer model = any.at_length(verb.analyze.tokens);
  const model::SpecialIds special = any.tokenizer->special_ids();
  const analyze::Subject subject{.name = verb.model,
                                 .identity = str(files.identity, ", ", verb.dtype),
                                 .model = model,
                                 .tokenizer = *any.tokenizer,
                                 .train_length = any.max_length,
                                 .begin_token = special.add_bos ? special.bos : -1};
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
  app.add_option("model", verb->model, "folder with config.json, .gguf file, or run directory")
      ->type_name("MODEL");
  add_common(app, verb->common);
  app.add_option("--text", verb->text,
                 "texts beside the built-in ones; each is a domain of its own")
      ->type_name("FILE...")
      ->group("Texts");
  app.add_option("--dtype", verb->dtype, "compute type: fp32 | bf16 [fp32]")
      ->type_name("")
      ->group("Analysis");
  app.add_option("--out", verb->out, "folder for analyze.json, report.html and figures/*.csv")
      ->type_name("DIR")
      ->group("Output");
  app.add_flag("--force", verb->force, "start over in a folder that holds an analysis")
      ->group("Output");
  verb->options.add(app, "Analysis", fields_of(verb->analyze));
  return [verb] { return run_analyze(*verb); };
}

}  // namespace gyre::cli
