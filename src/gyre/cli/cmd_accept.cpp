// gyre accept: can a model or service really use the context that it advertises?
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "gyre/accept/options.h"
#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/json_words.h"
#include "gyre/cli/accept_verb.h"

namespace gyre::cli {
namespace {

constexpr const char* kSubject = "Subject";
constexpr const char* kClocks = "Time-outs of one request (endpoint)";
constexpr const char* kRun = "Run";

void check_usage(const AcceptVerb& verb) {
  if (!verb.remote() && verb.model.empty()) {
    throw Error(Code::Usage,
                "accept: which subject? give --endpoint URL and --model NAME of a service, or "
                "--model PATH of a run, a model folder or a .gguf file");
  }
  for (const auto& [name, value] :
       {std::pair{"connect-s", verb.endpoint.connect_s},
        std::pair{"first-byte-s", verb.endpoint.first_byte_s},
        std::pair{"idle-s", verb.endpoint.idle_s}, std::pair{"total-s", verb.endpoint.total_s}}) {
    if (!(value > 0.0 && value < 1e6)) {
      throw Error(Code::Usage, "accept: --", name, " must be seconds above 0, got ", value);
    }
  }
  if (verb.attempts < 1 || verb.attempts > 100) {
    throw Error(Code::Usage, "accept: --attempts must be from 1 to 100, got ", verb.attempts);
  }
  if (!(verb.longest_wait_s >= 0.0 && verb.longest_wait_s < 1e6)) {
    throw Error(Code::Usage, "accept: --longest-wait-s must be seconds, 0 or more, got ",
                verb.longest_wait_s);
  }
  if (verb.local.dtype != "fp32" && verb.local.dtype != "bf16") {
    throw Error(Code::Usage, "accept: --dtype must be fp32 or bf16, got '", verb.local.dtype, "'");
  }
  if (verb.local.chunk < 1) {
    throw Error(Code::Usage, "accept: --chunk must be 1 token or more, got ", verb.local.chunk);
  }
  const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  if (!std::all_of(verb.key_env.begin(), verb.key_env.end(), is_word)) {
    throw Error(Code::Usage,
                "accept: --key-env wants the name of a variable, such as OPENAI_API_KEY; what was "
                "given is none (the key itself never goes on a command line)");
  }
  const bool wants_key = verb.remote() && !verb.key_env.empty();
  if (wants_key && std::getenv(verb.key_env.c_str()) == nullptr) {
    throw Error(Code::Usage, "accept: --key-env names the variable ", verb.key_env,
                ", which is not set; export it, or leave --key-env out for a service without keys");
  }
  accept::check(verb.accept);
}

/// The run.json of an earlier run: its settings, for those that no flag gives.
void apply_run_file(AcceptVerb& verb, const nlohmann::json& settings) {
  const auto take = [](std::string& to, const std::string& value) { to = to.empty() ? value : to; };
  for (const auto& [name, value] : settings.items()) {
    const auto text = value.get<std::string>();
    if (name == "endpoint") {
      take(verb.endpoint.url, verb.model.empty() ? text : "");
    } else if (name == "model") {
      take(verb.model, text);
    } else if (name == "dtype") {
      verb.local.dtype = text;
    } else if (name != "generator") {
      verb.options.set(name, text, "file");
    }
  }
}

void apply_config(AcceptVerb& verb) {
  const std::string& path = verb.common.config;
  const auto file = nlohmann::json::parse(read_file(path), nullptr, false);
  if (!file.is_object() || file.value("schema", "") != "gyre.accept_run/1") {
    verb.options.apply_file(path);
    return;
  }
  try {
    apply_run_file(verb, file.at("settings"));
  } catch (const nlohmann::json::exception& fault) {
    throw Error(Code::Format, path, ": not the run.json of an acceptance run (",
                json_words(fault.what()), ")");
  }
}

int run_verb(AcceptVerb& verb, bool plan, bool show) {
  if (show) {
    if (verb.out.empty()) {
      throw Error(Code::Usage, "accept show: which run? give its folder with --out DIR");
    }
    return run_accept_show(verb);
  }
  if (!verb.common.config.empty()) {
    apply_config(verb);
  }
  verb.options.apply_flags();
  if (verb.common.print_config) {
    std::cout << verb.options.describe();
    return 0;
  }
  if (plan) {
    accept::check(verb.accept);
    return run_accept_plan(verb);
  }
  check_usage(verb);
  if (verb.out.empty()) {
    throw Error(Code::Usage, "accept: where to? give a folder with --out DIR");
  }
  return run_accept(verb);
}

void add_subject(CLI::App& app, AcceptVerb& verb) {
  app.add_option("--endpoint", verb.endpoint.url,
                 "OpenAI-compatible service, e.g. http://127.0.0.1:8080/v1")
      ->type_name("URL")
      ->group(kSubject);
  app.add_option("--model", verb.model,
                 "its model there (the only one if left out); without --endpoint: a run, model "
                 "folder or .gguf file in this process")
      ->type_name("NAME|PATH")
      ->group(kSubject);
  app.add_option("--key-env", verb.key_env,
                 "environment variable that holds the key; it is never written [OPENAI_API_KEY]")
      ->type_name("NAME")
      ->group(kSubject);
  app.add_option("--ca", verb.endpoint.ca_file, "certificates to trust beside the system's")
      ->type_name("FILE")
      ->group(kSubject);
  app.add_option("--dtype", verb.local.dtype, "compute type in process: fp32 | bf16 [fp32]")
      ->type_name("")
      ->group(kSubject);
  app.add_option("--chunk", verb.local.chunk, "tokens of one pass of a prompt in process [512]")
      ->type_name("")
      ->group(kSubject);
  const auto clock = [&](const char* flag, double& value, const char* help) {
    app.add_option(flag, value, str(help, " [", value, "]"))->type_name("S")->group(kClocks);
  };
  clock("--connect-s", verb.endpoint.connect_s, "seconds until connected");
  clock("--first-byte-s", verb.endpoint.first_byte_s,
        "until the first byte; grows with the prompt once answers were timed");
  clock("--idle-s", verb.endpoint.idle_s, "between two bytes");
  clock("--total-s", verb.endpoint.total_s, "for the whole answer");
  clock("--longest-wait-s", verb.longest_wait_s, "a server may ask to wait, in all");
  app.add_option("--attempts", verb.attempts, "of one item whose answer fails for a while [3]")
      ->type_name("N")
      ->group(kClocks);
}

void add_run(CLI::App& app, AcceptVerb& verb) {
  app.add_option("--out", verb.out,
                 "folder for run.json, samples.jsonl, prompts/, accept.json; a run in it goes on")
      ->type_name("DIR")
      ->group(kRun);
  app.add_flag("--force", verb.force, "start over in a folder that holds a run")->group(kRun);
  app.add_flag("--yes", verb.yes, "send more than --ask-above requests")->group(kRun);
  app.add_option("--junit", verb.junit, "write JUnit XML")->type_name("PATH")->group(kRun);
  app.add_option("--before", verb.accept.before,
                 "folder of a run before a change: the same items are compared")
      ->type_name("DIR")
      ->group(kRun);
}

}  // namespace

Action add_accept(CLI::App& app) {
  const auto verb = std::make_shared<AcceptVerb>();
  add_subject(app, *verb);
  verb->options.add(app, "Acceptance", fields_of(verb->accept));
  add_run(app, *verb);
  add_common(app, verb->common);
  CLI::App* plan = app.add_subcommand(
      "plan", "requests, tokens, time and money of these flags; nothing is sent");
  CLI::App* show = app.add_subcommand("show", "one item of the run in --out with its full prompt");
  plan->fallthrough();
  show->fallthrough();
  show->add_option("sid", verb->sid, "the item's id, or its beginning")->required();
  app.require_subcommand(0, 1);
  app.footer(
      "Running the same command again goes on where it stopped. Exit: 0 PASS, 1 FAIL or "
      "UNDECIDED,\n"
      "2 usage, 4 nothing at the address answers, 130 Ctrl-C. See docs/accept.md.");
  return [verb, plan, show] { return run_verb(*verb, plan->parsed(), show->parsed()); };
}

}  // namespace gyre::cli
