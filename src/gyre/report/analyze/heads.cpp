// The head catalogue: scores by layer and head, a table, drawn patterns, bounds against logits.
#include <algorithm>
#include <cmath>

#include "gyre/base/error.h"
#include "gyre/report/analyze/parts.h"

namespace gyre::report {
namespace {

using analyze::Analysis;
using analyze::HeadEntry;
using analyze::kRoleNames;
using analyze::kRoles;

constexpr const char* kLooksAt[kRoles] = {"itself", "the token before",
                                          "what followed this token before", "the first token",
                                          "equal tokens before"};

std::string role_name(const HeadEntry& head) {
  return head.role ? kRoleNames[static_cast<size_t>(*head.role)] : "none";
}

Panel role_panel(const Analysis& a, size_t role) {
  Panel panel;
  panel.title = str(kRoleNames[role], ": ", kLooksAt[role]);
  panel.exports = true;
  panel.height = 280;
  panel.x.title = "head";
  panel.y.title = "layer";
  panel.y.reversed = true;
  index_ticks(panel.x, a.shape.heads);
  index_ticks(panel.y, a.shape.layers);
  Heat heat;
  heat.value = "mean weight";
  heat.lo = 0.0;
  heat.hi = 1.0;
  for (const analyze::LayerRecord& layer : a.layers) {
    auto& row = heat.z.emplace_back();
    auto& text = heat.text.emplace_back();
    for (size_t h = 0; h < layer.heads.size(); ++h) {
      row.push_back(layer.heads[h].score[role]);
      text.push_back(str("layer ", layer.layer, ", head ", h));
    }
  }
  heat.z = for_picture(heat.z);
  panel.heat = std::move(heat);
  return panel;
}

Csv heads_csv(const Analysis& a) {
  Csv csv({"layer", "head", "kind", "score", "diagonal", "previous", "induction", "sink", "content",
           "content_chance", "high_share", "logit", "bound", "norm_product"});
  for (const HeadEntry& head : a.catalogue.heads) {
    const auto& s = head.measured.score;
    csv.row(head.layer, head.head, role_name(head), head.score, s[0], s[1], s[2], s[3], s[4],
            head.measured.chance, head.high_share, head.measured.logit, head.measured.bound,
            head.measured.product);
  }
  return csv;
}

Figure roles_figure(const Analysis& a) {
  Figure figure;
  figure.id = "roles";
  figure.title = "Roles of heads";
  figure.shows =
      "Mean attention weight on the keys of each role. Diagonal, previous and sink are "
      "measured on text, induction on repeated random tokens, content on random tokens "
      "drawn from eight. " +
      finding_sentence(a, "positional-heads") + " " + finding_sentence(a, "high-frequency-heads");
  figure.not_shown = "what a head writes into the stream: a weight is not an effect";
  figure.formula = "mean over queries from the ninth on of the sum of weights on the role's keys";
  figure.alt = "heat map of mean attention weight, layers by heads";
  figure.evidence = {Evidence::Measured};
  for (size_t role = 0; role < kRoles; ++role) {
    figure.panels.push_back(role_panel(a, role));
  }
  figure.csv = heads_csv(a);
  return figure;
}

std::string catalogue_table(const Analysis& a) {
  Table table("heads", str("<b>Head catalogue.</b> A head's kind is its highest score when that "
                           "reaches ",
                           short_number(a.catalogue.threshold),
                           "; content counts from its chance level. Click a title to sort"));
  table.sortable();
  for (const char* title : {"layer", "head"}) {
    table.column(title, Align::Right);
  }
  table.column("kind");
  for (const char* title : {"score", "diagonal", "previous", "induction", "sink", "content",
                            "norm in the fastest quarter", "of its bound"}) {
    table.column(title, Align::Right);
  }
  for (const HeadEntry& head : a.catalogue.heads) {
    std::vector<std::string> cells = {std::to_string(head.layer), std::to_string(head.head),
                                      role_name(head), fixed(head.score, 3)};
    for (const double score : head.measured.score) {
      cells.push_back(fixed(score, 3));
    }
    cells.push_back(fixed(head.high_share, 3));
    cells.push_back(percent(head.measured.logit / head.measured.bound));
    table.row(std::move(cells));
  }
  return table.html();
}

std::string counts_table(const Analysis& a) {
  Table table("roles", "<b>Heads of each kind by layer</b>");
  table.column("layer", Align::Right);
  for (const char* role : kRoleNames) {
    table.column(role, Align::Right);
  }
  for (size_t n = 0; n < a.catalogue.counts.size(); ++n) {
    std::vector<std::string> cells = {std::to_string(a.layers[n].layer)};
    for (const int64_t count : a.catalogue.counts[n]) {
      cells.push_back(count == 0 ? "\u2013" : std::to_string(count));
    }
    table.row(std::move(cells));
  }
  return table.html();
}

/// Row tokens of a pattern: 0 text, 1 repeat, 2 alphabet.
size_t row_kind(size_t role) {
  const auto r = static_cast<analyze::Role>(role);
  return r == analyze::Role::Induction ? 1 : r == analyze::Role::Content ? 2 : 0;
}

Panel pattern_panel(const Analysis& a, const analyze::Example& example) {
  const analyze::Pattern& pattern = example.pattern;
  const std::vector<std::string>& tokens = a.row_tokens[row_kind(pattern.role)];
  Panel panel;
  panel.title = str("layer ", example.layer, " head ", pattern.head, ": ", kRoleNames[pattern.role],
                    " ", fixed(pattern.score, 2), example.reaches ? "" : ", below the threshold");
  panel.exports = true;
  panel.height = 360;
  panel.x.title = "key";
  panel.y.title = "query";
  panel.y.reversed = true;
  index_ticks(panel.x, pattern.n);
  index_ticks(panel.y, pattern.n);
  Heat heat;
  heat.value = "weight";
  heat.lo = 0.0;
  heat.hi = 1.0;
  for (int64_t i = 0; i < pattern.n; ++i) {
    auto& row = heat.z.emplace_back();
    auto& text = heat.text.emplace_back();
    for (int64_t j = 0; j < pattern.n; ++j) {
      const bool later = j > i;
      row.push_back(later ? std::nan("")
                          : pattern.cells[static_cast<size_t>(i * pattern.n + j)] / 255.0);
      text.push_back(later ? ""
                           : str("query ", i, " '", tokens[static_cast<size_t>(i)], "', key ", j,
                                 " '", tokens[static_cast<size_t>(j)], "'"));
    }
  }
  heat.z = for_picture(heat.z);
  panel.heat = std::move(heat);
  return panel;
}

Figure patterns_figure(const Analysis& a) {
  Figure figure;
  figure.id = "patterns";
  figure.title = "Attention of the strongest heads of each kind";
  figure.shows =
      "Weights of the first tokens of one row: rows are queries, columns keys. Diagonal, "
      "previous and sink heads on the first text; induction on repeated random tokens; "
      "content on tokens drawn from eight. A kind that no head reaches shows its best.";
  figure.not_shown = "a mean: this is one row";
  figure.formula = "softmax over visible keys; weights in steps of 1/255";
  figure.alt = "attention weights, queries by keys";
  figure.evidence = {Evidence::Measured};
  figure.csv = Csv({"layer", "head", "kind", "query", "key", "weight"});
  for (const analyze::Example& example : strongest_patterns(a.layers, a.catalogue.threshold)) {
    const analyze::Pattern& pattern = example.pattern;
    figure.panels.push_back(pattern_panel(a, example));
    for (int64_t i = 0; i < pattern.n; ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        figure.csv.row(example.layer, pattern.head, kRoleNames[pattern.role], i, j,
                       pattern.cells[static_cast<size_t>(i * pattern.n + j)] / 255.0);
      }
    }
  }
  return figure;
}

Figure bound_figure(const Analysis& a) {
  Figure figure;
  figure.id = "bound";
  figure.title = "Attended logits against their bound";
  figure.shows =
      "One point per head: the attention-weighted mean logit on text, and the sum over "
      "pairs of |q_m||k_m| that bounds it (Cauchy-Schwarz). On the line every pair is "
      "aligned. " +
      finding_sentence(a, "bound");
  figure.not_shown = "which pairs align";
  figure.formula = "logit = c q.k <= c sum_m |q_m||k_m| <= c |q||k|,  c = scale / sqrt(D)";
  figure.alt = "scatter of logits over bounds, one point per head";
  figure.evidence = {Evidence::Measured};
  figure.csv = Csv({"layer", "head", "kind", "bound", "logit"});
  Panel panel;
  panel.exports = true;
  panel.height = 380;
  panel.x.title = "bound, nats";
  panel.y.title = "attended logit, nats";
  double most = 0.0;
  for (size_t role = 0; role <= kRoles; ++role) {
    Trace trace;
    trace.name = role < kRoles ? kRoleNames[role] : "none";
    trace.arm = role < kRoles ? static_cast<int>(role) + 1 : kNoArm;
    trace.lines = false;
    trace.markers = true;
    trace.size = 6;
    for (const HeadEntry& head : a.catalogue.heads) {
      if (role_name(head) == trace.name) {
        trace.x.push_back(head.measured.bound);
        trace.y.push_back(head.measured.logit);
        trace.text.push_back(str("layer ", head.layer, " head ", head.head, ": ",
                                 short_number(head.measured.logit), " of ",
                                 short_number(head.measured.bound)));
        most = std::max(most, head.measured.bound);
        figure.csv.row(head.layer, head.head, trace.name, head.measured.bound, head.measured.logit);
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
  line.name = "bound";
  line.x = line.y = {0.0, most};
  line.key = false;
  line.dash = "dot";
  panel.traces.push_back(std::move(line));
  figure.panels.push_back(std::move(panel));
  return figure;
}

}  // namespace

Section analyze_heads_section(const Analysis& a) {
  Section section("heads-part", "What heads attend to");
  section.figure(roles_figure(a));
  section.html(counts_table(a));
  section.html("<details><summary>All heads</summary>" + catalogue_table(a) + "</details>\n");
  section.figure(patterns_figure(a));
  section.figure(bound_figure(a));
  return section;
}

}  // namespace gyre::report
