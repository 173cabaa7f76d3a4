// Figures as JSON for page.js. Numbers keep every digit; "<" is escaped so that no text from
// compare.json can end the <script> element.
#include <cmath>
#include <nlohmann/json.hpp>

#include "gyre/report/figure.h"

namespace gyre::report {
namespace {

using Json = nlohmann::ordered_json;

Json numbers(const std::vector<double>& values) {
  Json out = Json::array();
  for (const double value : values) {
    out.push_back(std::isfinite(value) ? Json(value) : Json(nullptr));
  }
  return out;
}

Json axis_json(const Axis& axis) {
  Json out = {{"title", axis.title}};
  if (axis.log) {
    out["log"] = true;
  }
  if (axis.lo && axis.hi && std::isfinite(*axis.lo) && std::isfinite(*axis.hi)) {
    out["range"] = {*axis.lo, *axis.hi};
  }
  if (!axis.ticks.empty()) {
    out["ticks"] = axis.ticks;
    out["tickText"] = axis.tick_text;
  }
  if (axis.reversed) {
    out["reversed"] = true;
  }
  return out;
}

Json trace_json(const Trace& trace) {
  Json out = {{"name", trace.name}, {"arm", trace.arm}};
  out["x"] = numbers(trace.x);
  out["y"] = numbers(trace.y);
  if (!trace.minus.empty()) {
    out["error"] = {{"axis", std::string(1, trace.error_axis)},
                    {"minus", numbers(trace.minus)},
                    {"plus", numbers(trace.plus)}};
  }
  if (!trace.text.empty()) {
    out["text"] = trace.text;
  }
  out["lines"] = trace.lines;
  out["markers"] = trace.markers;
  out["open"] = trace.open;
  out["key"] = trace.key;
  out["opacity"] = trace.opacity;
  out["width"] = trace.width;
  out["size"] = trace.size;
  out["dash"] = trace.dash;
  out["symbol"] = trace.symbol;
  return out;
}

Json heat_json(const Heat& heat) {
  Json z = Json::array();
  for (const std::vector<double>& row : heat.z) {
    z.push_back(numbers(row));
  }
  Json out = {{"z", z}, {"value", heat.value}, {"diverging", heat.diverging}};
  if (!heat.text.empty()) {
    out["text"] = heat.text;
  }
  if (!heat.label.empty()) {
    out["label"] = heat.label;
  }
  if (heat.quality) {
    out["quality"] = true;
  }
  if (heat.lo && heat.hi) {
    out["range"] = {*heat.lo, *heat.hi};
  }
  return out;
}

Json panel_json(const Figure& figure, size_t index) {
  const Panel& panel = figure.panels[index];
  Json out = {{"plot", "plot-" + figure.id + "-" + std::to_string(index)}};
  out["x"] = axis_json(panel.x);
  out["y"] = axis_json(panel.y);
  out["traces"] = Json::array();
  for (const Trace& trace : panel.traces) {
    out["traces"].push_back(trace_json(trace));
  }
  out["markers"] = Json::array();
  for (const Marker& marker : panel.markers) {
    out["markers"].push_back({{"axis", std::string(1, marker.axis)},
                              {"value", marker.value},
                              {"label", marker.label},
                              {"below", marker.below},
                              {"dash", marker.dash}});
  }
  if (panel.heat) {
    out["heat"] = heat_json(*panel.heat);
  }
  if (panel.exports) {
    out["exports"] = true;
  }
  return out;
}

}  // namespace

std::string figures_json(const std::vector<const Figure*>& figures) {
  Json panels = Json::array();
  for (const Figure* figure : figures) {
    for (size_t i = 0; i < figure->panels.size(); ++i) {
      panels.push_back(panel_json(*figure, i));
    }
  }
  std::string out;
  // Token texts of other people's models may hold bytes that are no UTF-8.
  const std::string json = panels.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (const char c : json) {
    out += c == '<' ? "\\u003c" : std::string(1, c);
  }
  return out;
}

}  // namespace gyre::report
