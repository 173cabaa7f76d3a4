// gyre inspect PATH [PATH2]: what a model's positions are and what is wrong with them; with two
// paths, where they disagree; with --text, where their tokenizers do.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/cli/inspect_text.h"
#include "gyre/cli/verb.h"
#include "gyre/inspect/inspect.h"
#include "gyre/inspect/lint/rule.h"
#include "gyre/inspect/spectrum.h"
#include "gyre/report/inspect_page.h"
#include "gyre/report/report.h"

namespace gyre::cli {
namespace {

using inspect::Finding;
using inspect::ResolvedModel;
using inspect::Severity;
using Json = nlohmann::ordered_json;

struct InspectVerb {
  CommonOptions common;
  std::vector<std::string> paths;
  std::string report;
  std::string text;
  bool loss = false;
  bool rules = false;
  bool force = false;
};

bool has_error(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& one) { return one.severity == Severity::Error; });
}

int list_rules(const InspectVerb& verb) {
  Json list = Json::array();
  for (const inspect::Rule& rule : inspect::rules()) {
    list.push_back(Json{{"id", rule.id},
                        {"severity", inspect::name_of(rule.severity)},
                        {"why", rule.why},
                        {"fix", rule.fix},
                        {"source", rule.source}});
    if (verb.common.json != "-") {
      std::cout << rule.id << " (" << inspect::name_of(rule.severity) << ")\n  " << rule.why
                << "\n  fix: " << rule.fix << "\n  source: " << rule.source << "\n\n";
    }
  }
  write_json(verb.common, Json{{"schema", "gyre.rules/1"}, {"rules", std::move(list)}}.dump(1));
  return 0;
}

void write_page(const InspectVerb& verb, const ResolvedModel& model,
                const std::vector<Finding>& findings) {
  if (verb.report.empty()) {
    return;
  }
  if (verb.report == "-") {
    throw Error(Code::Usage, "inspect: --report writes a file, got '-'; name one, e.g. out.html");
  }
  if (std::filesystem::exists(verb.report) && !verb.force) {
    throw Error(Code::Usage, verb.report, " exists; give another --report or --force");
  }
  const std::string page = report::inspect_page(model, findings, read_file(report::find_plotly()));
  write_file_atomic(verb.report, page);
}

int inspect_one(const InspectVerb& verb) {
  const ResolvedModel model = inspect::resolve(verb.paths[0]);
  const std::vector<Finding> findings = inspect::lint(model);
  write_page(verb, model, findings);
  if (verb.common.json != "-") {
    std::cout << inspect::describe(model, findings);
  }
  write_json(verb.common, inspect::to_json(model, findings));
  return has_error(findings) ? exit_code(Code::CheckFailed) : 0;
}

Json finding_to_json(const Finding& one) {
  return Json{{"id", one.id},
              {"severity", inspect::name_of(one.severity)},
              {"key", one.key},
              {"message", one.message},
              {"expected", one.expected},
              {"found", one.found}};
}

int compare_two(const InspectVerb& verb) {
  if (!verb.report.empty()) {
    throw Error(Code::Usage, "inspect: --report goes with one path, got two");
  }
  const ResolvedModel a = inspect::resolve(verb.paths[0]);
  const ResolvedModel b = inspect::resolve(verb.paths[1]);
  const std::vector<Finding> differences = inspect::diff(a, b);
  Json list = Json::array();
  std::transform(differences.begin(), differences.end(), std::back_inserter(list), finding_to_json);
  const bool agree = !std::any_of(differences.begin(), differences.end(), [](const Finding& one) {
    return one.severity != Severity::Note;
  });
  if (verb.common.json != "-") {
    std::cout << inspect::printable(a.path) << " against " << inspect::printable(b.path) << ": "
              << (agree ? "they agree\n" : "they disagree\n");
    for (const Finding& one : differences) {
      std::cout << "  " << inspect::name_of(one.severity) << "  " << one.id << "  "
                << inspect::printable(one.key) << "\n      " << inspect::printable(one.message)
                << '\n';
    }
  }
  write_json(verb.common, Json{{"schema", "gyre.inspect-diff/1"},
                               {"a", a.path},
                               {"b", b.path},
                               {"agree", agree},
                               {"findings", std::move(list)}}
                              .dump(1, ' ', false, Json::error_handler_t::replace));
  return agree ? 0 : exit_code(Code::CheckFailed);
}

int run_inspect(const InspectVerb& verb) {
  check_output("--json", verb.common.json);
  if (verb.rules) {
    if (!verb.paths.empty()) {
      throw Error(Code::Usage, "inspect: --rules lists the rules and takes no path, got '",
                  verb.paths[0], "'; leave one of them out");
    }
    return list_rules(verb);
  }
  if (verb.paths.empty()) {
    throw Error(Code::Usage,
                "inspect: which model? give a config.json, a model folder, a .safetensors or .gguf "
                "file or a run");
  }
  if (verb.paths.size() > 2) {
    throw Error(Code::Usage, "inspect: one path, or two to compare; got ", verb.paths.size());
  }
  if (verb.loss && verb.text.empty()) {
    throw Error(Code::Usage, "inspect: --loss goes with --text FILE, the text to run models over");
  }
  if (!verb.text.empty()) {
    if (verb.paths.size() != 2 || !verb.report.empty()) {
      throw Error(Code::Usage,
                  "inspect: --text compares the tokenizers of two paths and goes with ",
                  "no --report; got ", verb.paths.size(), " paths");
    }
    return inspect_text(verb.paths[0], verb.paths[1], verb.text, verb.loss, verb.common);
  }
  return verb.paths.size() == 2 ? compare_two(verb) : inspect_one(verb);
}

}  // namespace

Action add_inspect(CLI::App& app) {
  auto verb = std::make_shared<InspectVerb>();
  app.add_option(
         "path", verb->paths,
         "config.json, model folder, .safetensors or .gguf file, or run; two = compare them")
      ->expected(0, CLI::detail::expected_max_vector_size)
      ->type_name("PATH");
  app.add_option("--report", verb->report, "write a page with the spectrum to FILE.html")
      ->type_name("FILE");
  app.add_flag("--loss", verb->loss,
               "with --text: also run both models over it and print bits per byte");
  app.add_option("--text", verb->text, "compare the tokenizers of two paths on the text in FILE")
      ->type_name("FILE");
  app.add_flag("--rules", verb->rules, "list the lint rules with why, fix and source");
  app.add_flag("--force", verb->force, "overwrite the file of --report");
  app.add_option("--json", verb->common.json,
                 "write the result as one JSON object to PATH; - = stdout")
      ->type_name("PATH")
      ->group("General");
  app.footer(
      "Exit: 0 no finding of severity error (two paths: they agree; --text: same ids), 1 "
      "otherwise,\n"
      "3 bad input.\n"
      "See docs/inspect.md.");
  return [verb] { return run_inspect(*verb); };
}

}  // namespace gyre::cli
