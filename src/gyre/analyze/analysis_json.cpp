// Writes analyze.json (docs/file-formats.md). Numbers that are not finite become null.
#include <cmath>
#include <nlohmann/json.hpp>

#include "gyre/analyze/analysis.h"

namespace gyre::analyze {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json numbers(const std::vector<double>& values) {
  Json out = Json::array();
  for (const double value : values) {
    out.push_back(number(value));
  }
  return out;
}

Json matrix(const Matrix& rows) {
  Json out = Json::array();
  for (const std::vector<double>& row : rows) {
    out.push_back(numbers(row));
  }
  return out;
}

Json value_of(const Estimate& x) {
  return {{"mean", number(x.mean)}, {"ci95", {number(x.lo), number(x.hi)}}, {"n", x.n}};
}

Json value_of(const Shares& shares) {
  return {{"low25", number(shares.low25)},
          {"low50", number(shares.low50)},
          {"high25", number(shares.high25)},
          {"spread", number(shares.spread)}};
}

Json layer_json(const LayerUsage& usage, const LayerRecord& record) {
  Json out = {{"layer", usage.layer},
              {"rotates", usage.rotates},
              {"wavelength", numbers(record.wavelength)},
              {"q_norm", numbers(usage.q)},
              {"k_norm", numbers(usage.k)},
              {"v_norm", numbers(usage.v)},
              {"q_norm_heads", matrix(record.q_heads)},
              {"k_norm_heads", matrix(record.k_heads)},
              {"v_norm_heads", matrix(record.v_heads)},
              {"outside_pairs", numbers({record.q_rest, record.k_rest, record.v_rest})}};
  if (!usage.rotates) {
    return out;
  }
  out["high_share"] = number(0.5 * (usage.q_share.high25 + usage.k_share.high25));
  out["low_share"] = number(0.5 * (usage.q_share.low50 + usage.k_share.low50));
  out["high_share_rows"] = value_of(usage.high);
  out["q"] = value_of(usage.q_share);
  out["k"] = value_of(usage.k_share);
  out["v"] = value_of(usage.v_share);
  out["half_wavelength"] = number(usage.half_wavelength);
  out["middle_wavelength"] = number(usage.middle_wavelength);
  out["never_turn"] = usage.never_turn;
  return out;
}

Json head_json(const HeadEntry& head) {
  Json scores = Json::object();
  for (size_t role = 0; role < kRoles; ++role) {
    scores[kRoleNames[role]] = number(head.measured.score[role]);
  }
  return {{"layer", head.layer},
          {"head", head.head},
          {"kind", head.role ? Json(kRoleNames[static_cast<size_t>(*head.role)]) : Json(nullptr)},
          {"score", number(head.score)},
          {"scores", scores},
          {"content_chance", number(head.measured.chance)},
          {"high_share", number(head.high_share)},
          {"logit", number(head.measured.logit)},
          {"bound", number(head.measured.bound)},
          {"norm_product", number(head.measured.product)}};
}

Json ends_json(const EndsProfile& ends) {
  return {{"first", value_of(ends.first)},
          {"last", value_of(ends.last)},
          {"between", value_of(ends.middle)},
          {"first_minus_between", value_of(ends.first_minus)},
          {"last_minus_between", value_of(ends.last_minus)}};
}

Json usage_json(const Usage& usage) {
  return {{"rotating_layers", usage.n_rotating},
          {"low_half_layers", {{"q", usage.n_low_q}, {"k", usage.n_low_k}, {"v", usage.n_low_v}}},
          {"spread",
           {{"q", number(usage.spread_q)},
            {"k", number(usage.spread_k)},
            {"v", number(usage.spread_v)}}},
          {"ends", ends_json(usage.ends)}};
}

Json domains_json(const Analysis& a) {
  Json out = Json::array();
  for (const Domain& domain : a.domains) {
    out.push_back({{"name", domain.name},
                   {"source", domain.source},
                   {"tokens", domain.text_tokens},
                   {"rows", domain.n_rows},
                   {"q_norm", matrix(domain_map(a.layers, domain, &LayerRecord::q_rows))},
                   {"k_norm", matrix(domain_map(a.layers, domain, &LayerRecord::k_rows))}});
  }
  return {{"texts", out},
          {"correlation", matrix(a.usage.correlation)},
          {"distance", matrix(a.usage.distance)}};
}

Json dominant_json(const Analysis& a) {
  if (!a.positions || !a.positions->bands.dominant) {
    return nullptr;
  }
  const evaluate::DominantBand& band = *a.positions->bands.dominant;
  return {{"band", band.band},
          {"wavelength", number(band.wavelength)},
          {"over_train_length", number(band.over_train_length)},
          {"ratio", number(band.ratio)}};
}

Json sign_json(const SignChange& sign) {
  return {{"layer", sign.layer},
          {"head", sign.head},
          {"wavelength", number(sign.wavelength)},
          {"phase", sign.phase},
          {"predicted", number(sign.predicted)},
          {"measured", sign.measured ? Json(*sign.measured) : Json(nullptr)}};
}

Json positions_json(const Positions& positions) {
  const evaluate::BandReport& bands = positions.bands;
  Json layers = Json::array();
  for (const LayerDominant& layer : positions.layers) {
    layers.push_back({{"layer", layer.layer},
                      {"band", layer.band},
                      {"wavelength", number(layer.wavelength)},
                      {"range", layer.range},
                      {"share", layer.share}});
  }
  return {{"contribution", matrix(bands.contribution)},
          {"entropy", number(bands.entropy)},
          {"effective_bands", number(bands.effective_bands)},
          {"cancellation", number(bands.cancellation)},
          {"layers", layers},
          {"sign_change", positions.sign_change ? sign_json(*positions.sign_change) : Json()},
          {"curve",
           {{"distance", bands.distance},
            {"dominant", matrix(bands.curve_dominant)},
            {"others", matrix(bands.curve_others)}}}};
}

Json task_json(const TaskEffect& task) {
  Json groups = Json::array();
  for (const GroupEffect& group : task.groups) {
    groups.push_back({{"without", kGroupNames[static_cast<size_t>(group.group)]},
                      {"loss", number(group.loss)},
                      {"increase", value_of(group.increase)},
                      {"accuracy", group.accuracy ? Json(*group.accuracy) : Json()}});
  }
  return {{"task", task.task},
          {"n", task.n},
          {"loss", number(task.loss)},
          {"accuracy", task.accuracy ? Json(*task.accuracy) : Json()},
          {"chance", task.chance ? Json(*task.chance) : Json()},
          {"groups", groups}};
}

Json ablation_json(const Ablation& ablation) {
  Json groups = Json::array(), tasks = Json::array();
  for (const GroupPairs& group : ablation.groups) {
    groups.push_back({{"name", kGroupNames[static_cast<size_t>(group.group)]},
                      {"pairs", group.n_pairs},
                      {"shortest", number(group.shortest)},
                      {"longest", number(group.longest)}});
  }
  for (const TaskEffect& task : ablation.tasks) {
    tasks.push_back(task_json(task));
  }
  return {{"groups", groups}, {"tasks", tasks}};
}

Json findings_json(const std::vector<Finding>& findings) {
  Json out = Json::array();
  for (const Finding& finding : findings) {
    out.push_back({{"id", finding.id},
                   {"claim", finding.claim},
                   {"verdict", name_of(finding.verdict)},
                   {"text", finding.text}});
  }
  return out;
}

Json shape_json(const Shape& shape) {
  return {{"layers", shape.layers},     {"heads", shape.heads},
          {"kv_heads", shape.kv_heads}, {"head_dim", shape.head_dim},
          {"pairs", shape.pairs},       {"layout", shape.layout},
          {"vocab", shape.vocab},       {"parameters", shape.parameters}};
}

}  // namespace

