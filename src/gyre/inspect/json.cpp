// ResolvedModel and findings as gyre.inspect/1 (docs/file-formats.md).
#include <cmath>
#include <nlohmann/json.hpp>

#include "gyre/inspect/config_reader.h"
#include "gyre/inspect/inspect.h"
#include "gyre/inspect/spectrum.h"

namespace gyre::inspect {
namespace {

using Json = nlohmann::ordered_json;

Json finite(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json finite(const std::vector<double>& values) {
  Json out = Json::array();
  for (const double value : values) {
    out.push_back(finite(value));
  }
  return out;
}

Json known(int64_t value) {
  return value > 0 ? Json(value) : Json(nullptr);
}

Json origins_to_json(const std::vector<Provenance>& origins) {
  Json out = Json::array();
  for (const Provenance& one : origins) {
    out.push_back(Json{{"field", one.field},
                       {"value", one.value},
                       {"kind", name_of(one.origin.kind)},
                       {"where", one.origin.where}});
  }
  return out;
}

// [P] of one length; null where it is not known.
Json turns_to_json(const std::vector<double>& bands, int64_t length) {
  if (length <= 0) {
    return nullptr;
  }
  Json out = Json::array();
  for (const double theta : bands) {
    out.push_back(finite(turns(theta, length)));
  }
  return out;
}

Json spectrum_to_json(const LayerKind& kind, const ResolvedModel& model) {
  const std::vector<double>& bands = bands_of(kind);
  const std::vector<double>& late = kind.long_inv_freq.empty() ? bands : kind.long_inv_freq;
  Json wavelength = Json::array();
  for (const double theta : bands) {
    wavelength.push_back(finite(position::wavelength_tokens(theta)));
  }
  return Json{{"wavelength", std::move(wavelength)},
              {"turns_original", turns_to_json(bands, model.original_length)},
              {"turns_max", turns_to_json(late, model.max_length)},
              {"never_turn_original", unfinished_pairs(bands, model.original_length)},
              {"never_turn_max", unfinished_pairs(late, model.max_length)},
              {"moved_pairs", moved_pairs(kind, bands)}};
}

Json kind_to_json(const LayerKind& kind, const ResolvedModel& model) {
  const position::LayerPlan& plan = kind.plan;
  Json groups = Json::array();
  for (size_t g = 0; plan.inv_freq.size() > 1 && g < plan.inv_freq.size(); ++g) {
    groups.push_back(finite(plan.inv_freq[g]));
  }
  Json out{{"kind", kind.name},
           {"scheme", kind.scheme},
           {"spec", kind.spec},
           {"rope_type", kind.rope_type},
           {"n_heads", kind.n_heads},
           {"n_kv_heads", kind.n_kv_heads},
           {"head_dim", kind.head_dim},
           {"rotary_dim", kind.rotary_dim},
           {"n_pairs", kind.n_pairs()},
           {"base", kind.base > 0.0 ? finite(kind.base) : Json(nullptr)},
           {"factor", finite(kind.factor)},
           {"pairing", layout_name(kind.layout)},
           {"inv_freq", finite(bands_of(kind))},
           {"inv_freq_groups", std::move(groups)},
           {"long_inv_freq", finite(kind.long_inv_freq)},
           {"attention_factor", finite(plan.amplitude)},
           {"long_attention_factor",
            kind.long_amplitude > 0.0 ? finite(kind.long_amplitude) : Json(nullptr)},
           {"logit_factor", finite(plan.amplitude * plan.amplitude)},
           {"softmax_scale_factor", finite(plan.logit_scale)},
           {"slopes", finite(plan.slopes)},
           {"decay", finite(plan.decay)},
           {"query_growth", finite(plan.query_growth)},
           {"query_growth_floor", finite(plan.query_growth_floor)},
           {"window", known(plan.mask.window)},
           {"window_convention", kind.window_convention},
           {"dilation", plan.mask.dilation},
           {"n_global", plan.mask.n_global},
           {"chunk", known(plan.mask.chunk)},
           {"length_rule", kind.length_rule},
           {"ramp", kind.ramp_low != 0.0 || kind.ramp_high != 0.0
                        ? Json{finite(kind.ramp_low), finite(kind.ramp_high)}
                        : Json(nullptr)},
           {"layers", kind.layers}};
  out.update(spectrum_to_json(kind, model));
  out["origins"] = origins_to_json(kind.origins);
  return out;
}

}  // namespace

std::string to_json(const ResolvedModel& model, const std::vector<Finding>& findings) {
  Json layers = Json::array(), ignored = Json::array(), tables = Json::array(),
       found = Json::array();
  for (const LayerKind& kind : model.kinds) {
    layers.push_back(kind_to_json(kind, model));
  }
  for (const IgnoredKey& key : model.ignored) {
    ignored.push_back(Json{{"key", key.key}, {"value", key.value}, {"reason", key.reason}});
  }
  for (const ResolvedModel::Table& table : model.tables) {
    tables.push_back(
        Json{{"name", table.name}, {"dtype", table.dtype}, {"values", finite(table.values)}});
  }
  for (const Finding& one : findings) {
    found.push_back(Json{{"id", one.id},
                         {"severity", name_of(one.severity)},
                         {"key", one.key},
                         {"message", one.message},
                         {"expected", one.expected},
                         {"found", one.found}});
  }
  const Json json{{"schema", "gyre.inspect/1"},
                  {"path", model.path},
                  {"source", name_of(model.source)},
                  {"model_type", model.model_type},
                  {"known_type", model.known_type},
                  {"reader", model.reader},
                  {"n_layers", model.n_layers},
                  {"hidden", known(model.hidden)},
                  {"original_length", known(model.original_length)},
                  {"max_length", known(model.max_length)},
                  {"dtype", model.dtype},
                  {"layers", std::move(layers)},
                  {"origins", origins_to_json(model.origins)},
                  {"ignored", std::move(ignored)},
                  {"tables", std::move(tables)},
                  {"findings", std::move(found)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace);  // paths may be no UTF-8
}

}  // namespace gyre::inspect
