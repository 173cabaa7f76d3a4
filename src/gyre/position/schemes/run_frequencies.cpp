#include "gyre/position/schemes/run_frequencies.h"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/position/schemes/common.h"

namespace gyre::position {
namespace {

using Layers = std::vector<std::vector<Bands>>;  // [layer or 1][group][pair]

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

Layers read_layers(const std::filesystem::path& path) {
  const auto json = nlohmann::json::parse(last_line(path), nullptr, false);
  if (!json.is_object() || json.value("schema", "") != "gyre.frequency/1") {
    throw Error(Code::Format, path.string(), ": the last line is no gyre.frequency/1 object");
  }
  try {
    return json.at("inv_freq").get<Layers>();
  } catch (const nlohmann::json::exception&) {
    throw Error(Code::Format, path.string(),
                ": the last line has no 'inv_freq' of the form [layer][group][pair]");
  }
}

void check_layer(std::string_view scheme, const std::vector<Bands>& groups,
                 const PlanRequest& request, const std::filesystem::path& path) {
  const auto n_groups = static_cast<int64_t>(groups.size());
  if (n_groups > 1 && n_groups != request.n_kv_heads) {
    throw Error(Code::Usage, scheme, ": ", path.string(), " has frequencies for ", n_groups,
                " key/value heads, this model has ", request.n_kv_heads);
  }
  for (const auto& bands : groups) {
    const auto n_pairs = static_cast<int64_t>(bands.size());
    if (2 * n_pairs > request.head_dim || bands.size() != groups[0].size()) {
      throw Error(Code::Usage, scheme, ": ", path.string(), " has ", n_pairs,
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

}  // namespace

PositionPlan run_plan(std::string_view scheme, const std::string& run, PairLayout layout,
                      const PlanRequest& request) {
  const std::filesystem::path path = std::filesystem::path(run) / "frequencies.jsonl";
  const Layers layers = read_layers(path);
  const auto n_layers = static_cast<int64_t>(layers.size());
  if (n_layers != 1 && n_layers != request.n_layers) {
    throw Error(Code::Usage, scheme, ": ", path.string(), " has frequencies for ", n_layers,
                " layers, this model has ", request.n_layers);
  }
  PositionPlan plan = unrotated_plan(request);
  plan.layout = stated_layout(layout, request);
  for (size_t n = 0; n < plan.layers.size(); ++n) {
    const auto& groups = layers[n_layers == 1 ? 0 : n];
    check_layer(scheme, groups, request, path);
    plan.layers[n].inv_freq = groups;
    const auto n_pairs = groups.empty() ? 0 : static_cast<int64_t>(groups[0].size());
    if (n > 0 && 2 * n_pairs != plan.rotary_dim) {
      throw Error(Code::Usage, scheme, ": ", path.string(), " has ", n_pairs,
                  " pairs per head in layer ", n, " and ", plan.rotary_dim / 2,
                  " in layer 0; a plan needs as many in every layer");
    }
    plan.rotary_dim = 2 * n_pairs;
  }
  return plan;
}

PositionPlan unextended_plan(std::string_view scheme, const ExtendedOptions& options,
                             const PlanRequest& request) {
  check_base(scheme, options.base);
  check_head_dim(scheme, request);
  const int64_t R = options.rotary == 0 ? request.head_dim : options.rotary;
  if (R < 2 || R % 2 != 0 || R > request.head_dim) {
    throw Error(Code::Usage, scheme, ": 'rotary' must be even and at most the head dim ",
                request.head_dim, ", got ", options.rotary);
  }
  if (options.from.empty()) {
    return rotary_plan(request, options.layout, geometric_bands(options.base, R / 2, R));
  }
  if (options.rotary != 0) {
    throw Error(Code::Usage, scheme, ": 'rotary' is the run's own when 'from' is given, got ",
                options.rotary, "; leave it out");
  }
  return run_plan(scheme, options.from, options.layout, request);
}

void change_bands(PositionPlan& plan, const std::function<Bands(const Bands&)>& change) {
  for (LayerPlan& layer : plan.layers) {
    for (Bands& bands : layer.inv_freq) {
      bands = change(bands);
    }
  }
}

void check_factor(std::string_view scheme, double factor) {
  if (!(factor >= 1.0) || !std::isfinite(factor)) {
    throw Error(Code::Usage, scheme, ": 'factor' must be 1 or more, got ", factor);
  }
}

int64_t original_length(std::string_view scheme, int64_t given, const PlanRequest& request) {
  const int64_t length = given == 0 ? request.train_length : given;
  if (length < 2) {
    throw Error(Code::Usage, scheme, ": 'original' must be the training length in tokens, got ",
                given, given == 0 ? " and the model's own is not known" : "");
  }
  return length;
}

int64_t sequence_length(const PlanRequest& request) {
  return request.length == 0 ? request.train_length : request.length;
}

}  // namespace gyre::position
