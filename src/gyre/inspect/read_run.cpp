// A gyre run: the plan of its manifest.json; learned frequencies as its frequencies.jsonl ended.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/options.h"
#include "gyre/inspect/readers.h"
#include "gyre/position/scheme.h"
#include "gyre/position/schemes/run_frequencies.h"

namespace gyre::inspect {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

const Json& field(const Json& object, const char* key, const std::string& owner) {
  if (!object.is_object() || !object.contains(key)) {
    throw Error(Code::Format, owner, ": field '", key, "' is missing");
  }
  return object.at(key);
}

int64_t whole(const Json& object, const char* key, const std::string& owner) {
  const Json& value = field(object, key, owner);
  if (!value.is_number_integer() || value.get<double>() < 0 || value.get<double>() > 1e15) {
    throw Error(Code::Format, owner, ": field '", key, "' must be a whole number, found ",
                value.dump().substr(0, 60));
  }
  return value.get<int64_t>();
}

std::string text(const Json& object, const char* key, const std::string& owner) {
  const Json& value = field(object, key, owner);
  if (!value.is_string()) {
    throw Error(Code::Format, owner, ": field '", key, "' must be text");
  }
  return value.get<std::string>();
}

void check_shape(const position::PositionPlan& plan, const std::string& owner) {
  if (plan.layers.empty() || plan.head_dim < 1 || plan.rotary_dim > plan.head_dim ||
      plan.rotary_dim < 0) {
    throw Error(Code::Format, owner, ": the plan has ", plan.layers.size(), " layers, head dim ",
                plan.head_dim, " and ", plan.rotary_dim, " rotated channels");
  }
  for (const position::LayerPlan& layer : plan.layers) {
    for (const auto& group : layer.inv_freq) {
      if (static_cast<int64_t>(group.size()) != plan.n_pairs()) {
        throw Error(Code::Format, owner, ": a layer of the plan has ", group.size(),
                    " frequencies, expected ", plan.n_pairs());
      }
    }
  }
}

// An option of the run's scheme, `otherwise` when it has none of that name.
double option(const std::string& spec, const char* name, double otherwise) {
  const auto scheme = position::make_scheme(spec);  // fields borrow it
  for (const Field& one : scheme->fields()) {
    if (one.name == name && one.kind == FieldKind::Real) {
      double value = otherwise;
      detail::parse(one.get(), value);
      return value;
    }
  }
  return otherwise;
}

int64_t whole_option(const std::string& spec, const char* name) {
  const auto scheme = position::make_scheme(spec);  // fields borrow it
  for (const Field& one : scheme->fields()) {
    if (one.name == name && one.kind == FieldKind::Int) {
      int64_t value = 0;
      detail::parse(one.get(), value);
      return value;
    }
  }
  return 0;
}

// "f_m = base^(-m/P) / factor" out of a table; base 0 = it is none of that form.
void read_geometry(const std::vector<double>& table, LayerKind& kind) {
  const auto n = static_cast<double>(table.size());
  if (table.size() < 2 || !(table[0] > 0.0) || !(table.back() > 0.0)) {
    return;
  }
  const double base = std::pow(table[0] / table.back(), n / (n - 1));
  for (size_t m = 0; m < table.size(); ++m) {
    const double expected = table[0] * std::pow(base, -static_cast<double>(m) / n);
    if (!(std::abs(table[m] / expected - 1.0) < 1e-9)) {
      return;
    }
  }
  // Ten digits: the power above is a few units in the last place off.
  const auto rounded = [](double value) {
    const double scale = std::pow(10.0, 10.0 - std::ceil(std::log10(value)));
    return std::round(value * scale) / scale;
  };
  kind.base = rounded(base);
  kind.factor = rounded(1.0 / table[0]);
}

std::string kind_name(const position::LayerPlan& layer) {
  if (layer.inv_freq.empty() && layer.slopes.empty()) {
    return "no_rotation";
  }
  return layer.mask.full() ? "full_attention" : "sliding_attention";
}

// Layers alike in every field of their plan, first layer first.
std::vector<LayerKind> kinds_of(const position::PositionPlan& plan, const LayerKind& common) {
  std::vector<LayerKind> kinds;
  for (size_t n = 0; n < plan.layers.size(); ++n) {
    const auto same = std::find_if(kinds.begin(), kinds.end(), [&](const LayerKind& kind) {
      return kind.plan == plan.layers[n];
    });
    if (same != kinds.end()) {
      same->layers.push_back(static_cast<int64_t>(n));
      continue;
    }
    LayerKind kind = common;
    kind.plan = plan.layers[n];
    kind.layers = {static_cast<int64_t>(n)};
    kind.rotary_dim = kind.plan.inv_freq.empty() ? 0 : plan.rotary_dim;
    kind.base = kind.plan.inv_freq.empty() ? 0.0 : common.base;
    // A scheme of several bases (local, global) has no option 'base': the table tells.
    if (kind.base == 0.0) {
      kind.factor = 1.0;
      if (!kind.plan.inv_freq.empty()) {
        read_geometry(kind.plan.inv_freq[0], kind);
      }
    }
    kind.name = kind_name(kind.plan);
    if (!kind.plan.mask.full()) {
      kind.window_convention = str(kind.plan.mask.window, " keys per query, its own included");
    }
    kinds.push_back(std::move(kind));
  }
  for (size_t i = 0; i < kinds.size(); ++i) {
    kinds[i].name = kinds.size() == 1  ? "all"
                    : kinds.size() > 3 ? str("layer ", kinds[i].layers[0])
                                       : kinds[i].name;
  }
  return kinds;
}

}  // namespace

