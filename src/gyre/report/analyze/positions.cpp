// What pairs add to logits by distance alone: range by layer and pair, the dominant pair's curve.
#include "gyre/base/error.h"
#include "gyre/report/analyze/parts.h"

namespace gyre::report {
namespace {

using analyze::Analysis;

Figure contribution_figure(const Analysis& a) {
  const evaluate::BandReport& bands = a.positions->bands;
  Figure figure;
  figure.id = "contribution";
  figure.title = "Positional contribution of pairs";
  figure.shows =
      "How far a pair moves a logit by distance alone, content averaged out, within the "
      "training length; mean over heads. " +
      finding_sentence(a, "dominant");
  figure.not_shown = "what content adds: a pair may be long and contribute nothing here";
  figure.formula =
      "range over d of C_m(d) = c Re(A_m e^(i d theta_m)), A_m = mean of z_q conj(z_k)";
  figure.alt = "heat map of positional contribution, layers by pairs";
  figure.evidence = {Evidence::Measured};
  figure.panels = {layer_by_pair(a, "", bands.contribution, "range, nats")};
  figure.csv = Csv({"layer", "pair", "wavelength", "range"});
  for (size_t n = 0; n < bands.contribution.size(); ++n) {
    for (size_t m = 0; m < bands.contribution[n].size(); ++m) {
      figure.csv.row(a.layers[n].layer, static_cast<int64_t>(m), bands.wavelength[n][m],
                     bands.contribution[n][m]);
    }
  }
  return figure;
}

Trace mean_curve(const std::vector<std::vector<double>>& layers, const std::vector<int64_t>& x,
                 const char* name, int arm) {
  Trace trace;
  trace.name = name;
  trace.arm = arm;
  for (size_t i = 0; i < x.size(); ++i) {
    double sum = 0.0;
    for (const std::vector<double>& layer : layers) {
      sum += layer[i] / static_cast<double>(layers.size());
    }
    if (x[i] > 0) {  // the axis is logarithmic
      trace.x.push_back(static_cast<double>(x[i]));
      trace.y.push_back(sum);
    }
  }
  return trace;
}

Figure curve_figure(const Analysis& a) {
  const evaluate::BandReport& bands = a.positions->bands;
  Figure figure;
  figure.id = "curve";
  figure.title = "The dominant pair and all others by distance";
  figure.shows =
      "Contribution to a logit by distance, mean over layers and heads, to four training "
      "lengths. " +
      finding_sentence(a, "sign-change");
  figure.not_shown = "single heads, whose phases differ: the sign change is measured in one head";
  figure.formula = "C_m(d) of the dominant pair; sum of C_m(d) over the others";
  figure.alt = "contribution to logits over distance";
  figure.evidence = {Evidence::Measured};
  Panel panel;
  panel.exports = true;
  panel.height = 360;
  panel.x.title = "distance, tokens (log scale)";
  panel.x.log = true;
  panel.y.title = "nats";
  panel.markers = {{'x', static_cast<double>(a.train_length), "training length"}, {'y', 0.0, ""}};
  panel.traces = {mean_curve(bands.curve_dominant, bands.distance, "dominant", 1),
                  mean_curve(bands.curve_others, bands.distance, "others", 2)};
  for (const Trace& trace : panel.traces) {
    Key key;
    key.label = trace.name;
    key.arm = trace.arm;
    key.symbol = false;
    figure.keys.push_back(key);
  }
  figure.panels.push_back(std::move(panel));
  figure.csv = Csv({"layer", "distance", "dominant", "others"});
  for (size_t n = 0; n < bands.curve_dominant.size(); ++n) {
    for (size_t i = 0; i < bands.distance.size(); ++i) {
      figure.csv.row(a.layers[n].layer, bands.distance[i], bands.curve_dominant[n][i],
                     bands.curve_others[n][i]);
    }
  }
  return figure;
}

std::string dominant_table(const Analysis& a) {
  Table table("dominant", "<b>Dominant pair of each layer</b>");
  for (const char* title :
       {"layer", "pair", "wavelength, tokens", "over training length", "range, nats", "share"}) {
    table.column(title, Align::Right);
  }
  for (const analyze::LayerDominant& layer : a.positions->layers) {
    table.row({std::to_string(layer.layer), std::to_string(layer.band),
               short_number(layer.wavelength),
               fixed(layer.wavelength / static_cast<double>(a.train_length), 3),
               short_number(layer.range), percent(layer.share)});
  }
  return table.html();
}

}  // namespace

Section analyze_positions_section(const Analysis& a) {
  Section section("positions", "What distance alone adds");
  if (!a.positions) {
    section.left_out("nothing rotates");
    return section;
  }
  section.figure(contribution_figure(a));
  if (a.positions->bands.dominant) {
    section.html(dominant_table(a));
    section.figure(curve_figure(a));
  }
  return section;
}

}  // namespace gyre::report
