// Curves over length: the gain of evidence in nats and the copy probe of small models; time to the
// first token, decode rate, memory.
#include <algorithm>
#include <cmath>
#include <map>

#include "gyre/base/error.h"
#include "gyre/report/accept/parts.h"

namespace gyre::report {
namespace {

using accept::Acceptance;
using accept::CurvePoint;
using accept::RankingPoint;

Panel gain_panel(const Acceptance& a, Figure& figure, const std::string& probe, const char* title) {
  std::map<int64_t, Trace> by_length;
  for (const RankingPoint& p : a.ranking) {
    if (p.probe != probe) {
      continue;
    }
    Trace& trace = by_length[p.length];
    trace.x.push_back(static_cast<double>(p.distance));
    trace.y.push_back(p.nats);
    trace.minus.push_back(p.nats - p.lo);
    trace.plus.push_back(p.hi - p.nats);
    trace.text.push_back(str(whole(p.length), " tokens, distance ", whole(p.distance), ": ",
                             fixed(p.nats, 3), " nats (", fixed(p.lo, 3), " to ", fixed(p.hi, 3),
                             "), n ", p.n));
  }
  Panel panel;
  panel.title = title;
  panel.exports = true;
  panel.x.title = "distance to the evidence, tokens";
  panel.x.log = true;
  panel.y.title = "nats";
  panel.markers = {{'y', 0.0, "not used"}};
  int arm = 0;
  for (auto& [length, trace] : by_length) {
    trace.name = whole(length) + " tokens";
    trace.arm = arm++;
    trace.markers = true;
    const bool known = std::any_of(figure.keys.begin(), figure.keys.end(),
                                   [&](const Key& key) { return key.label == trace.name; });
    if (!known) {
      Key key;
      key.label = trace.name;
      key.arm = trace.arm;
      figure.keys.push_back(key);
    }
    panel.traces.push_back(std::move(trace));
  }
  std::vector<double> distances;
  for (const Trace& trace : panel.traces) {
    distances.insert(distances.end(), trace.x.begin(), trace.x.end());
  }
  tick_round(panel.x, distances);
  return panel;
}

Figure ranking_figure(const Acceptance& a) {
  Figure figure;
  figure.id = "gain";
  figure.title = "What evidence is worth, by distance";
  figure.shows =
      "Evidence: log-probability of the right value when the text holds it, minus when the text "
      "holds another one in its place. Copy: nats a token saved on the second copy of a random "
      "string. Bars are 95 % intervals over items.";
  figure.not_shown =
      "answers in words: a gain above 0 says that the evidence was used, not that "
      "the model would say it";
  figure.formula = "log p(gold | evidence) - log p(gold | swapped); nll(first copy) - nll(second)";
  figure.alt = "curves of gain in nats by distance";
  figure.evidence = {Evidence::Measured};
  figure.csv = Csv({"probe", "length", "distance", "n", "nats", "lo", "hi", "top1", "mrr"});
  for (const RankingPoint& p : a.ranking) {
    figure.csv.row(p.probe, p.length, p.distance, p.n, p.nats, p.lo, p.hi, p.top1, p.mrr);
  }
  for (const auto& [probe, title] :
       {std::pair{"gain", "evidence"}, std::pair{"copy", "copy of a random string"}}) {
    Panel panel = gain_panel(a, figure, probe, title);
    if (!panel.traces.empty()) {
      figure.panels.push_back(std::move(panel));
    }
  }
  return figure;
}

Panel curve_panel(const Acceptance& a, const char* title, const char* unit,
                  double CurvePoint::*value, double CurvePoint::*also) {
  Panel panel;
  panel.title = title;
  panel.exports = true;
  panel.x.title = "prompt length, tokens";
  panel.x.log = true;
  panel.y.title = unit;
  const auto trace_of = [&](double CurvePoint::*of, const char* name, int arm) {
    Trace trace;
    trace.name = name;
    trace.arm = arm;
    trace.markers = true;
    for (const CurvePoint& point : a.curves) {
      if (std::isfinite(point.*of)) {
        trace.x.push_back(static_cast<double>(point.length));
        trace.y.push_back(point.*of);
        trace.text.push_back(
            str(whole(point.length), " tokens: ", short_number(point.*of), " ", unit));
      }
    }
    if (!trace.x.empty()) {
      panel.traces.push_back(std::move(trace));
    }
  };
  trace_of(value, also == nullptr ? title : "least of 3", 1);
  if (also != nullptr) {
    trace_of(also, "median of 3", 2);
  }
  std::vector<double> lengths;
  for (const CurvePoint& point : a.curves) {
    lengths.push_back(static_cast<double>(point.length));
  }
  tick_at(panel.x, lengths);
  from_zero(panel.y, panel.traces);
  return panel;
}

Figure curves_figure(const Acceptance& a) {
  Figure figure;
  figure.id = "resources";
  figure.title = "Time and memory by prompt length";
  figure.shows =
      "A pass of its own: one request at a time, each begins with its own salt so that no cache "
      "has seen it, three a length. What a server said it took from a cache is not timed. A rate "
      "is left out where all tokens came at once.";
  figure.not_shown = "a loaded server: requests here were alone";
  figure.formula = "time from sending to the first token; (tokens - 1) / (end - first token)";
  figure.alt = "curves of time to first token, tokens a second and memory by prompt length";
  figure.evidence = {Evidence::Measured};
  figure.csv = Csv({"length", "first_token_ms", "first_token_median_ms", "decode_per_s",
                    "memory_mib", "cached"});
  for (const CurvePoint& p : a.curves) {
    figure.csv.row(p.length, p.first_token_ms, p.first_token_median_ms, p.decode_per_s,
                   p.memory_mib, p.cached ? std::to_string(*p.cached) : "");
  }
  std::vector<Panel> panels = {
      curve_panel(a, "time to the first token", "ms", &CurvePoint::first_token_ms,
                  &CurvePoint::first_token_median_ms),
      curve_panel(a, "decode rate", "tokens a second", &CurvePoint::decode_per_s, nullptr),
      curve_panel(a, "memory", "MiB", &CurvePoint::memory_mib, nullptr)};
  for (const auto& [label, arm] : {std::pair{"least of 3", 1}, std::pair{"median of 3", 2}}) {
    Key key;
    key.label = label;
    key.arm = arm;
    key.toggles = false;
    figure.keys.push_back(key);
  }
  for (Panel& panel : panels) {
    if (!panel.traces.empty()) {
      figure.panels.push_back(std::move(panel));
    }
  }
  return figure;
}

}  // namespace

Section accept_ranking_section(const Acceptance& a) {
  Section section("ranking-part", "Ranking: is evidence used at all?");
  if (a.ranking.empty()) {
    section.left_out("answers were read instead (--ranking on asks for it)");
    return section;
  }
  section.figure(ranking_figure(a));
  return section;
}

Section accept_resources_section(const Acceptance& a) {
  Section section("resources-part", "Time and memory");
  if (a.curves.empty()) {
    section.left_out("no latency pass was made");
    return section;
  }
  Figure figure = curves_figure(a);
  if (figure.panels.empty()) {
    section.left_out("no answer of the latency pass could be timed");
    return section;
  }
  section.figure(std::move(figure));
  return section;
}

}  // namespace gyre::report
