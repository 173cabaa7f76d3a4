// gyre generate: a quick look at what a model says, as it says it.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/log.h"
#include "gyre/cli/option_set.h"
#include "gyre/cli/signals.h"
#include "gyre/cli/verb.h"
#include "gyre/model/generate.h"
#include "gyre/train/any_model.h"
#include "gyre/train/train_options.h"

namespace gyre::cli {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr auto kReplace = Json::error_handler_t::replace;  // of bytes that are no UTF-8

constexpr int64_t kMostTokens = 10000000;

struct LengthOptions {
  int64_t tokens = 64;   // new ones per row, at most
  bool keep_on = false;  // past an end-of-text token

  template <class V>
  void fields(V& v) {
    v("tokens", tokens, "new tokens per row, at most");
    v("keep-on", keep_on, "go on after an end-of-text token");
  }
};

struct ComputeOptions {
  std::string dtype =
      train::fastest_dtype() == train::ComputeDtype::Bf16 ? "bf16" : "fp32";  // of weights

  template <class V>
  void fields(V& v) {
    v("dtype", dtype, "fp32 | bf16");
  }
};

struct GenerateVerb {
  CommonOptions common;
  OptionSet options;
  model::SamplerOptions sampler;
  LengthOptions length;
  ComputeOptions compute;
  std::string model;
  std::vector<std::string> texts;
};

void check_usage(const GenerateVerb& verb) {
  if (verb.model.empty()) {
    throw Error(Code::Usage,
                "generate: which model? give a folder with config.json, a .gguf file or a run");
  }
  if (verb.texts.empty()) {
    throw Error(Code::Usage, "generate: give a prompt with --text; several make one batch");
  }
  if (verb.length.tokens < 1 || verb.length.tokens > kMostTokens) {
    throw Error(Code::Usage, "--tokens must be 1 to ", kMostTokens, ", got ", verb.length.tokens);
  }
  const std::string& dtype = verb.compute.dtype;
  if (dtype != "fp32" && dtype != "bf16") {
    throw Error(Code::Usage, "--dtype must be fp32 or bf16, got '", dtype, "'");
  }
  model::check(verb.sampler);
}

std::vector<std::vector<int64_t>> prompts_of(const GenerateVerb& verb, const train::AnyModel& any) {
  std::vector<std::vector<int64_t>> prompts;
  for (const std::string& text : verb.texts) {
    std::vector<int64_t> ids = any.prompt(text, model::Specials::Parse);
    if (ids.empty()) {
      throw Error(Code::Usage, "generate: '", text,
                  "' has no token, and without one nothing comes next");
    }
    prompts.push_back(std::move(ids));
  }
  return prompts;
}

size_t longest(const std::vector<std::vector<int64_t>>& rows) {
  size_t most = 0;
  for (const auto& row : rows) {
    most = std::max(most, row.size());
  }
  return most;
}

std::vector<int32_t> narrow(const std::vector<int64_t>& ids) {
  return {ids.begin(), ids.end()};
}

struct Result {
  std::vector<std::vector<int64_t>> prompts, tokens;
  double first_s = 0.0, rest_s = 0.0;  // to the first token of all rows, and the others
};

// One row is printed as it comes; a batch when it is done.
Result run(const GenerateVerb& verb, const train::AnyModel& any) {
  Result result;
  result.prompts = prompts_of(verb, any);
  const auto length = static_cast<int64_t>(longest(result.prompts)) + verb.length.tokens;
  if (any.max_length > 0 && length > any.max_length) {
    log(Level::Warning, verb.model, ": up to ", length, " tokens, the model was made for ",
        any.max_length);
  }
  const model::Transformer model = any.at_length(length);
  model::GenerateOptions options{
      .n_tokens = verb.length.tokens, .ends = {}, .sampler = verb.sampler};
  if (!verb.length.keep_on) {
    options.ends = any.tokenizer->special_ids().eos;
  }
  const bool streams = verb.texts.size() == 1 && verb.common.json != "-";
  model::TextStream stream(*any.tokenizer, true);
  if (streams) {
    std::cout << verb.texts[0] << std::flush;
  }
  const auto start = Clock::now();
  auto first = start;
  const auto on_token = [&](size_t row, int64_t id) {
    first = first == start ? Clock::now() : first;
    if (streams) {
      std::cout << stream.push(static_cast<int32_t>(id)) << std::flush;
    }
    return std::cout.good() || row > 0;
  };
  result.tokens = model::generate(model, result.prompts, options, on_token);
  result.first_s = std::chrono::duration<double>(first - start).count();
  result.rest_s = std::chrono::duration<double>(Clock::now() - first).count();
  if (streams) {
    std::cout << stream.finish() << std::endl;
  } else if (verb.common.json != "-") {
    for (size_t row = 0; row < verb.texts.size(); ++row) {
      std::cout << "[" << row << "] " << verb.texts[row]
                << any.tokenizer->decode(narrow(result.tokens[row])) << '\n';
    }
  }
  return result;
}

Json to_json(const GenerateVerb& verb, const train::AnyModel& any, const Result& result) {
  Json rows = Json::array();
  for (size_t row = 0; row < result.tokens.size(); ++row) {
    rows.push_back(Json{{"prompt_tokens", result.prompts[row]},
                        {"tokens", result.tokens[row]},
                        {"text", any.tokenizer->decode(narrow(result.tokens[row]))}});
  }
  return Json{{"schema", "gyre.generate/1"}, {"model", verb.model},
              {"family", any.family},        {"dtype", verb.compute.dtype},
              {"rows", std::move(rows)},     {"first_token_s", result.first_s},
              {"rest_s", result.rest_s}};
}

int run_generate(GenerateVerb& verb) {
  if (!verb.common.config.empty()) {
    verb.options.apply_file(verb.common.config);
  }
  verb.options.apply_flags();
  if (verb.common.print_config) {
    std::cout << "Input.model = " << verb.model << '\n';
    for (const std::string& text : verb.texts) {
      std::cout << "Input.text = " << Json(text).dump(-1, ' ', false, kReplace) << '\n';
    }
    std::cout << verb.options.describe() << "General.device = " << verb.common.device
              << "\nGeneral.threads = " << verb.common.threads << '\n';
    return 0;
  }
  check_usage(verb);
  apply_common(verb.common);
  end_when_told();
  const train::AnyModel any = train::load_any_model(
      verb.model, {.dtype = verb.compute.dtype == "bf16" ? at::kBFloat16 : at::kFloat,
                   .device = at::Device(verb.common.device),
                   .text_for = "generate"});
  const Result result = run(verb, any);
  const size_t n = longest(result.tokens);
  char line[160];
  std::snprintf(line, sizeof line,
                "first token after %.0f ms (%zu prompt tokens), then %.1f tokens/s",
                1e3 * result.first_s, longest(result.prompts),
                n > 1 && result.rest_s > 0 ? static_cast<double>(n - 1) / result.rest_s : 0.0);
  log(Level::Info, line);
  write_json(verb.common, to_json(verb, any, result).dump(1, ' ', false, kReplace));
  return 0;
}

}  // namespace

Action add_generate(CLI::App& app) {
  const auto verb = std::make_shared<GenerateVerb>();
  add_common(app, verb->common);
  app.add_option("model", verb->model, "folder with config.json, .gguf file, or a run of gyre")
      ->type_name("MODEL");
  app.add_option("--text", verb->texts, "prompt; --text A --text B make one batch")
      ->type_name("STR")
      ->allow_extra_args(false)  // what follows one prompt is the model
      ->group("Input");
  verb->options.add(app, "Output", fields_of(verb->length));
  verb->options.add(app, "General", fields_of(verb->compute));
  verb->options.add(app, "Sampling", fields_of(verb->sampler));
  return [verb] { return run_generate(*verb); };
}

}  // namespace gyre::cli
