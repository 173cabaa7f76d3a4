// gyre logits: what a model says comes next, as numbers that other engines can be compared with.
#include <ATen/ops/tensor.h>
#include <ATen/ops/topk.h>
#include <c10/core/GradMode.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/log.h"
#include "gyre/base/options.h"
#include "gyre/cli/signals.h"
#include "gyre/cli/verb.h"
#include "gyre/train/any_model.h"

namespace gyre::cli {
namespace {

using Json = nlohmann::ordered_json;

struct LogitsVerb {
  CommonOptions common;
  std::string model, text, tokens, npy, dtype = "fp32";
  int64_t top = 10;
  bool has_text = false, has_tokens = false, all = false;
};

void check_usage(const LogitsVerb& verb) {
  if (verb.model.empty()) {
    throw Error(Code::Usage,
                "logits: which model? give a folder with config.json, a .gguf file or a run");
  }
  if (verb.has_text == verb.has_tokens) {
    throw Error(Code::Usage, "logits: give --text or --tokens, one of them");
  }
  if (verb.dtype != "fp32" && verb.dtype != "bf16") {
    throw Error(Code::Usage, "--dtype must be fp32 or bf16, got '", verb.dtype, "'");
  }
  if (verb.top < 1) {
    throw Error(Code::Usage, "--top must be at least 1, got ", verb.top);
  }
  check_output("--npy", verb.npy);
}

std::vector<int64_t> listed(const std::string& text) {
  std::vector<int64_t> out;
  std::istringstream parts(text + ",");
  for (std::string item; std::getline(parts, item, ',');) {
    int64_t id = 0;
    try {
      gyre::detail::parse(item, id);
    } catch (const Error&) {
      throw Error(Code::Usage, "--tokens: expected token ids between commas, got '", item, "'");
    }
    out.push_back(id);
  }
  return out;
}

std::vector<int64_t> tokens_of(const LogitsVerb& verb, const train::AnyModel& any) {
  std::vector<int64_t> out;
  if (verb.has_tokens) {
    out = listed(verb.tokens);
  } else {
    out = any.prompt(verb.text, model::Specials::Parse);
  }
  const int64_t vocab = any.model.config().vocab;
  for (const int64_t id : out) {
    if (id < 0 || id >= vocab) {
      throw Error(Code::Usage, "logits: token ", id, " is outside the vocabulary of ", vocab);
    }
  }
  if (out.empty()) {
    throw Error(Code::Usage, "logits: the text has no token, and without one nothing comes next");
  }
  return out;
}

// Nine digits hold a float; more would only be noise of its decimal form.
Json number(double value) {
  if (!std::isfinite(value)) {
    return nullptr;
  }
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.9g", value);
  return std::strtod(buffer, nullptr);
}

// Bytes that are no UTF-8 by themselves (a part of a character) as U+FFFD: JSON holds text.
std::string text_of(const train::AnyModel& any, int64_t id) {
  if (any.tokenizer == nullptr || id >= any.tokenizer->vocab()) {
    return "";
  }
  const std::string piece = any.tokenizer->piece(static_cast<int32_t>(id));
  const std::string quoted = Json(piece).dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(quoted).get<std::string>();
}

Json top_of(const train::AnyModel& any, const at::Tensor& logits_V, int64_t n) {
  const auto [values, ids] = at::topk(logits_V, std::min(n, logits_V.size(0)));
  Json out = Json::array();
  for (int64_t i = 0; i < ids.size(0); ++i) {
    const auto id = ids[i].item<int64_t>();
    out.push_back(
        Json{{"id", id}, {"text", text_of(any, id)}, {"logit", number(values[i].item<double>())}});
  }
  return out;
}

Json rows_of(const at::Tensor& logits_TV) {
  Json out = Json::array();
  const at::Tensor plain = logits_TV.to(at::kFloat).cpu().contiguous();
  const float* item = plain.const_data_ptr<float>();
  for (int64_t t = 0; t < plain.size(0); ++t) {
    Json row = Json::array();
    for (int64_t v = 0; v < plain.size(1); ++v) {
      row.push_back(number(*item++));
    }
    out.push_back(std::move(row));
  }
  return out;
}

// NumPy's format 1.0: magic, version, length of the header, the header padded to 64 bytes, the
// floats.
void write_npy(const std::string& path, const at::Tensor& logits_TV) {
  const at::Tensor plain = logits_TV.to(at::kFloat).cpu().contiguous();
  std::string header = str("{'descr': '<f4', 'fortran_order': False, 'shape': (", plain.size(0),
                           ", ", plain.size(1), "), }");
  header.resize((10 + header.size() + 64) / 64 * 64 - 10, ' ');
  header.back() = '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size());  // 118 at most: the high byte is 0
  bytes += '\0';
  bytes += header;
  bytes.append(static_cast<const char*>(plain.const_data_ptr()), plain.nbytes());
  write_file_atomic(path, bytes);
}

void print(const Json& json) {
  std::cout << "after " << json["tokens"].size() << " tokens\n      id     logit  text\n";
  for (const Json& one : json["top"]) {
    char line[64];
    std::snprintf(line, sizeof line, "%8lld  %8.4f  ",
                  static_cast<long long>(one["id"].get<int64_t>()),
                  one["logit"].is_null() ? NAN : one["logit"].get<double>());
    std::cout << line << one["text"].dump() << '\n';
  }
}

int run_logits(const LogitsVerb& verb) {
  check_usage(verb);
  apply_common(verb.common);
  end_when_told();
  const c10::NoGradGuard no_grad;
  const at::Device device(verb.common.device);
  const train::AnyModel any =
      train::load_any_model(verb.model, {.dtype = verb.dtype == "bf16" ? at::kBFloat16 : at::kFloat,
                                         .device = device,
                                         .text_for = verb.has_text ? "logits" : ""});
  const std::vector<int64_t> ids = tokens_of(verb, any);
  const auto T = static_cast<int64_t>(ids.size());
  if (any.max_length > 0 && T > any.max_length) {
    log(Level::Warning, verb.model, ": ", T, " tokens, the model was made for ", any.max_length);
  }
  const model::Transformer model = any.at_length(T);
  const at::Tensor tokens_BT = at::tensor(ids, at::kLong).view({1, T}).to(device);
  at::Tensor hidden_TC = model.hidden(tokens_BT)[0];
  const bool every = verb.all || !verb.npy.empty();
  hidden_TC = every ? hidden_TC : hidden_TC.narrow(0, T - 1, 1);
  const at::Tensor logits_TV = model.project(hidden_TC.unsqueeze(0))[0];
  Json json{{"schema", "gyre.logits/1"},
            {"model", verb.model},
            {"family", any.family},
            {"dtype", verb.dtype},
            {"tokens", ids},
            {"top", top_of(any, logits_TV[logits_TV.size(0) - 1].cpu(), verb.top)}};
  if (verb.all) {
    json["logits"] = rows_of(logits_TV);
  }
  if (!verb.npy.empty()) {
    write_npy(verb.npy, logits_TV);
  }
  write_json(verb.common, json.dump(verb.all ? -1 : 1));
  if (verb.common.json != "-") {
    print(json);
  }
  return 0;
}

}  // namespace

Action add_logits(CLI::App& app) {
  const auto verb = std::make_shared<LogitsVerb>();
  app.add_option("model", verb->model, "folder with config.json, .gguf file, or a run of gyre")
      ->type_name("MODEL");
  const auto* text = app.add_option("--text", verb->text, "prompt, tokenised as the model says")
                         ->type_name("STR")
                         ->group("Input");
  const auto* tokens = app.add_option("--tokens", verb->tokens, "or token ids between commas")
                           ->type_name("1,2,3")
                           ->group("Input");
  app.add_flag("--all", verb->all, "logits of every position and token, in --json")
      ->group("Output");
  app.add_option("--npy", verb->npy, "the same as a NumPy file, float32 [tokens, vocabulary]")
      ->type_name("PATH")
      ->group("Output");
  add_count(app, "--top", verb->top, "largest logits of the last position to list [10]")
      ->type_name("N")
      ->group("Output");
  app.add_option("--json", verb->common.json, "write one JSON object to PATH; - = stdout")
      ->type_name("PATH")
      ->group("Output");
  app.add_option("--dtype", verb->dtype, "fp32 | bf16: type of weights and activations [fp32]")
      ->type_name("")
      ->group("General");
  app.add_option("--device", verb->common.device, "cpu | cuda [cpu]")
      ->type_name("")
      ->group("General");
  app.add_option("--threads", verb->common.threads, "CPU threads; 0 = all cores [0]")
      ->type_name("")
      ->group("General");
  return [verb, text, tokens] {
    verb->has_text = text->count() > 0;
    verb->has_tokens = tokens->count() > 0;
    return run_logits(*verb);
  };
}

}  // namespace gyre::cli
