// gyre phase: phase curves, turns inside a length, near-equal offsets, reach of a mask over layers.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/options.h"
#include "gyre/cli/verb.h"
#include "gyre/report/csv.h"
#include "gyre/verify/phase.h"

namespace gyre::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kCaption =
    "Phase is not attention weight and not accuracy: content and weights decide those too.";

constexpr const char* kNoLength =
    "--lengths: expected numbers of tokens between commas, got nothing; e.g. 2048,128k";

struct PhaseVerb {
  CommonOptions common;
  std::string theta = "1,0.1,0.01";
  double base = 10000.0;
  int64_t pairs = 32, distance = 32, collisions = 0, layers = 64;
  bool has_theta = false, has_spacing = false, has_lengths = false, force = false;  // flags given
  std::string lengths;  // numbers between commas
  std::string mask, csv;
};

// Above 2 pi per token whole distances see theta mod 2 pi, and large products have no phase left.
std::vector<double> listed(const std::string& text) {
  constexpr double kTurn = 2.0 * std::numbers::pi;
  std::vector<double> out;
  for (size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(',', begin);
    const std::string item = text.substr(begin, end == std::string::npos ? end : end - begin);
    if (item.empty()) {
      throw Error(Code::Usage, "--theta: expected numbers between commas, got '", text, "'");
    }
    double theta = 0.0;
    try {
      gyre::detail::parse(item, theta);
    } catch (const Error& error) {
      throw Error(Code::Usage, "--theta: ", error.what());
    }
    if (theta < 0.0 || theta > kTurn) {
      throw Error(Code::Usage, "--theta: frequencies are 0 to 2 pi rad per token, got ", item);
    }
    out.push_back(theta);
  }
  return out;
}

std::vector<double> frequencies(const PhaseVerb& verb) {
  if (!verb.has_spacing) {
    return listed(verb.theta);
  }
  if (verb.has_theta) {
    throw Error(Code::Usage, "phase: give --theta, or --base with --pairs");
  }
  if (!(verb.base > 1.0) || verb.pairs < 1 || verb.pairs > 4096) {
    throw Error(Code::Usage, "phase: --base must be above 1 and --pairs 1 to 4096, got ", verb.base,
                " and ", verb.pairs);
  }
  std::vector<double> out;
  for (int64_t m = 0; m < verb.pairs; ++m) {
    out.push_back(std::pow(verb.base, -static_cast<double>(m) / static_cast<double>(verb.pairs)));
  }
  return out;
}

std::vector<int64_t> lengths_of(const PhaseVerb& verb) {
  std::vector<int64_t> out;
  std::istringstream parts(verb.has_lengths ? verb.lengths + "," : "");
  for (std::string text; std::getline(parts, text, ',');) {
    int64_t length = 0;
    if (text.empty()) {
      throw Error(Code::Usage, kNoLength);
    }
    gyre::detail::parse(text, length);
    if (length < 1) {
      throw Error(Code::Usage, "--lengths: expected positive numbers of tokens, got '", text, "'");
    }
    out.push_back(length);
  }
  return out;
}

void check_usage(const PhaseVerb& verb) {
  if (!verb.csv.empty() && std::filesystem::exists(verb.csv) && !verb.force) {
    throw Error(Code::Usage, verb.csv, " exists; give another --csv or --force");
  }
  if (verb.layers < 1 || verb.layers > 4096) {
    throw Error(Code::Usage, "--layers must be 1 to 4096, got ", verb.layers);
  }
  constexpr int64_t kMost = 1 << 20;
  if (verb.distance < 1 || verb.distance > kMost || verb.collisions < 0 ||
      verb.collisions > kMost) {
    throw Error(Code::Usage, "--distance and --collisions must lie in 1 to ", kMost, ", got ",
                verb.distance, " and ", verb.collisions);
  }
  if (!verb.mask.empty() && verb.distance > 4096) {
    throw Error(Code::Usage, "--mask: the reach is searched up to --distance 4096, got ",
                verb.distance);
  }
}

