// Fixed frequencies taken from the end of another run: separates what learned frequencies are worth
// from what learning them does. Reads the last line of RUN/frequencies.jsonl
// (docs/file-formats.md).
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/position/schemes/common.h"

namespace gyre::position {
namespace {

using Bands = std::vector<std::vector<std::vector<double>>>;  // [layer or 1][group][pair]

struct Options {
  std::string from;
  PairLayout layout = PairLayout::Halves;  // frequencies do not depend on it; free to differ

  template <class V>
  void fields(V& v) {
    v("from", from, "run directory whose last frequencies are used");
    v("layout", layout, "channels of a pair: interleaved (0,1) or halves (0,D/2)");
  }
};

std::string last_line(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  const size_t end = text.find_last_not_of(" \r\n");
  if (end == std::string::npos) {
    throw Error(Code::Format, path.string(),
                ": the file is empty, expected a line per logged step");
  }
  const size_t begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1, end + 1 - (begin + 1));
}

Bands read_bands(const std::filesystem::path& path) {
  const auto json = nlohmann::json::parse(last_line(path), nullptr, false);
  if (!json.is_object() || json.value("schema", "") != "gyre.frequency/1") {
    throw Error(Code::Format, path.string(), ": the last line is no gyre.frequency/1 object");
  }
  try {
    return json.at("inv_freq").get<Bands>();
  } catch (const nlohmann::json::exception&) {
    throw Error(Code::Format, path.string(),
                ": the last line has no 'inv_freq' of the form [layer][group][pair]");
  }
}

void check_layer(const std::vector<std::vector<double>>& groups, const PlanRequest& request,
                 const std::filesystem::path& path) {
  const auto n_groups = static_cast<int64_t>(groups.size());
  if (n_groups > 1 && n_groups != request.n_kv_heads) {
    throw Error(Code::Usage, "frozen: ", path.string(), " has frequencies for ", n_groups,
                " key/value heads, this model has ", request.n_kv_heads);
  }
  for (const auto& bands : groups) {
    const auto n_pairs = static_cast<int64_t>(bands.size());
    if (2 * n_pairs > request.head_dim || bands.size() != groups[0].size()) {
      throw Error(Code::Usage, "frozen: ", path.string(), " has ", n_pairs,
                  " pairs per head, a head dim of ", request.head_dim, " has ",
                  request.head_dim / 2);
    }
    for (const double theta : bands) {
      if (!(theta >= 0.0) || !std::isfinite(theta)) {
        throw Error(Code::Format, path.string(), ": frequency ", theta,
                    " is not a finite number of 0 or more");
      }
    }
  }
}

PositionPlan plan(const Options& options, const PlanRequest& request) {
  if (options.from.empty()) {
    throw Error(Code::Usage, "frozen: 'from' must name a run directory; use frozen:from=RUN");
  }
  const std::filesystem::path path = std::filesystem::path(options.from) / "frequencies.jsonl";
  const Bands layers = read_bands(path);
  const auto n_layers = static_cast<int64_t>(layers.size());
  if (n_layers != 1 && n_layers != request.n_layers) {
    throw Error(Code::Usage, "frozen: ", path.string(), " has frequencies for ", n_layers,
                " layers, this model has ", request.n_layers);
  }
  PositionPlan plan = unrotated_plan(request);
  plan.layout = options.layout;
  for (size_t n = 0; n < plan.layers.size(); ++n) {
    const auto& groups = layers[n_layers == 1 ? 0 : n];
    check_layer(groups, request, path);
    plan.layers[n].inv_freq = groups;
    const auto n_pairs = groups.empty() ? 0 : static_cast<int64_t>(groups[0].size());
    if (n > 0 && 2 * n_pairs != plan.rotary_dim) {
      throw Error(Code::Usage, "frozen: ", path.string(), " has ", n_pairs,
                  " pairs per head in layer ", n, " and ", plan.rotary_dim / 2,
                  " in layer 0; a plan needs as many in every layer");
    }
    plan.rotary_dim = 2 * n_pairs;
  }
  return plan;
}

}  // namespace

SchemeInfo frozen_scheme() {
  return {
      "frozen", "the frequencies another run ended with, not trained any further",
      "theta_m = the last inv_freq in RUN/frequencies.jsonl (frozen arm of Karypis et al. 2026, "
      "arXiv:2607.10134)",
      []() -> std::unique_ptr<Scheme> { return std::make_unique<SchemeOf<Options, plan>>(); }};
}

}  // namespace gyre::position
