#include "gyre/report/analyze/parts.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "gyre/base/error.h"

namespace gyre::report {
namespace {

const std::vector<double>& wavelengths_shown(const analyze::Analysis& a) {
  for (size_t n = 0; n < a.layers.size(); ++n) {
    if (a.usage.layers[n].rotates) {
      return a.layers[n].wavelength;
    }
  }
  return a.layers.front().wavelength;
}

}  // namespace

std::string finding_sentence(const analyze::Analysis& a, const std::string& id) {
  for (const analyze::Finding& finding : a.findings) {
    if (finding.id == id) {
      return "<b>" + escape(finding.claim) + ": " + analyze::name_of(finding.verdict) + "</b> (" +
             escape(finding.text) + ").";
    }
  }
  return "";
}

std::string wavelength_text(double wavelength) {
  return std::isfinite(wavelength) ? short_number(wavelength) + " tokens" : "at rest";
}

void index_ticks(Axis& axis, int64_t n, int64_t most) {
  const int64_t step = std::max<int64_t>(1, (n + most - 1) / most);
  for (int64_t i = 0; i < n; i += step) {
    axis.ticks.push_back(static_cast<double>(i));
    axis.tick_text.push_back(std::to_string(i));
  }
}

void wavelength_ticks(Axis& axis, const analyze::Analysis& a) {
  const std::vector<double>& wavelength = wavelengths_shown(a);
  const size_t step = std::max<size_t>(1, (wavelength.size() + 5) / 6);
  for (size_t m = 0; m < wavelength.size(); m += step) {
    axis.ticks.push_back(static_cast<double>(m));
    axis.tick_text.push_back(std::isfinite(wavelength[m]) ? short_number(wavelength[m]) : "rest");
  }
}

std::vector<std::vector<double>> for_picture(const std::vector<std::vector<double>>& values) {
  std::vector<std::vector<double>> out = values;
  for (std::vector<double>& row : out) {
    for (double& value : row) {
      char buffer[32];
      std::snprintf(buffer, sizeof buffer, "%.5g", value);
      value = std::strtod(buffer, nullptr);
    }
  }
  return out;
}

Panel layer_by_pair(const analyze::Analysis& a, const std::string& title,
                    const std::vector<std::vector<double>>& values, const std::string& value) {
  Panel panel;
  panel.title = title;
  panel.exports = true;
  panel.height = 340;
  panel.x.title = "pair, by wavelength in tokens";
  panel.y.title = "layer";
  panel.y.reversed = true;
  wavelength_ticks(panel.x, a);
  index_ticks(panel.y, static_cast<int64_t>(values.size()));
  Heat heat;
  heat.z = for_picture(values);
  heat.value = value;
  for (size_t n = 0; n < values.size(); ++n) {
    auto& row = heat.text.emplace_back();
    for (size_t m = 0; m < values[n].size(); ++m) {
      row.push_back(str("layer ", a.layers[n].layer, ", pair ", m, ": ",
                        wavelength_text(a.layers[n].wavelength[m])));
    }
  }
  panel.heat = std::move(heat);
  return panel;
}

}  // namespace gyre::report