std::string to_json(const Analysis& a) {
  Json layers = Json::array(), heads = Json::array();
  for (size_t n = 0; n < a.layers.size(); ++n) {
    layers.push_back(layer_json(a.usage.layers[n], a.layers[n]));
  }
  for (const HeadEntry& head : a.catalogue.heads) {
    heads.push_back(head_json(head));
  }
  AnalyzeOptions options = a.options;
  const Json json = {{"schema", "gyre.analyze/1"},
                     {"model", a.model},
                     {"shape", shape_json(a.shape)},
                     {"train_length", a.train_length},
                     {"options", Json::parse(fields_to_json(fields_of(options)))},
                     {"findings", findings_json(a.findings)},
                     {"layers", layers},
                     {"usage", usage_json(a.usage)},
                     {"domains", domains_json(a)},
                     {"heads", heads},
                     {"positional_heads",
                      {{"strong", a.catalogue.n_strong},
                       {"high_share", value_of(a.catalogue.high_positional)},
                       {"high_share_others", value_of(a.catalogue.high_other)}}},
                     {"dominant", dominant_json(a)},
                     {"positions", a.positions ? positions_json(*a.positions) : Json()},
                     {"ablation", a.ablation ? ablation_json(*a.ablation) : Json()},
                     {"spectrum", a.spectrum ? Json::parse(to_json(*a.spectrum)) : Json()},
                     {"notes", a.notes},
                     {"seconds", a.seconds}};
  // A text's name may hold bytes that are no UTF-8.
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace gyre::analyze
