#include "gyre/report/inspect_page.h"

#include <algorithm>
#include <cmath>

#include "gyre/base/error.h"
#include "gyre/inspect/spectrum.h"
#include "gyre/report/sections/bands.h"
#include "gyre/report/standalone.h"

namespace gyre::report {
namespace {

using inspect::LayerKind;
using inspect::ResolvedModel;

// A spectrum is drawn once although many layers share it.
struct Curve {
  std::string name;
  const LayerKind* kind = nullptr;
  std::vector<double> bands;
  int arm = kNoArm;
  bool open = false;
};

std::vector<Curve> curves_of(const ResolvedModel& model) {
  std::vector<Curve> curves;
  int arm = 0;
  for (const LayerKind& kind : model.kinds) {
    if (inspect::bands_of(kind).empty()) {
      continue;
    }
    const std::string name = inspect::printable(kind.name);
    curves.push_back({name, &kind, inspect::bands_of(kind), arm, false});
    if (!inspect::moved_pairs(kind, inspect::bands_of(kind)).empty()) {
      curves.push_back(
          {name + ", without extension", &kind, inspect::unextended_bands(kind), kNoArm, true});
    }
    if (!kind.long_inv_freq.empty()) {
      curves.push_back(
          {name + ", beyond the original length", &kind, kind.long_inv_freq, arm, true});
    }
    ++arm;
  }
  return curves;
}

std::vector<Marker> length_lines(const ResolvedModel& model) {
  std::vector<Marker> markers;
  if (model.original_length > 0) {
    markers.push_back({'y', static_cast<double>(model.original_length), "original"});
  }
  if (model.max_length > 0 && model.max_length != model.original_length) {
    markers.push_back({'y', static_cast<double>(model.max_length), "admitted"});
  }
  return markers;
}

void add_curve(const Curve& curve, Panel& panel, Csv& csv, double& lo, double& hi) {
  Trace trace;
  trace.name = curve.name;
  trace.arm = curve.arm;
  trace.lines = false;
  trace.markers = true;
  trace.open = curve.open;
  trace.size = 5.5;
  for (size_t m = 0; m < curve.bands.size(); ++m) {
    const double wavelength = wavelength_of(curve.bands[m]);
    csv.row(curve.name, static_cast<int64_t>(m), curve.bands[m], wavelength);
    if (std::isfinite(wavelength) && wavelength > 0.0) {
      trace.x.push_back(static_cast<double>(m));
      trace.y.push_back(wavelength);
      trace.text.push_back("pair " + std::to_string(m) + ": " + short_number(wavelength) +
                           " tokens");
      lo = std::min(lo, wavelength);
      hi = std::max(hi, wavelength);
    }
  }
  panel.traces.push_back(std::move(trace));
}

Figure spectrum_figure(const ResolvedModel& model) {
  Figure figure;
  figure.id = "spectrum";
  figure.title = "Wavelength of every rotated pair";
  figure.shows =
      "Each point is one pair of channels; a pair above a dashed line never completes a turn "
      "inside that length.";
  figure.not_shown = "how much the model uses a pair";
  figure.formula = "wavelength_m = 2 pi / theta_m; turns in L tokens = L / wavelength_m";
  figure.alt = "wavelength in tokens against pair index, log scale";
  figure.evidence = {Evidence::Analytic};
  figure.csv = Csv({"layers", "pair", "inv_freq", "wavelength"});
  Panel panel;
  panel.height = 420;
  panel.x.title = "pair (0 turns fastest)";
  panel.y.title = "wavelength, tokens (log scale)";
  panel.markers = length_lines(model);
  double lo = 6.0, hi = std::max(100.0, static_cast<double>(model.max_length));
  for (const Curve& curve : curves_of(model)) {
    add_curve(curve, panel, figure.csv, lo, hi);
    Key key;
    key.label = curve.name;
    key.arm = curve.arm;
    key.line = false;
    key.open = curve.open;
    key.toggles = false;
    figure.keys.push_back(std::move(key));
  }
  decade_ticks(panel.y, lo / 1.5, hi * 1.5);
  figure.panels.push_back(std::move(panel));
  return figure;
}

std::string length_text(int64_t length) {
  return length > 0 ? whole(length) : "not stated";
}

// Blank when the length is not known: then no pair can be named.
std::string unturned(const std::vector<double>& bands, int64_t length) {
  return length > 0 ? inspect::ranges(inspect::unfinished_pairs(bands, length)) : "";
}

std::string kinds_table(const ResolvedModel& model) {
  Table table("kinds", "<b>Layers that treat positions alike</b>");
  table.column("kind");
  for (const char* title :
       {"layers", "scheme", "head dim", "rotated", "pairs", "layout", "base", "amplitude",
        "logits x", "window", "never turn, original", "never turn, admitted", "moved pairs"}) {
    table.column(title);
  }
  for (const LayerKind& kind : model.kinds) {
    const auto& bands = inspect::bands_of(kind);
    const auto& late = kind.long_inv_freq.empty() ? bands : kind.long_inv_freq;
    const double amplitude = kind.plan.amplitude;
    table.row({escape(inspect::printable(kind.name)), inspect::ranges(kind.layers),
               escape(kind.scheme), whole(kind.head_dim), whole(kind.rotary_dim),
               whole(kind.n_pairs()), layout_name(kind.layout),
               kind.base > 0.0 ? short_number(kind.base) : "\u2013", fixed(amplitude, 6),
               fixed(amplitude * amplitude, 6),
               kind.plan.mask.window > 0  ? whole(kind.plan.mask.window)
               : kind.plan.mask.chunk > 0 ? "chunk " + whole(kind.plan.mask.chunk)
                                          : "none",
               unturned(bands, model.original_length), unturned(late, model.max_length),
               inspect::ranges(inspect::moved_pairs(kind, bands))});
  }
  return table.html();
}

void add_origins(Table& table, const std::string& owner,
                 const std::vector<inspect::Provenance>& origins) {
  for (const inspect::Provenance& one : origins) {
    table.row({escape(inspect::printable(owner)), escape(one.field),
               escape(inspect::printable(one.value)), inspect::name_of(one.origin.kind),
               escape(inspect::printable(one.origin.where))});
  }
}

std::string origins_table(const ResolvedModel& model) {
  Table table("origins", "<b>Where every value came from</b>");
  for (const char* title : {"layers", "field", "value", "kind of source", "source"}) {
    table.column(title);
  }
  add_origins(table, "whole model", model.origins);
  for (const LayerKind& kind : model.kinds) {
    add_origins(table, kind.name, kind.origins);
  }
  return table.html();
}

std::string findings_html(const std::vector<inspect::Finding>& findings) {
  if (findings.empty()) {
    return "<p>No rule found anything.</p>\n";
  }
  Table table("findings", "<b>Findings</b>");
  for (const char* title : {"rule", "severity", "key", "message", "found", "expected"}) {
    table.column(title);
  }
  for (const inspect::Finding& one : findings) {
    table.row({escape(one.id), inspect::name_of(one.severity), escape(inspect::printable(one.key)),
               escape(inspect::printable(one.message)), escape(inspect::printable(one.found)),
               escape(inspect::printable(one.expected))});
  }
  return table.html();
}

std::string ignored_html(const ResolvedModel& model) {
  std::vector<std::string> sentences;
  for (const inspect::IgnoredKey& key : model.ignored) {
    sentences.push_back(inspect::printable(key.key + (key.value.empty() ? "" : " = " + key.value) +
                                           ": " + key.reason));
  }
  return sentences.empty() ? "<p>Every key that concerns positions was used.</p>\n"
                           : bullet_list(sentences);
}

std::string section(const char* id, const char* title, const std::string& body) {
  return str("<section id=\"", id, "\">\n", element("h2", title), "\n", body, "</section>\n");
}

}  // namespace

std::string inspect_page(const ResolvedModel& model, const std::vector<inspect::Finding>& findings,
                         const std::string& plotly_js) {
  const Figure figure = spectrum_figure(model);
  const bool drawn = !figure.keys.empty();
  std::string body = "<p>" + escape(inspect::printable(model.reader)) + ". Original length " +
                     length_text(model.original_length) + ", admitted length " +
                     length_text(model.max_length) + ".</p>\n";
  body += section("findings-section", "Findings", findings_html(findings));
  body += section("spectrum-section", "Frequencies",
                  (drawn ? standalone_figure(figure, 1)
                         : "<p class=\"left-out\">Left out: nothing rotates.</p>\n") +
                      kinds_table(model));
  body += section("origins-section", "Origins", origins_table(model));
  body += section("ignored-section", "Keys without effect", ignored_html(model));
  const std::string title =
      (model.model_type.empty() ? "model" : inspect::printable(model.model_type)) + ": positions";
  std::vector<const Figure*> figures;
  if (drawn) {
    figures.push_back(&figure);
  }
  return standalone_page(title, "gyre inspect \u00b7 " + inspect::printable(model.path), body,
                         figures, plotly_js);
}

}  // namespace gyre::report