ResolvedModel read_run(const fs::path& folder) {
  const fs::path file = folder / "manifest.json";
  const std::string owner = file.string();
  const std::string bytes = read_file(file);
  ResolvedModel model;
  model.raw = RawConfig::from_json(bytes, owner);  // refuses what is too deep or too large
  const Json json = Json::parse(bytes, nullptr, false);
  if (text(json, "schema", owner) != "gyre.manifest/1") {
    throw Error(Code::Format, owner, ": schema '", text(json, "schema", owner),
                "' is no gyre run; expected 'gyre.manifest/1'");
  }
  model.path = folder.string();
  model.source = SourceKind::Run;
  model.model_type = "gyre";
  model.known_type = true;
  model.reader = "gyre manifest";
  model.dtype = text(json, "dtype", owner);
  model.original_length = model.max_length = whole(json, "train_length", owner);
  const Json& sizes = field(json, "model", owner);
  model.hidden = whole(sizes, "width", owner);
  position::PositionPlan plan = position::plan_from_json(field(json, "plan", owner).dump(), owner);
  check_shape(plan, owner);
  model.n_layers = static_cast<int64_t>(plan.layers.size());

  LayerKind common;
  common.spec = text(json, "scheme", owner);
  common.scheme = common.spec.substr(0, common.spec.find(':'));
  common.n_heads = whole(sizes, "heads", owner);
  common.n_kv_heads = whole(sizes, "kv-heads", owner);
  common.n_kv_heads = common.n_kv_heads == 0 ? common.n_heads : common.n_kv_heads;
  common.head_dim = plan.head_dim;
  common.layout = plan.layout;
  common.length_rule = plan.length_rule;
  common.base = option(common.spec, "base", 0.0);
  common.factor = option(common.spec, "factor", 1.0);
  const int64_t original = whole_option(common.spec, "original");
  if (original > 0) {
    model.original_length = original;  // of the run that this one extends
  }
  Origin origin{OriginKind::Key, "manifest.json plan"};
  if (plan.learning.sharing != position::Sharing::None) {
    const auto learned = position::run_plan(common.scheme, folder.string(), plan.layout,
                                            {.n_layers = model.n_layers,
                                             .n_heads = common.n_heads,
                                             .n_kv_heads = common.n_kv_heads,
                                             .head_dim = plan.head_dim});
    for (size_t n = 0; n < plan.layers.size(); ++n) {
      plan.layers[n].inv_freq = learned.layers[n].inv_freq;
    }
    plan.rotary_dim = learned.rotary_dim;
    origin = {OriginKind::Key, "frequencies.jsonl, last line"};
  }
  common.origins = {
      {"frequencies", common.spec, origin},
      {"pair layout", layout_name(plan.layout), {OriginKind::Key, "manifest.json plan.layout"}}};
  model.kinds = kinds_of(plan, common);
  model.origins = {
      {"training length", str(model.max_length), {OriginKind::Key, "manifest.json train_length"}}};
  if (original > 0) {
    model.origins.push_back(
        {"original length", str(original), {OriginKind::Key, "manifest.json scheme"}});
  }
  return model;
}

}  // namespace gyre::inspect