Json finite(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json curves_json(const PhaseVerb& verb, const std::vector<double>& bands) {
  Json out = Json::array();
  for (const double theta : bands) {
    const auto curve = verify::phase_curve(theta, verb.distance);
    out.push_back(Json{{"theta", theta},
                       {"wavelength", finite(position::wavelength_tokens(theta))},
                       {"recurrence", verify::first_recurrence(theta, 0.999, 100000)},
                       {"cos", curve}});
  }
  return out;
}

Json coverage_json(const std::vector<int64_t>& lengths, const std::vector<double>& bands) {
  Json out = Json::array();
  for (const int64_t length : lengths) {
    Json turns = Json::array();
    for (const double theta : bands) {
      turns.push_back(verify::turns(theta, static_cast<double>(length)));
    }
    out.push_back(
        Json{{"length", length},
             {"turns", std::move(turns)},
             {"never_completed", verify::never_completed(bands, static_cast<double>(length))}});
  }
  return out;
}

Json collisions_json(const PhaseVerb& verb, const std::vector<double>& bands) {
  Json out = Json::array();
  for (const verify::Collision& one : verify::collisions(bands, verb.collisions, 5)) {
    out.push_back(Json{{"difference", one.difference}, {"distance", one.distance}});
  }
  return out;
}

Json reach_json(const PhaseVerb& verb) {
  if (verb.mask.empty()) {
    return nullptr;
  }
  const auto cycle = 1 + std::count(verb.mask.begin(), verb.mask.end(), '/');
  auto needed =
      verify::layers_to_reach(position::parse_masks(verb.mask, cycle), verb.distance, verb.layers);
  std::reverse(needed.begin(), needed.end());  // by distance
  return Json{{"mask", verb.mask}, {"layers", verb.layers}, {"layers_needed", needed}};
}

std::string rounded(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.6g", value);
  return buffer;
}

void print(const Json& json) {
  const auto distance = json["distance"].get<int64_t>();
  for (const Json& band : json["phase"]) {
    std::cout << "theta " << rounded(band["theta"].get<double>()) << "  wavelength "
              << (band["wavelength"].is_null() ? "none" : rounded(band["wavelength"].get<double>()))
              << "  cos at distance " << distance << ": "
              << rounded(band["cos"].back().get<double>());
    const auto recurrence = band["recurrence"].get<int64_t>();
    std::cout << (recurrence == 0 ? "" : str("  back (cos > 0.999) at ", recurrence)) << '\n';
  }
  for (const Json& one : json["coverage"]) {
    std::cout << "length " << one["length"] << ": " << one["never_completed"].size() << " of "
              << one["turns"].size() << " never complete a turn; slowest "
              << rounded(one["turns"].back().get<double>()) << " turns\n";
  }
  for (const Json& one : json["collisions"]) {
    std::cout << "offsets " << one["difference"] << " apart: phase distance "
              << rounded(one["distance"].get<double>()) << '\n';
  }
  if (!json["reach"].is_null()) {
    const auto needed = json["reach"]["layers_needed"].get<std::vector<int64_t>>();
    std::cout << json["reach"]["mask"].get<std::string>() << ": distance " << distance;
    const int64_t n = needed.back() < 0 ? json["reach"]["layers"].get<int64_t>() : needed.back();
    std::cout << (needed.back() < 0 ? " is out of reach within " : " needs ") << n
              << (n == 1 ? " layer\n" : " layers\n");
  }
  std::cout << kCaption << '\n';
}

void write_csv(const std::string& path, const Json& json) {
  report::Csv csv({"theta", "distance", "cos"});
  for (const Json& band : json["phase"]) {
    int64_t distance = 0;
    for (const Json& value : band["cos"]) {
      csv.row(band["theta"].get<double>(), distance++, value.get<double>());
    }
  }
  write_file_atomic(path, csv.text());
}

int run_phase(const PhaseVerb& verb) {
  check_usage(verb);
  const auto bands = frequencies(verb);
  const Json json{{"schema", "gyre.phase/1"},
                  {"distance", verb.distance},
                  {"phase", curves_json(verb, bands)},
                  {"coverage", coverage_json(lengths_of(verb), bands)},
                  {"collisions", collisions_json(verb, bands)},
                  {"reach", reach_json(verb)},
                  {"caption", kCaption}};
  if (!verb.csv.empty()) {
    write_csv(verb.csv, json);
  }
  write_json(verb.common, json.dump(1));
  if (verb.common.json != "-") {
    print(json);
  }
  return 0;
}

}  // namespace

Action add_phase(CLI::App& app) {
  const auto verb = std::make_shared<PhaseVerb>();
  app.add_option("--json", verb->common.json, "write one JSON object to PATH; - = stdout")
      ->type_name("PATH")
      ->group("Output");
  app.add_option("--csv", verb->csv, "write the curves to PATH: theta, distance, cos")
      ->type_name("PATH")
      ->group("Output");
  app.add_flag("--force", verb->force, "overwrite the --csv file")->group("Output");
  const auto frequency = [&app](const char* name, auto& value, const char* help) {
    return app.add_option(name, value, help)->type_name("")->group("Frequencies");
  };
  const auto* theta = frequency("--theta", verb->theta, "frequencies, rad per token [1,0.1,0.01]");
  const auto* base =
      frequency("--base", verb->base, "or base^(-m / pairs) for every pair m [10000]");
  const auto* pairs =
      frequency("--pairs", verb->pairs, "rotated pairs, half the rotated channels [32]");
  app.add_option("--distance", verb->distance, "last distance of the curves, tokens [32]")
      ->type_name("")
      ->group("What");
  const auto* lengths =
      app.add_option("--lengths", verb->lengths,
                     "turns of every pair inside these lengths, e.g. 2048,128k (k = 1000)")
          ->expected(0, 1)  // none is answered by lengths_of()
          ->type_name("")
          ->group("What");
  app.add_option("--collisions", verb->collisions,
                 "closest offsets up to this many tokens apart [none]")
      ->type_name("")
      ->group("What");
  app.add_option("--mask", verb->mask,
                 "layers needed to reach back under this mask, e.g. window:128")
      ->type_name("")
      ->group("What");
  app.add_option("--layers", verb->layers, "with --mask: layers searched [64]")
      ->type_name("")
      ->group("What");
  return [verb, theta, base, pairs, lengths] {
    verb->has_lengths = lengths->count() > 0;
    verb->has_theta = theta->count() > 0;
    verb->has_spacing = base->count() + pairs->count() > 0;
    return run_phase(*verb);
  };
}

}  // namespace gyre::cli
