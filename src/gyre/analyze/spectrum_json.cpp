// spectrum.json, schema gyre.analyze.spectrum/1: kept so that a second run need not measure again.
#include <nlohmann/json.hpp>

#include "gyre/analyze/spectrum.h"
#include "gyre/base/error.h"
#include "gyre/base/json_words.h"

namespace gyre::analyze {
namespace {

using Json = nlohmann::ordered_json;

Json pair_json(const SpectrumPair& pair) {
  Json out = {{"pair", pair.pair},
              {"theta", pair.theta},
              {"gradient", pair.gradient},
              {"slope", pair.slope}};
  if (!pair.re.empty()) {
    out["signal"] = {{"re", pair.re}, {"im", pair.im}};
    out["surrogate"] = {{"theta", pair.grid}, {"value", pair.value}};
  }
  return out;
}

SpectrumPair read_pair(const Json& json) {
  SpectrumPair out;
  out.pair = json.at("pair").get<int64_t>();
  out.theta = json.at("theta").get<double>();
  out.gradient = json.at("gradient").get<double>();
  out.slope = json.at("slope").get<double>();
  if (json.contains("signal")) {
    out.re = json.at("signal").at("re").get<std::vector<double>>();
    out.im = json.at("signal").at("im").get<std::vector<double>>();
    out.grid = json.at("surrogate").at("theta").get<std::vector<double>>();
    out.value = json.at("surrogate").at("value").get<std::vector<double>>();
  }
  return out;
}

Spectrum read_spectrum(const Json& json) {
  Spectrum out;
  out.tokens = json.at("tokens").get<int64_t>();
  out.loss = json.at("loss").get<double>();
  out.worst = json.at("worst").get<double>();
  for (const Json& each : json.at("tables")) {
    SpectrumTable& table = out.tables.emplace_back();
    table.layers = each.at("layers").get<std::string>();
    for (const Json& pair : each.at("pairs")) {
      table.pairs.push_back(read_pair(pair));
    }
  }
  return out;
}

}  // namespace

std::string to_json(const Spectrum& spectrum) {
  Json tables = Json::array();
  for (const SpectrumTable& table : spectrum.tables) {
    Json pairs = Json::array();
    for (const SpectrumPair& pair : table.pairs) {
      pairs.push_back(pair_json(pair));
    }
    tables.push_back({{"layers", table.layers}, {"pairs", pairs}});
  }
  const Json json = {{"schema", "gyre.analyze.spectrum/1"},
                     {"tokens", spectrum.tokens},
                     {"loss", spectrum.loss},
                     {"worst", spectrum.worst},
                     {"tables", tables}};
  return json.dump(1);
}

Spectrum spectrum_from_json(const std::string& text, const std::string& owner) {
  try {
    return read_spectrum(Json::parse(text));
  } catch (const Json::exception& fault) {
    throw Error(Code::Format, owner, ": not a spectrum of gyre analyze: ", json_words(fault),
                "; --force starts over");
  }
}

}  // namespace gyre::analyze
