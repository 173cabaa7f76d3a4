// accept.json, schema gyre.accept/1: everything of an Acceptance. Unknown numbers are null.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "gyre/accept/result.h"
#include "gyre/accept/worst_bucket.h"
#include "gyre/base/options.h"

namespace gyre::accept {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

template <class T>
Json optional_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

template <class T>
Json list(const std::vector<T>& values, Json (*one)(const T&)) {
  Json out = Json::array();
  for (const T& value : values) {
    out.push_back(one(value));
  }
  return out;
}

/// Long answers are shortened here; samples.jsonl has them whole.
std::string shortened(const std::string& text) {
  constexpr size_t kMost = 4000;
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

Json claim_json(const Claim& claim) {
  return Json{{"source", claim.source}, {"tokens", claim.tokens}};
}

Json facts_json(const Facts& facts) {
  Json out{
      {"server", facts.server}, {"model", facts.model}, {"claims", list(facts.claims, claim_json)}};
  out["slots"] = optional_json(facts.slots);
  out["counts_tokens"] = facts.counts_tokens;
  out["other"] = facts.other;
  return out;
}

Json rung_json(const Rung& rung) {
  Json out{{"length", rung.length}, {"api", name_of(rung.api)}, {"predicted", rung.predicted}};
  out["reported"] = optional_json(rung.reported);
  out["stripes"] = rung.stripes;
  out["read"] = rung.read;
  out["status"] = name_of(rung.status);
  out["says"] = rung.says;
  out["evidence"] = rung.evidence;
  return out;
}

Json concurrency_json(const ConcurrencyRow& row) {
  return Json{{"in_flight", row.in_flight},
              {"asked", row.asked},
              {"ok", row.ok},
              {"faults", row.faults},
              {"evidence", row.evidence}};
}

Json level_one_json(const LevelOne& one) {
  Json window;
  window["fits"] = optional_json(one.window.fits);
  window["fails"] = optional_json(one.window.fails);
  window["after_overflow"] = optional_json(one.window.after_overflow);
  window["source"] = one.window.source;
  return Json{{"ran", one.ran},
              {"able", one.able},
              {"only", one.only ? Json(name_of(*one.only)) : Json()},
              {"flip_rate", number(one.flip_rate)},
              {"window", std::move(window)},
              {"rungs", list(one.rungs, rung_json)},
              {"concurrency", list(one.concurrency, concurrency_json)},
              {"client_options", one.client_options}};
}

Json bucket_json(const BucketResult& bucket) {
  return Json{{"n", bucket.n},
              {"correct", bucket.correct},
              {"errors", bucket.errors},
              {"lower", number(bucket.lower)},
              {"upper", number(bucket.upper)}};
}

Json cell_json(const Cell& cell) {
  Json out{{"level", cell.level},   {"task", cell.task},   {"arm", cell.arm},
           {"length", cell.length}, {"dials", cell.dials}, {"status", name_of(cell.status)}};
  out["planned"] = cell.planned;
  out["asked"] = cell.asked;
  out["answered"] = cell.answered;
  out["correct"] = cell.correct;
  out["accuracy_answered"] = number(cell.accuracy_answered());
  out["accuracy_planned"] = number(cell.accuracy_planned());
  out["threshold"] = number(cell.threshold);
  out["buckets"] = list(cell.buckets, bucket_json);
  out["worst"] = cell.worst < 0 ? Json() : Json(cell.worst);
  out["needs_about"] = cell.needs_about;
  out["design_effect"] = number(cell.design_effect);
  out["verdicts"] = cell.verdicts;
  if (std::isfinite(cell.gain_nats)) {
    out["gain_nats"] = {
        {"mean", cell.gain_nats}, {"lower", number(cell.gain_lo)}, {"upper", number(cell.gain_hi)}};
  }
  out["failures"] = cell.failures;
  out["why_not_run"] = cell.why_not_run;
  out["says"] = cell.says;
  return out;
}

Json measure_json(const Measure& m) {
  return Json{{"id", m.id},
              {"title", m.title},
              {"level", m.level},
              {"length", m.length},
              {"task", m.task},
              {"n", m.n},
              {"value", number(m.value)},
              {"lower", number(m.lo)},
              {"upper", number(m.hi)},
              {"p", number(m.p)},
              {"says", m.says}};
}

Json regression_json(const std::optional<Regression>& r) {
  if (!r) {
    return {};
  }
  return Json{{"before", r->before},
              {"pairs", r->pairs},
              {"both", r->both},
              {"neither", r->neither},
              {"only_before", r->only_before},
              {"only_after", r->only_after},
              {"difference", number(r->difference)},
              {"lower", number(r->lo)},
              {"upper", number(r->hi)},
              {"p", number(r->p)},
              {"margin", number(r->margin)},
              {"status", name_of(r->status)},
              {"says", r->says},
              {"lost", r->lost}};
}

Json ranking_json(const RankingPoint& p) {
  return Json{{"probe", p.probe},       {"length", p.length},
              {"distance", p.distance}, {"n", p.n},
              {"nats", number(p.nats)}, {"lower", number(p.lo)},
              {"upper", number(p.hi)},  {"top1", number(p.top1)},
              {"mrr", number(p.mrr)}};
}

Json curve_json(const CurvePoint& p) {
  Json out{{"length", p.length},
           {"first_token_ms", number(p.first_token_ms)},
           {"first_token_median_ms", number(p.first_token_median_ms)},
           {"decode_per_s", number(p.decode_per_s)},
           {"memory_mib", number(p.memory_mib)}};
  out["cached"] = optional_json(p.cached);
  return out;
}

Json finding_json(const Finding& finding) {
  const FindingKind& kind = finding_kind(finding.id);
  Json look = Json::object();
  for (const auto& [server, hint] :
       {std::pair{"llama.cpp", kind.llama_cpp}, std::pair{"vLLM", kind.vllm},
        std::pair{"Ollama", kind.ollama}, std::pair{"SGLang", kind.sglang}}) {
    if (*hint != '\0') {
      look[server] = hint;
    }
  }
  return Json{
      {"id", finding.id},          {"severity", name_of(kind.severity)}, {"title", kind.title},
      {"says", finding.says},      {"evidence", finding.evidence},       {"facts", finding.facts},
      {"look_at", std::move(look)}};
}

Json level_json(const LevelVerdict& level) {
  return Json{{"level", level.level},
              {"status", name_of(level.status)},
              {"effective_length", level.effective_length},
              {"says", level.says},
              {"worst", level.worst}};
}

Json place_json(const Place& place) {
  return Json{
      {"fraction", place.fraction}, {"from_start", place.from_start}, {"from_end", place.from_end}};
}

Json distractor_json(const Distractor& one) {
  return Json{{"code", one.code}, {"similarity", one.similarity}, {"fraction", one.fraction}};
}

Json failure_json(const Sample& sample) {
  const Item& item = sample.item;
  Json out{{"sid", item.sid},
           {"level", item.level},
           {"task", item.task},
           {"arm", item.arm},
           {"length", item.length},
           {"index", item.index},
           {"occasion", item.occasion},
           {"dials", item.dials},
           {"api", name_of(item.ask.api)},
           {"verdict", name_of(sample.verdict)}};
  out["found"] = shortened(sample.found);
  out["gold"] = item.gold;
  out["evidence"] = list(item.evidence, place_json);
  out["sentences"] = item.sentences;
  out["distractors"] = list(item.distractors, distractor_json);
  out["answer"] = shortened(sample.reply.text);
  out["reasoning"] = shortened(sample.reply.reasoning);
  out["finish"] = sample.reply.finish;
  out["http"] = sample.reply.http;
  out["fault"] = name_of(sample.reply.fault);
  out["fault_text"] = sample.reply.fault_text;
  out["tokens_predicted"] = item.tokens_predicted;
  out["prompt_tokens"] = optional_json(sample.reply.prompt_tokens);
  out["completion_tokens"] = optional_json(sample.reply.completion_tokens);
  out["in_flight"] = sample.in_flight;
  out["attempt"] = sample.attempt;
  out["prompt_file"] = "prompts/" + item.sid + ".txt.gz";
  return out;
}

Json worst_json(const std::optional<WorstBucket>& worst) {
  if (!worst) {
    return {};
  }
  return Json{{"level", worst->cell->level},
              {"task", worst->cell->task},
              {"length", worst->cell->length},
              {"dials", worst->cell->dials},
              {"bucket", worst->bucket + 1},
              {"of", worst->cell->buckets.size()},
              {"n", worst->result().n},
              {"correct", worst->result().correct},
              {"lower", number(worst->result().lower)},
              {"upper", number(worst->result().upper)}};
}

Json cost_json(const Cost& cost) {
  return Json{{"requests", cost.requests},           {"prompt_tokens", cost.prompt_tokens},
              {"answer_tokens", cost.answer_tokens}, {"errors", cost.errors},
              {"seconds", number(cost.seconds)},     {"money", number(cost.money)}};
}

Json calibration_json(const Calibration& c) {
  return Json{{"overhead", number(c.overhead)},
              {"tokens_per_byte", number(c.tokens_per_byte)},
              {"source", c.source},
              {"evidence", c.evidence}};
}

}  // namespace

std::string to_json(const Acceptance& a) {
  AcceptOptions options = a.options;
  Json out{{"schema", "gyre.accept/1"}, {"verdict", name_of(a.verdict)}, {"says", a.says}};
  out["effective_length"] = a.effective_length;
  out["levels"] = list(a.levels, level_json);
  out["findings"] = list(a.findings, finding_json);
  out["worst_bucket"] = worst_json(worst_bucket(a.cells));
  out["subject"] = a.subject;
  out["facts"] = facts_json(a.facts);
  out["calibration"] = calibration_json(a.calibration);
  out["answer_tokens"] = a.answer_tokens;
  out["level_one"] = level_one_json(a.one);
  out["cells"] = list(a.cells, cell_json);
  out["measures"] = list(a.measures, measure_json);
  out["regression"] = regression_json(a.regression);
  out["ranking"] = list(a.ranking, ranking_json);
  out["curves"] = list(a.curves, curve_json);
  out["cost"] = cost_json(a.cost);
  out["options"] = Json::parse(fields_to_json(fields_of(options)));
  out["command"] = a.command;
  out["build_revision"] = a.build_revision;
  out["date"] = a.date;
  out["generator"] = a.generator;
  out["failures"] = list(a.failures, failure_json);
  return out.dump(1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace gyre::accept
