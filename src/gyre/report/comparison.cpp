#include "gyre/report/comparison.h"

#include "gyre/report/json_node.h"

namespace gyre::report {
namespace {

template <class Read>
auto list(const Node& node, const Read& read) {
  std::vector<decltype(read(node))> out;
  for (const Node& item : node.items()) {
    out.push_back(read(item));
  }
  return out;
}

Curve read_curve(const Node& n) {
  return {n.at("seed").integer(), n.at("step").numbers(), n.at("loss").numbers()};
}

PositionLoss read_position(const Node& n) {
  return {n.at("begin").number(), n.at("end").number(), n.at("loss").number()};
}

Arm read_arm(const Node& n) {
  Arm arm;
  arm.name = n.at("name").text();
  arm.scheme = n.at("scheme").text();
  arm.mask = n.at("mask").text();
  arm.params = n.at("params").integer();
  arm.alpha_params = n.at("alpha_params").integer();
  arm.n_seeds = n.at("n_seeds").integer();
  arm.val_loss_mean = n.at("val_loss_mean").number();
  arm.val_loss_sd = n.at("val_loss_sd").number();
  arm.ppl = n.at("ppl").number();
  arm.bits_per_byte = n.at("bits_per_byte").number();
  arm.tokens_per_s = n.at("tokens_per_s").number();
  arm.peak_rss_mib = n.at("peak_rss_mib").number();
  arm.curves = list(n.at("curve"), read_curve);
  arm.positions = list(n.at("positions"), read_position);
  return arm;
}

Pair read_pair(const Node& n) {
  Pair pair;
  pair.a = n.at("a").text();
  pair.b = n.at("b").text();
  pair.delta_nats = n.at("delta_nats").number();
  pair.ci95 = n.at("ci95").interval();
  pair.interval_over = n.at("interval_over").text();
  pair.ci95_blocks = n.at("ci95_blocks").interval();
  pair.sd_seeds = n.at("sd_seeds").number();
  pair.n_seeds = n.at("n_seeds").integer();
  pair.n_blocks = n.at("n_blocks").integer();
  pair.p_value = n.at("p_value").number();
  pair.p_value_blocks = n.at("p_value_blocks").number();
  const Node needed = n.at("seeds_needed");
  if (!needed.is_null()) {
    pair.seeds_needed = needed.integer();
  }
  pair.verdict = n.at("verdict").text();
  if (n.has("p_value_holm")) {
    pair.p_value_holm = n.at("p_value_holm").number();
  }
  return pair;
}

LengthPoint read_length(const Node& n) {
  LengthPoint point;
  point.arm = n.at("arm").text();
  point.windows = n.at("windows").text();
  point.length = n.at("length").number();
  point.loss = n.at("loss").number();
  point.sd = n.at("sd").number();
  point.n_seeds = n.at("n_seeds").integer();
  return point;
}

NeedlePoint read_needle(const Node& n) {
  NeedlePoint point;
  point.arm = n.at("arm").text();
  point.distractors = n.at("distractors").integer();
  point.n = n.at("n").integer();
  point.accuracy = n.at("accuracy").number();
  point.chance = n.at("chance").number();
  point.ci95 = n.at("ci95").interval();
  point.no_evidence_accuracy = n.at("no_evidence_accuracy").number();
  point.worst_bucket_accuracy = n.at("worst_bucket_accuracy").number();
  return point;
}

TrajectoryPoint read_trajectory(const Node& n) {
  return {n.at("step").number(), n.at("wavelength").numbers()};
}

Frequencies read_frequencies(const Node& n) {
  Frequencies f;
  f.arm = n.at("arm").text();
  f.seed = n.at("seed").integer();
  f.initial = n.at("initial").numbers();
  f.final = n.at("final").numbers();
  f.trajectory = list(n.at("trajectory"), read_trajectory);
  const Node dominant = n.at("dominant");
  if (!dominant.is_null() && !dominant.json().empty()) {
    f.dominant = Dominant{dominant.at("band").integer(), dominant.at("wavelength").number(),
                          dominant.at("over_train_length").number(), dominant.at("ratio").number()};
  }
  for (const Node& pair : n.at("suppressed").items()) {
    f.suppressed.push_back(pair.integer());
  }
  f.gathered = n.at("gathered").is_null() ? 0 : n.at("gathered").integer();
  f.learned = n.at("learned").boolean();
  return f;
}

Overhead read_overhead(const Node& n) {
  Overhead o;
  o.arm = n.at("arm").text();
  o.against = n.at("against").text();
  o.extra_params = n.at("extra_params").integer();
  o.n_pairs = n.at("n_pairs").integer();
  o.step_time_ratio = n.at("step_time_ratio").number();
  o.ci95 = n.at("ci95").interval();
  o.peak_rss_ratio = n.at("peak_rss_ratio").number();
  o.peak_rss_ci95 = n.at("peak_rss_ci95").interval();
  o.n_seeds = n.at("n_seeds").integer();
  return o;
}

Quoted read_quoted(const Node& n) {
  return {n.at("what").text(),   n.at("value").text(),   n.at("unit").text(),
          n.at("source").text(), n.at("licence").text(), n.has("ours") ? n.at("ours").text() : ""};
}

Cell read_cell(const Node& n) {
  return {n.at("arm").text(),   n.at("status").text(),  n.at("dir").text(),
          n.at("error").text(), n.at("seed").integer(), n.at("seconds").number()};
}

Source read_source(const Node& n) {
  return {n.at("claim").text(), n.at("text").text(), n.at("source").text()};
}

Settings read_settings(const Node& n) {
  Settings s;
  s.tokens = n.at("tokens").integer();
  s.length = n.at("length").integer();
  s.batch = n.at("batch").integer();
  s.params = n.at("params").integer();
  s.seeds = n.at("seeds").texts();
  s.data = n.at("data").texts();
  s.corpus_hash = n.at("corpus_hash").text();
  s.tokenizer = n.at("tokenizer").text();
  const Node model = n.at("model");
  if (model.json().is_object()) {
    for (const auto& [key, value] : model.json().items()) {
      s.model.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  return s;
}

Comparison read_comparison(const Node& n) {
  Comparison c;
  c.title = n.at("title").text();
  c.command = n.at("command").text();
  c.build_revision = n.at("build_revision").text();
  c.machine = n.at("machine").text();
  c.date = n.at("date").text();
  c.seconds = n.at("seconds").number();
  c.settings = read_settings(n.at("settings"));
  c.arms = list(n.at("arms"), read_arm);
  c.pairs = list(n.at("pairs"), read_pair);
  c.length_curve = list(n.at("length_curve"), read_length);
  c.needle = list(n.at("needle"), read_needle);
  c.frequencies = list(n.at("frequencies"), read_frequencies);
  c.overhead = list(n.at("overhead"), read_overhead);
  c.quoted = list(n.at("quoted"), read_quoted);
  c.cells = list(n.at("cells"), read_cell);
  c.verdict = n.at("verdict").texts();
  c.verdict_rule = n.has("verdict_rule") ? n.at("verdict_rule").text() : "";
  c.cannot_resolve = n.at("cannot_resolve").texts();
  c.limits = n.at("limits").texts();
  c.sources = list(n.at("sources"), read_source);
  return c;
}

}  // namespace

int Comparison::arm_index(std::string_view name) const {
  for (size_t i = 0; i < arms.size(); ++i) {
    if (arms[i].name == name) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

Comparison parse_comparison(std::string_view text, const std::string& origin) {
  const Node::Json json = Node::Json::parse(text, nullptr, false);
  if (!json.is_object()) {
    throw Error(Code::Format, origin, ": not a JSON object; expected the file gyre compare writes");
  }
  const Node root(json, origin, "");
  if (const std::string schema = root.at("schema").text(); schema != "gyre.compare/1") {
    throw Error(Code::Format, origin, ": schema is '", schema, "', expected 'gyre.compare/1'");
  }
  Comparison comparison = read_comparison(root);
  if (comparison.arms.empty()) {
    throw Error(Code::Format, origin, ": key 'arms' is empty; a report needs at least one arm");
  }
  return comparison;
}

}  // namespace gyre::report
