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

std::string rung_name(const Rung& rung) {
  return str(rung.length, " ", accept::name_of(rung.api));
}

double stripe_value(int seen) {
  return seen < 0 ? std::nan("") : static_cast<double>(seen);
}

Panel stripes_panel(const Acceptance& a, const char* title, std::vector<int> Rung::*part,
                    const char* yes, const char* no) {
  Panel panel;
  panel.title = title;
  panel.exports = true;
  panel.x.title = "sixteenth of the text";
  panel.y.title = "prompt length, tokens";
  Heat heat;
  heat.value = "1 = there, 0 = lost";
  heat.lo = 0.0;
  heat.hi = 1.0;
  for (const Rung& rung : a.one.rungs) {
    if ((rung.*part).empty()) {
      continue;
    }
    auto& z = heat.z.emplace_back();
    auto& text = heat.text.emplace_back();
    for (size_t i = 0; i < (rung.*part).size(); ++i) {
      const int seen = (rung.*part)[i];
      z.push_back(stripe_value(seen));
      text.push_back(str(rung_name(rung), ", sixteenth ", i + 1, ": ",
                         seen < 0   ? "not known"
                         : seen > 0 ? yes
                                    : no));
    }
    panel.y.ticks.push_back(static_cast<double>(heat.z.size()) - 1.0);
    panel.y.tick_text.push_back(rung_name(rung));
  }
  for (int i = 0; i < 16; i += 3) {
    panel.x.ticks.push_back(i);
    panel.x.tick_text.push_back(std::to_string(i + 1));
  }
  panel.height = static_cast<int>(std::min<size_t>(520, 150 + 26 * heat.z.size()));
  panel.heat = std::move(heat);
  return panel;
}

bool any(const Acceptance& a, std::vector<int> Rung::*part) {
  return std::any_of(a.one.rungs.begin(), a.one.rungs.end(),
                     [&](const Rung& rung) { return !(rung.*part).empty(); });
}

Figure stripes_figure(const Acceptance& a) {
  Figure figure;
  figure.id = "stripes";
  figure.title = "What of the text was there";
  figure.shows =
      "Each row is one prompt. Left of a cut nothing comes back when the beginning was dropped, "
      "right of it when the end was. Roll call: a code stands in every sixteenth and all are asked "
      "for. Influence: a sentence of a sixteenth is changed and the log-probabilities of the next "
      "token are watched; no change at all means that it was never read.";
  figure.not_shown = "whether the model can use what it read: that is level 2";
  figure.formula =
      "influence: max over the likeliest tokens of |log p - log p'|, against the same "
      "request sent twice";
  figure.alt = "heat map of what came back, prompt lengths by sixteenths of the text";
  figure.evidence = {Evidence::Measured};
  if (any(a, &Rung::stripes)) {
    figure.panels.push_back(
        stripes_panel(a, "roll call", &Rung::stripes, "its code came back", "its code is missing"));
  }
  if (any(a, &Rung::read)) {
    figure.panels.push_back(stripes_panel(a, "influence", &Rung::read, "read", "not read"));
  }
  figure.csv = Csv({"length", "endpoint", "sixteenth", "roll_call", "read"});
  for (const Rung& rung : a.one.rungs) {
    for (size_t i = 0; i < std::max(rung.stripes.size(), rung.read.size()); ++i) {
      figure.csv.row(rung.length, accept::name_of(rung.api), static_cast<int64_t>(i) + 1,
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
    trace.markers = true;
    for (const Rung& rung : a.one.rungs) {
      if (rung.api == api && rung.reported) {
        trace.x.push_back(static_cast<double>(rung.predicted));
        trace.y.push_back(static_cast<double>(*rung.reported));
        most = std::max({most, trace.x.back(), trace.y.back()});
        figure.csv.row(rung.length, trace.name, rung.predicted, *rung.reported);
      }
    }
    if (!trace.x.empty()) {
      Key key;
      key.label = trace.name;
      key.arm = trace.arm;
      key.line = false;
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
  return value ? std::to_string(*value) : "\u2013";
}

std::string rungs_table(const Acceptance& a) {
  Table table("rungs", "<b>Every length asked</b>");
  table.column("length", Align::Right);
  table.column("endpoint");
  table.column("predicted", Align::Right);
  table.column("reported", Align::Right);
  for (const char* title : {"result", "what was seen", "requests"}) {
    table.column(title);
  }
  for (const Rung& rung : a.one.rungs) {
    table.row({std::to_string(rung.length), accept::name_of(rung.api),
               std::to_string(rung.predicted), count(rung.reported), status_html(rung.status),
               escape(rung.says), sid_links(rung.evidence)});
  }
  return table.html();
}

std::string window_table(const Acceptance& a) {
  Table table("window", "<b>Window, tokens</b>: what was promised and what was measured");
  table.column("who says so");
  table.column("tokens", Align::Right);
  for (const accept::Claim& claim : a.facts.claims) {
    table.row({escape(claim.source), std::to_string(claim.tokens)});
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

std::string concurrency_table(const Acceptance& a) {
  Table table("concurrency", "<b>Equal long requests at once</b>");
  for (const char* title : {"at once", "asked", "right", "errors"}) {
    table.column(title, Align::Right);
  }
  table.column("requests");
  for (const accept::ConcurrencyRow& row : a.one.concurrency) {
    table.row({std::to_string(row.in_flight), std::to_string(row.asked), std::to_string(row.ok),
               std::to_string(row.faults), sid_links(row.evidence)});
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
  section.html(window_table(a) + rungs_table(a) + concurrency_table(a));
  if (!a.one.client_options.empty()) {
    section.html(element("p", a.one.client_options) + "\n");
  }
  return section;
}

}  // namespace gyre::report
