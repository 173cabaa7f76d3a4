// Norms of queries, keys and values over pairs: maps, shares by layer, maps by text.
#include <algorithm>

#include "gyre/base/error.h"
#include "gyre/report/analyze/parts.h"

namespace gyre::report {
namespace {

using analyze::Analysis;
using analyze::LayerUsage;
using Rows = std::vector<std::vector<double>>;

constexpr size_t kMostDomainMaps = 8;
constexpr size_t kMostHeadRows = 1100;

Rows pick(const Analysis& a, std::vector<double> LayerUsage::*part) {
  Rows out;
  for (const LayerUsage& layer : a.usage.layers) {
    out.push_back(layer.*part);
  }
  return out;
}

Figure norms_figure(const Analysis& a) {
  Figure figure;
  figure.id = "norms";
  figure.title = "Mean length of queries, keys and values by layer and pair";
  figure.shows =
      "Each cell is the mean 2-norm of one pair of channels over all tokens and heads; "
      "pairs go from the fastest (left) to the slowest. Values are the control: their "
      "channels are never rotated, so a pattern there would have another cause. " +
      finding_sentence(a, "low-frequencies") + " " + finding_sentence(a, "control");
  figure.not_shown = "logits: two long vectors may be at right angles, see the figure of bounds";
  figure.formula =
      "mean over tokens and heads of sqrt(x_a^2 + x_b^2), (a, b) the channels of a pair";
  figure.alt = "heat map of mean norms, layers by pairs";
  figure.evidence = {Evidence::Measured};
  const Rows q = pick(a, &LayerUsage::q), k = pick(a, &LayerUsage::k), v = pick(a, &LayerUsage::v);
  figure.panels = {layer_by_pair(a, "queries", q, "mean norm"),
                   layer_by_pair(a, "keys", k, "mean norm"),
                   layer_by_pair(a, "values (control)", v, "mean norm")};
  figure.csv = Csv({"layer", "pair", "wavelength", "q_norm", "k_norm", "v_norm"});
  for (size_t n = 0; n < q.size(); ++n) {
    for (size_t m = 0; m < q[n].size(); ++m) {
      figure.csv.row(a.layers[n].layer, static_cast<int64_t>(m), a.layers[n].wavelength[m], q[n][m],
                     k[n][m], v[n][m]);
    }
  }
  return figure;
}

Panel heads_panel(const Analysis& a, const std::string& title, Rows analyze::LayerRecord::*part) {
  Rows values;
  std::vector<std::vector<std::string>> text;
  for (const analyze::LayerRecord& layer : a.layers) {
    for (size_t h = 0; h < (layer.*part).size() && values.size() < kMostHeadRows; ++h) {
      values.push_back((layer.*part)[h]);
      auto& row = text.emplace_back();
      for (size_t m = 0; m < values.back().size(); ++m) {
        row.push_back(str("layer ", layer.layer, ", head ", h, ", pair ", m, ": ",
                          wavelength_text(layer.wavelength[m])));
      }
    }
  }
  Panel panel;
  panel.title = title;
  panel.exports = true;
  panel.height = 520;
  panel.x.title = "pair, by wavelength in tokens";
  panel.y.title = "layer, its heads from top to bottom";
  panel.y.reversed = true;
  wavelength_ticks(panel.x, a);
  const auto per_layer = static_cast<int64_t>((a.layers.front().*part).size());
  const auto n_layers = static_cast<int64_t>(a.layers.size());
  for (int64_t n = 0; n < n_layers; n += std::max<int64_t>(1, n_layers / 10)) {
    panel.y.ticks.push_back(static_cast<double>(n * per_layer));
    panel.y.tick_text.push_back(std::to_string(n));
  }
  Heat heat;
  heat.z = for_picture(values);
  heat.text = std::move(text);
  heat.value = "mean norm";
  panel.heat = std::move(heat);
  return panel;
}

void head_rows(Csv& csv, const Analysis& a, const char* of, Rows analyze::LayerRecord::*part) {
  for (const analyze::LayerRecord& layer : a.layers) {
    for (size_t h = 0; h < (layer.*part).size(); ++h) {
      for (size_t m = 0; m < (layer.*part)[h].size(); ++m) {
        csv.row(of, layer.layer, static_cast<int64_t>(h), static_cast<int64_t>(m),
                layer.wavelength[m], (layer.*part)[h][m]);
      }
    }
  }
}

Figure heads_figure(const Analysis& a) {
  Figure figure;
  figure.id = "head-norms";
  figure.title = "The same head by head";
  figure.shows =
      "Rows are heads in the order of layers; keys have one row per key/value head. The "
      "mean over the heads of a layer is its row in the figure above.";
  figure.not_shown = "which heads attend by position: see the catalogue";
  figure.formula = "mean over tokens of sqrt(x_a^2 + x_b^2)";
  figure.alt = "heat map of mean norms, heads by pairs";
  figure.evidence = {Evidence::Measured};
  figure.panels = {heads_panel(a, "queries", &analyze::LayerRecord::q_heads),
                   heads_panel(a, "keys", &analyze::LayerRecord::k_heads)};
  figure.csv = Csv({"of", "layer", "head", "pair", "wavelength", "norm"});
  head_rows(figure.csv, a, "queries", &analyze::LayerRecord::q_heads);
  head_rows(figure.csv, a, "keys", &analyze::LayerRecord::k_heads);
  return figure;
}

struct ShareLine {
  const char* name;
  analyze::Shares LayerUsage::*of;
};
constexpr ShareLine kShareLines[] = {{"queries", &LayerUsage::q_share},
                                     {"keys", &LayerUsage::k_share},
                                     {"values", &LayerUsage::v_share}};

Panel share_panel(const Analysis& a, const char* title, double analyze::Shares::*share,
                  double equal) {
  Panel panel;
  panel.title = title;
  panel.exports = true;
  panel.x.title = "layer";
  index_ticks(panel.x, a.shape.layers);
  panel.y.title = "share of norm";
  panel.markers = {{'y', equal, "equal"}};
  int arm = 1;
  for (const ShareLine& line : kShareLines) {
    Trace trace;
    trace.name = line.name;
    trace.arm = arm++;
    trace.markers = true;
    trace.size = 5;
    for (const LayerUsage& layer : a.usage.layers) {
      if (layer.rotates) {
        trace.x.push_back(static_cast<double>(layer.layer));
        trace.y.push_back(layer.*(line.of).*share);
      }
    }
    panel.traces.push_back(std::move(trace));
  }
  return panel;
}

Figure shares_figure(const Analysis& a) {
  Figure figure;
  figure.id = "shares";
  figure.title = "Shares of the slow and of the fast pairs by layer";
  figure.shows =
      "Share of a layer's norm in the slower half of its pairs and in the fastest "
      "quarter; equal norms give the dashed line. " +
      finding_sentence(a, "ends");
  figure.not_shown = "an effect on the output: that is what the ablation measures";
  figure.formula = "sum of mean norms of the pairs over the sum of all pairs' mean norms";
  figure.alt = "shares of norm by layer";
  figure.evidence = {Evidence::Measured};
  figure.panels = {share_panel(a, "slower half", &analyze::Shares::low50, 0.5),
                   share_panel(a, "fastest quarter", &analyze::Shares::high25, 0.25)};
  int arm = 1;
  for (const ShareLine& line : kShareLines) {
    Key key;
    key.label = line.name;
    key.arm = arm++;
    figure.keys.push_back(key);
  }
  figure.csv = Csv({"layer", "of", "low25", "low50", "high25", "spread", "high25_lo", "high25_hi",
                    "half_wavelength", "middle_wavelength", "pairs_below_0.1_turn"});
  for (const LayerUsage& layer : a.usage.layers) {
    for (const ShareLine& line : kShareLines) {
      const analyze::Shares& s = layer.*(line.of);
      if (layer.rotates) {
        figure.csv.row(layer.layer, line.name, s.low25, s.low50, s.high25, s.spread, layer.high.lo,
                       layer.high.hi, layer.half_wavelength, layer.middle_wavelength,
                       layer.never_turn);
      }
    }
  }
  return figure;
}

Panel square(const Analysis& a, const char* title, const Rows& values, const char* value, double lo,
             double hi) {
  Panel panel;
  panel.title = title;
  panel.exports = true;
  panel.y.reversed = true;
  for (size_t i = 0; i < a.domains.size(); ++i) {
    for (Axis* axis : {&panel.x, &panel.y}) {
      axis->ticks.push_back(static_cast<double>(i));
      axis->tick_text.push_back(a.domains[i].name);
    }
  }
  Heat heat;
  heat.z = for_picture(values);
  heat.value = value;
  heat.lo = lo;
  heat.hi = hi;
  for (size_t i = 0; i < values.size(); ++i) {
    auto& row = heat.text.emplace_back();
    for (size_t j = 0; j < values[i].size(); ++j) {
      row.push_back(a.domains[i].name + " and " + a.domains[j].name);
    }
  }
  panel.heat = std::move(heat);
  return panel;
}

Figure domains_figure(const Analysis& a) {
  Figure figure;
  figure.id = "texts";
  figure.title = "Agreement of texts";
  figure.shows =
      "Correlation of the maps of two texts, queries and keys together, each layer scaled "
      "to mean 1 so that large layers do not decide; and their mean absolute difference "
      "in units of a layer's mean. " +
      finding_sentence(a, "domains");
  figure.not_shown = "that the texts are processed alike: only where the norms lie";
  figure.formula = "Pearson correlation over layers x pairs";
  figure.alt = "matrix of correlations between texts";
  figure.evidence = {Evidence::Measured};
  double least = 1.0, far = 0.0;
  figure.csv = Csv({"text", "other", "correlation", "distance"});
  for (size_t i = 0; i < a.domains.size(); ++i) {
    for (size_t j = 0; j < a.domains.size(); ++j) {
      figure.csv.row(a.domains[i].name, a.domains[j].name, a.usage.correlation[i][j],
                     a.usage.distance[i][j]);
      least = std::min(least, a.usage.correlation[i][j]);
      far = std::max(far, a.usage.distance[i][j]);
    }
  }
  figure.panels = {
      square(a, "correlation", a.usage.correlation, "correlation", std::min(least, 0.9), 1.0),
      square(a, "mean absolute difference", a.usage.distance, "difference", 0.0,
             std::max(far, 1e-9))};
  return figure;
}

Figure domain_maps_figure(const Analysis& a) {
  Figure figure;
  figure.id = "text-maps";
  figure.title = "Queries by text";
  figure.shows = "The map of queries for each text on its own.";
  figure.not_shown = "keys: they are in the CSV file";
  figure.formula = "mean over tokens and heads of sqrt(q_a^2 + q_b^2)";
  figure.alt = "heat map of mean norms of queries, one per text";
  figure.evidence = {Evidence::Measured};
  figure.csv = Csv({"text", "layer", "pair", "wavelength", "q_norm", "k_norm"});
  for (const analyze::Domain& domain : a.domains) {
    const Rows q = domain_map(a.layers, domain, &analyze::LayerRecord::q_rows);
    const Rows k = domain_map(a.layers, domain, &analyze::LayerRecord::k_rows);
    if (figure.panels.size() < kMostDomainMaps) {
      figure.panels.push_back(layer_by_pair(
          a, str(domain.name, ", ", domain.n_rows, " rows of ", a.options.tokens, " tokens"), q,
          "mean norm"));
    }
    for (size_t n = 0; n < q.size(); ++n) {
      for (size_t m = 0; m < q[n].size(); ++m) {
        figure.csv.row(domain.name, a.layers[n].layer, static_cast<int64_t>(m),
                       a.layers[n].wavelength[m], q[n][m], k[n][m]);
      }
    }
  }
  return figure;
}

}  // namespace

Section analyze_usage_section(const Analysis& a) {
  Section section("usage", "Where queries and keys are long");
  if (a.usage.n_rotating == 0) {
    section.left_out("nothing rotates, so pairs have no frequency");
    return section;
  }
  section.figure(norms_figure(a));
  section.figure(shares_figure(a));
  section.figure(heads_figure(a));
  if (a.domains.size() > 1) {
    section.figure(domains_figure(a));
    section.figure(domain_maps_figure(a));
  } else {
    section.left_out("one text has no other to be compared with");
  }
  return section;
}

}  // namespace gyre::report
