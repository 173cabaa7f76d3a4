// `gyre schemes`: every position scheme with its options, defaults, formula and source.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

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
  std::cout << "Write a scheme as NAME or NAME:option=value,option=value, e.g. rope:base=500000.\n"
               "Masks are a separate option (--mask): full, window:128, dilated:64x4,\n"
               "window:128+global:4; '/' alternates over layers, e.g. window:128/full.\n";
}

}  // namespace

Action add_schemes(CLI::App& app) {
  auto common = std::make_shared<CommonOptions>();
  app.add_option("--json", common->json, "write the list as one JSON object to PATH; - = stdout")
      ->type_name("PATH")
      ->group("General");
  return [common] {
    const Json json = schemes_to_json();
    if (common->json != "-") {
      print_schemes(json);
    }
    write_json(*common, json.dump(1));
    return 0;
  };
}

}  // namespace gyre::cli
