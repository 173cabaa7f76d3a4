// compare.json, key by key as docs/file-formats.md lists them. Numbers that are not finite become
// null. Keys beyond that list are in docs/compare.md.
#include <cmath>
#include <nlohmann/json.hpp>

#include "gyre/study/comparison.h"

namespace gyre::study {
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

Json to_value(const Interval& interval) {
  return interval.known() ? Json{number(interval.lo), number(interval.hi)} : Json(nullptr);
}

Json optional(const std::optional<int64_t>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <class T, class Convert>
Json list_of(const std::vector<T>& items, const Convert& convert) {
  Json out = Json::array();
  for (const T& item : items) {
    out.push_back(convert(item));
  }
  return out;
}

Json to_value(const Settings& s) {
  return {{"tokens", s.tokens},       {"length", s.length},
          {"batch", s.batch},         {"seeds", s.seeds},
          {"data", s.data},           {"corpus_hash", s.corpus_hash},
          {"tokenizer", s.tokenizer}, {"model", Json::parse(s.model_json, nullptr, false)},
          {"params", s.params}};
}

Json to_value(const Curve& c) {
  return {{"seed", c.seed}, {"step", c.step}, {"loss", numbers(c.loss)}};
}

Json to_value(const PositionLoss& p) {
  return {{"begin", p.begin}, {"end", p.end}, {"loss", number(p.loss)}};
}

Json to_value(const ArmSummary& a) {
  return {{"name", a.name},
          {"scheme", a.scheme},
          {"mask", a.mask},
          {"params", a.params},
          {"alpha_params", a.alpha_params},
          {"n_seeds", a.n_seeds},
          {"val_loss_mean", number(a.val_loss_mean)},
          {"val_loss_sd", number(a.val_loss_sd)},
          {"ppl", number(a.ppl)},
          {"bits_per_byte", number(a.bits_per_byte)},
          {"tokens_per_s", number(a.tokens_per_s)},
          {"peak_rss_mib", number(a.peak_rss_mib)},
          {"curve", list_of(a.curves, [](const Curve& c) { return to_value(c); })},
          {"positions", list_of(a.positions, [](const PositionLoss& p) { return to_value(p); })}};
}

Json to_value(const PairResult& p) {
  return {{"a", p.a},
          {"b", p.b},
          {"delta_nats", number(p.delta)},
          {"ci95", to_value(p.ci95)},
          {"interval_over", p.interval_over},
          {"ci95_blocks", to_value(p.ci95_blocks)},
          {"sd_seeds", number(p.sd_seeds)},
          {"n_seeds", p.seeds.size()},
          {"n_blocks", p.n_blocks},
          {"p_value", number(p.p)},
          {"p_value_blocks", number(p.p_blocks)},
          {"seeds_needed", optional(p.seeds_needed)},
          {"verdict", p.verdict},
          {"seeds", p.seeds},
          {"deltas", numbers(p.deltas)},
          {"sd_used", number(p.sd_used)},
          {"df", p.df},
          {"ci95_unpooled", to_value(p.ci95_unpooled)},
          {"p_value_unpooled", number(p.p_unpooled)},
          {"p_value_holm", number(p.p_holm)},
          {"p_value_sign", number(p.p_sign)},
          {"gap_over_sd", number(p.delta / p.sd_used)}};
}

Json to_value(const LengthPoint& p) {
  return {{"arm", p.arm},           {"length", p.length}, {"windows", p.windows},
          {"loss", number(p.loss)}, {"sd", number(p.sd)}, {"n_seeds", p.n_seeds}};
}

Json to_value(const NeedlePoint& p) {
  return {{"arm", p.arm},
          {"distractors", p.distractors},
          {"accuracy", number(p.accuracy)},
          {"n", p.n},
          {"chance", number(p.chance)},
          {"ci95", to_value(p.ci95)},
          {"no_evidence_accuracy", number(p.no_evidence_accuracy)},
          {"worst_bucket_accuracy", number(p.worst_bucket_accuracy)}};
}

Json to_value(const FrequencyUse& f) {
  Json dominant = nullptr;
  if (f.bands.has_dominant) {
    dominant = {{"band", f.bands.dominant.band},
                {"wavelength", number(f.bands.dominant.wavelength)},
                {"over_train_length", number(f.bands.dominant.over_train_length)},
                {"ratio", number(f.bands.dominant.ratio)}};
  }
  return {{"arm", f.arm},
          {"seed", f.seed},
          {"initial", numbers(f.initial)},
          {"final", numbers(f.final)},
          {"trajectory", list_of(f.trajectory,
                                 [](const TrajectoryPoint& p) -> Json {
                                   return {{"step", p.step}, {"wavelength", numbers(p.wavelength)}};
                                 })},
          {"dominant", dominant},
          {"suppressed", f.bands.suppressed},
          {"gathered", f.bands.gathered},
          {"learned", f.learned},
          {"suppressed_initial", f.suppressed_initial},
          {"effective_bands", number(f.bands.effective_bands)},
          {"cancellation", number(f.bands.cancellation)}};
}

Json to_value(const BandConsistency& c) {
  return {{"arm", c.arm},
          {"n_runs", c.n_runs},
          {"band", c.band},
          {"same_band", number(c.same_band)},
          {"wavelength_within_10_percent", number(c.near_median)},
          {"over_train_length", number(c.over_train_length)}};
}

Json to_value(const GainShare& g) {
  return {{"arm", g.arm},
          {"of", g.of},
          {"share", number(g.share)},
          {"ci95", to_value(g.ci95)},
          {"n_blocks", g.n_blocks}};
}

Json to_value(const Overhead& o) {
  return {{"arm", o.arm},
          {"against", o.against},
          {"extra_params", o.extra_params},
          {"step_time_ratio", number(o.step_time_ratio)},
          {"ci95", to_value(o.ci95)},
          {"n_pairs", o.n_pairs},
          {"peak_rss_ratio", number(o.peak_rss_ratio)},
          {"peak_rss_ci95", to_value(o.peak_rss_ci95)},
          {"n_seeds", o.n_seeds}};
}

Json to_value(const Quoted& q) {
  Json value = Json::parse(q.value, nullptr, false);
  Json out = {{"what", q.what},
              {"value", value.is_number() ? value : Json(q.value)},
              {"unit", q.unit},
              {"source", q.source},
              {"licence", q.licence}};
  if (!q.ours.empty()) {
    out["ours"] = q.ours;
  }
  return out;
}

Json to_value(const CellLine& c) {
  return {{"arm", c.arm},         {"seed", c.seed},
          {"status", c.status},   {"dir", c.dir},
          {"seconds", c.seconds}, {"error", c.error.empty() ? Json() : Json(c.error)}};
}

Json to_value(const SourceNote& s) {
  return {{"claim", s.claim}, {"text", s.text}, {"source", s.source}};
}

template <class T>
Json values(const std::vector<T>& items) {
  return list_of(items, [](const T& item) { return to_value(item); });
}

}  // namespace

std::string to_json(const Comparison& c) {
  const Json json = {{"schema", "gyre.compare/1"},
                     {"title", c.title},
                     {"command", c.command},
                     {"build_revision", c.build_revision},
                     {"machine", c.machine},
                     {"date", c.date},
                     {"seconds", c.seconds},
                     {"settings", to_value(c.settings)},
                     {"arms", values(c.arms)},
                     {"pairs", values(c.pairs)},
                     {"length_curve", values(c.length_curve)},
                     {"needle", values(c.needle)},
                     {"frequencies", values(c.frequencies)},
                     {"band_consistency", values(c.consistency)},
                     {"share_of_gain", values(c.gain_shares)},
                     {"overhead", values(c.overhead)},
                     {"quoted", values(c.quoted)},
                     {"cells", values(c.cells)},
                     {"verdict", c.verdict},
                     {"verdict_rule", verdict_rule()},
                     {"cannot_resolve", c.cannot_resolve},
                     {"limits", c.limits},
                     {"sources", values(c.sources)}};
  return json.dump(1);
}

}  // namespace gyre::study
