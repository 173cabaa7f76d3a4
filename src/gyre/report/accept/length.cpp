// Level 1: which parts of the text came back at each length, tokens predicted and reported, claims
// against the measured window, requests at once.
#include <algorithm>
#include <cmath>

#include "gyre/base/error.h"
#include "gyre/report/accept/parts.h"

namespace gyre::report {
namespace {

using accept::Acceptance;
using accept::Rung;

constexpr size_t kColumns = 16;

bool both_endpoints(const Acceptance& a) {
  return std::any_of(a.one.rungs.begin(), a.one.rungs.end(),
                     [&](const Rung& rung) { return rung.api != a.one.rungs.front().api; });
}

std::string rung_name(const Acceptance& a, const Rung& rung) {
  return whole(rung.length) + (both_endpoints(a) ? str(" ", accept::name_of(rung.api)) : "");
}

double stripe_value(int seen) {
  return seen < 0 ? std::nan("") : static_cast<double>(seen);
}

bool known(const std::vector<int>& stripes) {
  return std::any_of(stripes.begin(), stripes.end(), [](int seen) { return seen >= 0; });
}

// Short prompts have fewer stripes than columns: each is as wide as its share of the text.
void add_stripes(Heat& heat, const std::vector<int>& stripes, const std::string& name,
                 const char* yes, const char* no) {
  auto& z = heat.z.emplace_back();
  auto& text = heat.text.emplace_back();
  for (size_t column = 0; column < kColumns; ++column) {
    const size_t i = column * stripes.size() / kColumns;
    z.push_back(stripe_value(stripes[i]));
    text.push_back(str(name, ", stripe ", i + 1, " of ", stripes.size(), ": ",
                       stripes[i] < 0   ? "not known"
                       : stripes[i] > 0 ? yes
                                        : no));
  }
}

Panel stripes_panel(const Acceptance& a, const char* title, std::vector<int> Rung::*part,
                    const char* yes, const char* no) {
  Panel panel;
  panel.title = title;
  panel.exports = true;
  panel.x.title = "place in the text";
  panel.y.title = "prompt length, tokens";
  Heat heat;
  heat.value = "1 = there, 0 = lost";
  heat.quality = true;
  heat.lo = 0.0;
  heat.hi = 1.0;
  for (const Rung& rung : a.one.rungs) {
    if (known(rung.*part)) {
      add_stripes(heat, rung.*part, rung_name(a, rung), yes, no);
      panel.y.ticks.push_back(static_cast<double>(heat.z.size()) - 1.0);
      panel.y.tick_text.push_back(rung_name(a, rung));
    }
  }
  for (const int quarter : {0, 1, 2, 3, 4}) {
    panel.x.ticks.push_back(static_cast<double>(kColumns) * quarter / 4 - 0.5);
    panel.x.tick_text.push_back(str(25 * quarter, " %"));
  }
  panel.height = static_cast<int>(90 + std::max<size_t>(100, 24 * heat.z.size()));
  panel.heat = std::move(heat);
  return panel;
}

bool any(const Acceptance& a, std::vector<int> Rung::*part) {
  return std::any_of(a.one.rungs.begin(), a.one.rungs.end(),
                     [&](const Rung& rung) { return known(rung.*part); });
}

Key patch(const char* label, int arm) {
  Key key;
  key.label = label;
  key.arm = arm;
  key.patch = true;
  key.toggles = false;
  return key;
}

Figure stripes_figure(const Acceptance& a) {
  Figure figure;
  figure.id = "stripes";
  figure.title = "What of the text came back";
  figure.shows =
      "Each row is one prompt. Left of a cut nothing comes back when the beginning was dropped, "
      "right of it when the end was. Roll call: a code stands in every stripe of the text and all "
      "are asked for. Influence: a sentence of a stripe is changed and the log-probabilities of "
      "the next token are watched; no change at all means that it was never read.";
  if (!a.one.able) {
    figure.shows +=
        " This model does not read codes back from a short text either: its roll calls say "
        "nothing of what was lost.";
  }
  figure.keys = {patch("came back, or was read", 1), patch("did not", 2),
                 patch("not known", kNoArm)};
  figure.not_shown = "whether the model can use what it read: that is level 2";
  figure.formula =
      "influence: max over the likeliest tokens of |log p - log p'|, against the same "
      "request sent twice";
  figure.alt = "map of what came back, prompt lengths by place in the text";
  figure.evidence = {Evidence::Measured};
  if (any(a, &Rung::stripes)) {
    figure.panels.push_back(
        stripes_panel(a, "roll call", &Rung::stripes, "its code came back", "its code is missing"));
  }
  if (any(a, &Rung::read)) {
    figure.panels.push_back(stripes_panel(a, "influence", &Rung::read, "read", "not read"));
  }
  figure.csv = Csv({"length", "endpoint", "stripe", "of", "roll_call", "read"});
  for (const Rung& rung : a.one.rungs) {
    const size_t n = std::max(rung.stripes.size(), rung.read.size());
    for (size_t i = 0; i < n; ++i) {
      figure.csv.row(rung.length, accept::name_of(rung.api), static_cast<int64_t>(i) + 1,
                     static_cast<int64_t>(n),
                     i < rung.stripes.size() ? stripe_value(rung.stripes[i]) : std::nan(""),
                     i < rung.read.size() ? stripe_value(rung.read[i]) : std::nan(""));
    }
  }
  return figure;
}

Figure tokens_figure(const Acceptance& a) {
  Figure figure;
  figure.id = "tokens";
  figure.title = "Tokens predicted and reported";
  figure.shows =
      str("Predicted from two short prompts: overhead ", fixed(a.calibration.overhead, 1), ", ",
          fixed(a.calibration.tokens_per_byte, 4), " tokens a byte (", escape(a.calibration.source),
          "). A point below the line was counted short.");
  figure.not_shown = "what was read: some servers count what they then drop";
  figure.formula = "prompt_tokens = overhead + tokens_per_byte * bytes";
  figure.alt = "scatter of reported over predicted tokens";
  figure.evidence = {Evidence::Measured};
  figure.csv = Csv({"length", "endpoint", "predicted", "reported"});
  Panel panel;
  panel.exports = true;
  panel.x.title = "predicted, tokens";
  panel.y.title = "reported, tokens";
  double most = 0.0;
  int arm = 1;
  for (const accept::Api api : {accept::Api::Chat, accept::Api::Completions}) {
    Trace trace;
    trace.name = accept::name_of(api);
    trace.arm = arm++;
    trace.lines = false;
    trace.open = api == accept::Api::Completions;  // both are seen where they agree
    trace.markers = true;
    for (const Rung& rung : a.one.rungs) {
      if (rung.api == api && rung.reported) {
        trace.x.push_back(static_cast<double>(rung.predicted));
        trace.y.push_back(static_cast<double>(*rung.reported));
        trace.text.push_back(
            str(whole(rung.predicted), " predicted, ", whole(*rung.reported), " reported"));
        most = std::max({most, trace.x.back(), trace.y.back()});
        figure.csv.row(rung.length, trace.name, rung.predicted, *rung.reported);
      }
    }
    if (!trace.x.empty()) {
      Key key;
      key.label = trace.name;
      key.arm = trace.arm;
      key.line = false;
      key.open = trace.open;
      figure.keys.push_back(key);
      panel.traces.push_back(std::move(trace));
    }
  }
  Trace line;
  line.name = "equal";
  line.x = line.y = {0.0, most};
  line.key = false;
  line.dash = "dot";
  panel.traces.push_back(std::move(line));
  figure.panels.push_back(std::move(panel));
  return figure;
}

std::string count(const std::optional<int64_t>& value) {
  return value ? whole(*value) : "\u2013";
}

std::string rungs_table(const Acceptance& a, const SidLinks& links) {
  Table table("rungs", "<b>Every length asked</b>");
  table.column("length", Align::Right);
  table.column("endpoint");
  table.column("predicted", Align::Right);
  table.column("reported", Align::Right);
  for (const char* title : {"result", "what was seen", "requests"}) {
    table.column(title);
  }
  for (const Rung& rung : a.one.rungs) {
    table.row({whole(rung.length), accept::name_of(rung.api), whole(rung.predicted),
               count(rung.reported), status_html(rung.status), escape(rung.says),
               links(rung.evidence)});
  }
  return table.html();
}

std::string window_table(const Acceptance& a) {
  Table table("window", "<b>Window, tokens</b>: what was promised and what was measured");
  table.column("who says so");
  table.column("tokens", Align::Right);
  for (const accept::Claim& claim : a.facts.claims) {
    table.row({escape(claim.source), whole(claim.tokens)});
  }
  const accept::Window& window = a.one.window;
  const std::string source = window.source.empty() ? "" : " (" + escape(window.source) + ")";
  if (window.fits) {
    table.row({"measured: longest wholly kept" + source, count(window.fits)});
  }
  if (window.fails) {
    table.row({"measured: shortest that was not" + source, count(window.fails)});
  }
  if (window.after_overflow) {
    table.row({"measured: stays of a longer prompt" + source, count(window.after_overflow)});
  }
  return table.empty() ? "" : table.html();
}

std::string concurrency_table(const Acceptance& a, const SidLinks& links) {
  Table table("concurrency", "<b>Equal long requests at once</b>");
  for (const char* title : {"at once", "asked", "right", "errors"}) {
    table.column(title, Align::Right);
  }
  table.column("requests");
  for (const accept::ConcurrencyRow& row : a.one.concurrency) {
    table.row({std::to_string(row.in_flight), std::to_string(row.asked), std::to_string(row.ok),
               std::to_string(row.faults), links(row.evidence)});
  }
  return table.empty() ? "" : table.html();
}

}  // namespace

Section accept_length_section(const Acceptance& a) {
  Section section("length-part", "Level 1: is the text kept?");
  if (!a.one.ran) {
    section.left_out("level 1 was not asked for");
    return section;
  }
  const SidLinks links(a);
  section.html(level_line(a, 1));
  section.html(a.one.able ? "<p>At the original length the model reads the roll call back.</p>\n"
                          : "<p>At the original length the model does not read the roll call back: "
                            "a weak reader. What was read is judged by influence and by counted "
                            "tokens, not by its answers.</p>\n");
  if (any(a, &Rung::stripes) || any(a, &Rung::read)) {
    section.figure(stripes_figure(a));
  }
  const bool counted = std::any_of(a.one.rungs.begin(), a.one.rungs.end(),
                                   [](const Rung& rung) { return rung.reported.has_value(); });
  if (counted) {
    section.figure(tokens_figure(a));
  } else {
    section.left_out("no answer says how many tokens its prompt had");
  }
  section.html(window_table(a) + rungs_table(a, links) + concurrency_table(a, links));
  if (!a.one.client_options.empty()) {
    section.html(element("p", a.one.client_options) + "\n");
  }
  return section;
}

}  // namespace gyre::report
