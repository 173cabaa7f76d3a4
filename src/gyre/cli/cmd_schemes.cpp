// `gyre schemes`: every position scheme with its options, defaults, formula and source; with
// --plan, the plans that given specs make, as JSON.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/options.h"
#include "gyre/cli/verb.h"
#include "gyre/position/scheme.h"

namespace gyre::cli {
namespace {

using Json = nlohmann::ordered_json;

Json option_to_json(const Field& field) {
  return Json{{"name", field.name},
              {"default", field.get()},
              {"help", field.help},
              {"choices", field.choices}};
}

/// --plan and the shape it is made for.
struct PlanFlags {
  std::vector<std::string> specs;
  std::string mask = "full";
  position::PlanRequest request{
      .n_layers = 12, .n_heads = 8, .n_kv_heads = 8, .head_dim = 64, .train_length = 2048};
};

void check_shape(const position::PlanRequest& shape) {
  const auto within = [](const char* flag, int64_t value, int64_t least, int64_t most) {
    if (value < least || value > most) {
      throw Error(Code::Usage, "schemes: ", flag, " must be ", least, " to ", most, ", got ",
                  value);
    }
  };
  constexpr int64_t kTokens = int64_t{1} << 40;
  within("--layers", shape.n_layers, 1, 4096);
  within("--heads", shape.n_heads, 1, 4096);
  within("--kv-heads", shape.n_kv_heads, 1, 4096);
  within("--head-dim", shape.head_dim, 1, 65536);
  within("--train-length", shape.train_length, 0, kTokens);
  within("--length", shape.length, 0, kTokens);
}

Json plans_to_json(const PlanFlags& flags) {
  check_shape(flags.request);
  Json list = Json::array();
  for (const std::string& spec : flags.specs) {
    const auto plan = position::make_plan(spec, flags.mask, flags.request);
    list.push_back(Json{{"spec", spec}, {"plan", Json::parse(position::plan_to_json(plan))}});
  }
  return list;
}

void add_plan_flags(CLI::App& app, PlanFlags& flags) {
  const auto add = [&](const char* name, auto& value, const char* help) {
    app.add_option(name, value, help)->capture_default_str()->group("Plans");
  };
  app.add_option("--plan", flags.specs, "also write the plan of this scheme to --json; repeatable")
      ->type_name("SPEC")
      ->group("Plans");
  add("--mask", flags.mask, "masks laid over the plans' layers");
  add("--layers", flags.request.n_layers, "layers of the plans");
  add("--heads", flags.request.n_heads, "query heads");
  add("--kv-heads", flags.request.n_kv_heads, "key/value heads");
  add("--head-dim", flags.request.head_dim, "channels per head");
  add("--train-length", flags.request.train_length, "tokens per training sequence; 0 = unknown");
  add("--length", flags.request.length, "tokens of the sequence at hand; 0 = --train-length");
}

Json schemes_to_json() {
  Json list = Json::array();
  for (const position::SchemeInfo& info : position::schemes()) {
    const auto scheme = info.make();
    Json options = Json::array();
    for (const Field& field : scheme->fields()) {
      options.push_back(option_to_json(field));
    }
    list.push_back(Json{{"name", info.name},
                        {"summary", info.summary},
                        {"formula", info.formula},
                        {"options", std::move(options)}});
  }
  return Json{{"schema", "gyre.schemes/1"}, {"schemes", std::move(list)}};
}

void print_option(const Json& option) {
  std::string left = "    " + option["name"].get<std::string>() + "=";
  const auto value = option["default"].get<std::string>();
  left += value.empty() ? "..." : value;
  left.resize(std::max<size_t>(left.size() + 2, 24), ' ');
  std::cout << left << option["help"].get<std::string>() << '\n';
}

void print_schemes(const Json& json) {
  for (const Json& scheme : json["schemes"]) {
    std::cout << scheme["name"].get<std::string>() << "\n  " << scheme["summary"].get<std::string>()
              << "\n  " << scheme["formula"].get<std::string>() << '\n';
    for (const Json& option : scheme["options"]) {
      print_option(option);
    }
    std::cout << '\n';
  }
  std::cout
      << "Write a scheme as NAME or NAME:option=value,option=value, e.g. rope:base=500000.\n"
         "Masks are a separate option (--mask): full, window:128, dilated:64x4,\n"
         "window:128+global:4, chunk:8192; '/' alternates over layers, e.g. window:128/full.\n";
}

}  // namespace

Action add_schemes(CLI::App& app) {
  auto common = std::make_shared<CommonOptions>();
  app.add_option("--json", common->json, "write the list as one JSON object to PATH; - = stdout")
      ->type_name("PATH")
      ->group("General");
  auto flags = std::make_shared<PlanFlags>();
  add_plan_flags(app, *flags);
  return [common, flags] {
    if (!flags->specs.empty() && common->json.empty()) {
      throw Error(Code::Usage, "schemes: --plan writes JSON; say where: --json PATH or --json -");
    }
    Json json = schemes_to_json();
    if (!flags->specs.empty()) {
      json["plans"] = plans_to_json(*flags);
    }
    if (common->json != "-") {
      print_schemes(json);
    }
    write_json(*common, json.dump(1));
    return 0;
  };
}

}  // namespace gyre::cli
