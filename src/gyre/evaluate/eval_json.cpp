// Writes eval.json (docs/file-formats.md). Numbers that are not finite become null; a note says so.
#include <cmath>
#include <nlohmann/json.hpp>

#include "gyre/evaluate/evaluate.h"
#include "gyre/evaluate/interval.h"

namespace gyre::evaluate {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) {
    list.push_back(number(value));
  }
  return list;
}

Json numbers(const PerLayer& layers) {
  Json list = Json::array();
  for (const std::vector<double>& layer : layers) {
    list.push_back(numbers(layer));
  }
  return list;
}

Json numbers(const std::vector<PerLayer>& layers) {
  Json list = Json::array();
  for (const PerLayer& layer : layers) {
    list.push_back(numbers(layer));
  }
  return list;
}

Json to_value(const std::vector<Bucket>& buckets) {
  Json list = Json::array();
  for (const Bucket& bucket : buckets) {
    list.push_back({{"begin", bucket.begin},
                    {"end", bucket.end},
                    {"loss", number(bucket.loss)},
                    {"n", bucket.n}});
  }
  return list;
}

Json to_value(const Validation& val) {
  return {{"loss", number(val.loss)},
          {"ppl", number(val.ppl())},
          {"bits_per_byte", number(val.bits_per_byte)},
          {"n_tokens", val.n_tokens},
          {"block", val.block},
          {"blocks", numbers(val.blocks)}};
}

Json to_value(const LengthEntry& entry) {
  Json value = {{"length", entry.length},     {"windows", entry.sliding ? "sliding" : "disjoint"},
                {"loss", number(entry.loss)}, {"ppl", number(std::exp(entry.loss))},
                {"n_tokens", entry.n_tokens}, {"blocks", to_value(entry.blocks)}};
  if (!entry.skipped.empty()) {
    value["skipped"] = entry.skipped;
  }
  return value;
}

Json interval(int64_t correct, int64_t n) {
  const auto [low, high] = wilson95(correct, n);
  return {low, high};
}

Json to_value(const NeedleBucket& bucket) {
  return {{"begin", bucket.begin},         {"end", bucket.end},
          {"accuracy", bucket.accuracy()}, {"n", bucket.n},
          {"correct", bucket.correct},     {"ci95", interval(bucket.correct, bucket.n)}};
}

Json to_value(const NeedleScore& score) {
  return {{"accuracy", score.accuracy()},
          {"n", score.n},
          {"correct", score.correct},
          {"ci95", interval(score.correct, score.n)},
          {"option_nll", number(score.option_nll)},
          {"hits", score.hits}};
}

Json to_value(const NeedleCell& cell) {
  Json value = {{"distractors", cell.distractors}};
  value.update(to_value(cell.evidence));
  value["chance"] = cell.chance;
  value["options"] = cell.options;
  value["length"] = cell.length;
  value["no_evidence"] = to_value(cell.control);
  value["buckets"] = Json::array();
  for (const NeedleBucket& bucket : cell.buckets) {
    value["buckets"].push_back(to_value(bucket));
  }
  value["worst_bucket"] = value["buckets"].at(cell.worst);
  return value;
}

Json to_value(const BandReport& bands, bool per_head) {
  Json value = {{"wavelength", numbers(bands.wavelength)},
                {"q_norm", numbers(bands.q_norm)},
                {"k_norm", numbers(bands.k_norm)},
                {"contribution", numbers(bands.contribution)},
                {"dominant", nullptr},
                {"suppressed", bands.suppressed},
                {"gathered", bands.gathered.size()},
                {"gathered_pairs", bands.gathered},
                {"entropy", number(bands.entropy)},
                {"effective_bands", number(bands.effective_bands)},
                {"cancellation", number(bands.cancellation)},
                {"curve",
                 {{"distance", bands.distance},
                  {"dominant", numbers(bands.curve_dominant)},
                  {"others", numbers(bands.curve_others)}}}};
  if (bands.dominant) {
    value["dominant"] = {{"band", bands.dominant->band},
                         {"wavelength", number(bands.dominant->wavelength)},
                         {"over_train_length", number(bands.dominant->over_train_length)},
                         {"ratio", number(bands.dominant->ratio)}};
  }
  if (per_head) {
    value["q_norm_heads"] = numbers(bands.q_norm_heads);
    value["k_norm_heads"] = numbers(bands.k_norm_heads);
  }
  return value;
}

template <class T>
Json list_of(const std::vector<T>& items) {
  Json list = Json::array();
  for (const T& item : items) {
    list.push_back(to_value(item));
  }
  return list;
}

}  // namespace

std::string to_json(const Evaluation& evaluation, const train::Run& run) {
  const train::RunManifest& manifest = run.manifest;
  EvalOptions options = evaluation.options;
  const Json json = {
      {"schema", "gyre.eval/1"},
      {"run", run.dir.string()},
      {"scheme", manifest.scheme},
      {"mask", manifest.mask},
      {"seed", manifest.seed},
      {"train_length", manifest.train_length},
      {"params", manifest.params},
      {"tokens", manifest.tokens},
      {"step", manifest.step},
      {"corpus_hash", evaluation.corpus_hash},
      {"tokenizer_hash", evaluation.tokenizer_hash},
      {"own_corpus", evaluation.corpus_hash == manifest.corpus_hash},
      {"options", Json::parse(fields_to_json(fields_of(options)))},
      {"val", to_value(evaluation.val)},
      {"positions", to_value(evaluation.val.positions)},
      {"lengths", list_of(evaluation.lengths)},
      {"needle", list_of(evaluation.needle)},
      {"bands", evaluation.bands ? to_value(*evaluation.bands, options.bands_per_head) : Json()},
      {"notes", evaluation.notes},
      {"seconds", evaluation.seconds}};
  return json.dump(1);
}

}  // namespace gyre::evaluate
