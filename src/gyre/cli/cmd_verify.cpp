// gyre verify: identities, precision table, known faults, one scheme's plan, one model's cache.
#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/progress.h"
#include "gyre/cli/signals.h"
#include "gyre/cli/verb.h"
#include "gyre/report/report.h"
#include "gyre/report/verify_page.h"
#include "gyre/train/any_model.h"
#include "gyre/verify/battery_json.h"
#include "gyre/verify/model_checks.h"

namespace gyre::cli {
namespace {

struct VerifyVerb {
  CommonOptions common;
  std::string scheme, model, fault, report, dtype = "fp32";
  int64_t tokens = 64;
  bool faults = false, list = false, force = false;
};

verify::OnCheck show_progress(std::unique_ptr<Progress>& progress, const std::string& label) {
  return [&progress, label](size_t number, size_t total, const std::string& id) {
    if (progress == nullptr) {
      progress = std::make_unique<Progress>(label, static_cast<int64_t>(total), "");
    }
    progress->update(static_cast<int64_t>(number), id);
  };
}

void check_usage(const VerifyVerb& verb) {
  check_output("--report", verb.report);
  check_output("--json", verb.common.json);
  if (verb.common.device != "cpu") {
    throw Error(Code::Usage, "verify: compares with float64 on the CPU, got --device ",
                verb.common.device, "; use --device cpu");
  }
  if (!verb.scheme.empty() && !verb.model.empty()) {
    throw Error(Code::Usage, "verify: give --scheme or --model, not both");
  }

  if (verb.faults && (!verb.fault.empty() || !verb.scheme.empty())) {
    throw Error(Code::Usage, "verify: --faults runs every fault over the whole battery; leave out ",
                verb.fault.empty() ? "--scheme" : "--fault");
  }
  if (verb.dtype != "fp32" && verb.dtype != "bf16") {
    throw Error(Code::Usage, "--dtype must be fp32 or bf16, got '", verb.dtype, "'");
  }
  if (verb.tokens < 4 || verb.tokens > 65536) {
    throw Error(Code::Usage, "--tokens must be 4 to 65536, got ", verb.tokens);
  }
  if (!verb.report.empty() && std::filesystem::exists(verb.report) && !verb.force) {
    throw Error(Code::Usage, verb.report, " exists; give another --report or --force");
  }
}

verify::Verification verified(const VerifyVerb& verb) {
  verify::Verification v;
  v.fault = verb.fault;
  std::unique_ptr<Progress> progress;
  const verify::Subject subject = verb.fault.empty() || !verb.model.empty()
                                      ? verify::sound_subject()
                                      : verify::faulty_subject(verb.fault);
  if (!verb.model.empty()) {
    v.subject = "model " + verb.model;
    const train::AnyModel any = train::load_any_model(
        verb.model, {.dtype = verb.dtype == "bf16" ? at::kBFloat16 : at::kFloat});
    const model::Transformer model = any.at_length(verb.tokens);
    v.checks = verify::check_model(model, verb.tokens,
                                   verb.fault.empty()
                                       ? verify::sound_cache_use()
                                       : verify::faulty_cache_use(verb.fault, model, verb.tokens));
    if (verb.faults) {
      v.faults = verify::run_cache_faults(model, verb.tokens);
    }
    return v;
  } else if (!verb.scheme.empty()) {
    v.subject = "scheme " + verb.scheme;
    v.checks = verify::check_scheme(subject, verb.scheme);
    if (!verb.fault.empty() && verify::all_passed(v.checks)) {
      throw Error(Code::Usage, "verify: the plan of ", verb.scheme, " cannot show the fault ",
                  verb.fault, "; leave out --scheme: the whole battery does");
    }
  } else {
    v.checks = verify::run_battery(subject, show_progress(progress, "verify"));
    v.precision = verify::precision_table(subject);
  }
  if (verb.faults) {
    progress.reset();
    v.faults = verify::run_faults(show_progress(progress, "faults"));
  }
  return v;
}

int list_checks() {
  for (const verify::Identity& identity : verify::identities()) {
    std::cout << identity.id << " (" << identity.claim << ")\n  " << identity.title << "\n  "
              << identity.source << '\n';
  }
  std::cout << "\nFaults for --fault:\n";
  for (const verify::Fault& fault : verify::faults()) {
    std::cout << fault.name << "\n  " << fault.summary << '\n';
  }
  std::cout << "\nFaults for --fault with --model:\n";
  for (const verify::CacheFault& fault : verify::cache_faults()) {
    std::cout << fault.name << "\n  " << fault.summary << '\n';
  }
  return 0;
}

int run_verify(const VerifyVerb& verb) {
  if (verb.list) {
    return list_checks();
  }
  check_usage(verb);
  apply_common(verb.common);
  end_when_told();
  const std::string plotly = verb.report.empty() ? "" : read_file(report::find_plotly());
  const auto start = std::chrono::steady_clock::now();
  verify::Verification v = verified(verb);
  v.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (verb.common.json != "-") {
    std::cout << to_text(v) << std::flush;
  }
  write_json(verb.common, to_json(v));
  if (!verb.report.empty()) {
    write_file_atomic(verb.report, report::verify_page(v, plotly));
  }
  return passed(v) ? 0 : exit_code(Code::CheckFailed);
}

}  // namespace

Action add_verify(CLI::App& app) {
  const auto verb = std::make_shared<VerifyVerb>();
  add_common(app, verb->common);
  app.add_option("--scheme", verb->scheme, "check the plan of this scheme, e.g. prope:p=0.75")
      ->type_name("SPEC")
      ->group("What");
  const auto* model =
      app.add_option(
             "--model", verb->model,
             "check the cache of this model with its weights: a folder with config.json, a .gguf "
             "file or a run")
          ->type_name("MODEL")
          ->group("What");
  app.add_option("--dtype", verb->dtype, "with --model: fp32 | bf16 [fp32]")
      ->type_name("")
      ->group("What");
  add_count(app, "--tokens", verb->tokens, "with --model: random tokens fed [64]")->group("What");
  app.add_option(
         "--fault", verb->fault,
         "put one known fault into gyre's operations; exits 1 or says that --scheme cannot show it")
      ->type_name("NAME")
      ->group("Faults");
  app.add_flag("--faults", verb->faults, "put in every known fault in turn: table faults x checks")
      ->group("Faults");
  app.add_flag("--list", verb->list, "list checks and faults with their sources, run nothing")
      ->group("What");
  app.add_option("--report", verb->report, "write a self-contained HTML page to FILE")
      ->type_name("FILE")
      ->group("Output");
  app.add_flag("--force", verb->force, "overwrite the --report file")->group("Output");
  return [verb, model] {
    if (model->count() > 0 && verb->model.empty()) {
      throw Error(Code::Usage,
                  "verify: --model is empty; give a folder with config.json, a .gguf "
                  "file or a run");
    }
    return run_verify(*verb);
  };
}

}  // namespace gyre::cli
