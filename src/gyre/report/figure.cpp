#include "gyre/report/figure.h"

#include "gyre/base/error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace gyre::report {
namespace {

constexpr size_t kTableRows = 60;  // longer data stays in the CSV only

// Drawn in a box of 12 x 12 around (0, 0); the same names as Plotly's symbols in page.js.
constexpr std::array<const char*, 6> kSymbolPaths = {
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0",      // circle
    "M-3.5 -3.5h7v7h-7z",                      // square
    "M0 -5l5 5l-5 5l-5 -5z",                   // diamond
    "M0 -4.6l4.8 8.4h-9.6z",                   // triangle-up
    "M0 4.6l4.8 -8.4h-9.6z",                   // triangle-down
    "M-1.5 -4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",  // cross
};

std::string plot_id(const Figure& figure, size_t panel) {
  return "plot-" + figure.id + "-" + std::to_string(panel);
}

std::string keys_html(const std::vector<Key>& keys) {
  if (keys.empty()) {
    return "";
  }
  std::string out = "<div class=\"keys\">";
  for (const Key& key : keys) {
    const std::string inner = swatch(key) + escape(key.label);
    if (key.toggles) {
      out += "<button type=\"button\" class=\"key\" aria-pressed=\"true\" data-arm=\"" +
             std::to_string(key.arm) + "\" title=\"show or hide\">" + inner + "</button>";
    } else {
      out += "<span class=\"key\">" + inner + "</span>";
    }
  }
  return out + "</div>\n";
}

std::string panels_html(const Figure& figure) {
  std::string out =
      "<div class=\"panels n" + std::to_string(std::min<size_t>(figure.panels.size(), 3)) + "\">\n";
  for (size_t i = 0; i < figure.panels.size(); ++i) {
    const Panel& panel = figure.panels[i];
    const std::string label = panel.title.empty() ? figure.alt : panel.title + ": " + figure.alt;
    out += "<div class=\"panel\">";
    if (!panel.title.empty()) {
      out += "<p class=\"panel-title\">" + escape(panel.title) + "</p>";
    }
    out += "<div class=\"plot\" id=\"" + plot_id(figure, i) + "\" role=\"img\" aria-label=\"" +
           escape(label) + "\" style=\"height:" + std::to_string(panel.height) +
           "px\"></div></div>\n";
  }
  return out + "</div>\n";
}

std::string data_table(const Figure& figure) {
  if (figure.csv.rows().size() > kTableRows) {
    return "<p>" + whole(static_cast<int64_t>(figure.csv.rows().size())) +
           " rows: see the CSV file.</p>";
  }
  Table table("data-" + figure.id, "<b>Numbers:</b> the rows of figures/" + figure.id + ".csv");
  for (const std::string& name : figure.csv.header()) {
    table.column(escape(name));
  }
  for (const std::vector<std::string>& row : figure.csv.rows()) {
    std::vector<std::string> cells;
    for (const std::string& cell : row) {
      cells.push_back(escape(cell));
    }
    table.row(std::move(cells));
  }
  return table.html();
}

}  // namespace

std::string swatch(const Key& key) {
  const int arm = key.arm;
  const std::string colour = arm < 0 ? "var(--mark)" : str("var(--arm-", arm % kColours, ")");
  if (key.patch) {
    return str(
        "<svg class=\"swatch small\" viewBox=\"-7 -7 14 14\" aria-hidden=\"true\"><path "
        "d=\"M-6 -6h12v12h-12z\" fill=\"",
        arm < 0 ? "var(--blank)" : colour, "\"/></svg>");
  }
  const char* path = kSymbolPaths.at(arm < 0 ? 0 : static_cast<size_t>(arm) % kSymbolPaths.size());
  const char* dash = key.dotted ? "2 3" : arm >= kColours ? "4 3" : "";
  std::string out = str("<svg class=\"swatch", key.line ? "" : " small", "\" viewBox=\"",
                        key.line ? "-14 -7 28 14" : "-7 -7 14 14", "\" aria-hidden=\"true\">");
  if (key.line) {
    out += str("<path d=\"M-14 0h28\" stroke=\"", colour, "\" stroke-width=\"2\"",
               *dash != '\0' ? str(" stroke-dasharray=\"", dash, "\"") : "", "/>");
  }
  if (key.symbol) {
    out += str("<path d=\"", path, "\" stroke=\"", colour, "\" stroke-width=\"1.5\" fill=\"",
               key.open ? "var(--bg)" : colour, "\"/>");
  }
  return out + "</svg>";
}

std::string arm_label(const Comparison& comparison, const std::string& arm) {
  Key key;
  key.arm = comparison.arm_index(arm);
  key.line = false;
  std::string name;
  for (const char c : escape(arm)) {
    name += c;
    name += c == ',' ? "<wbr>" : "";  // long specs may break between their options
  }
  return "<span class=\"arm\">" + swatch(key) + name + "</span>";
}

Interval span_of(const std::vector<double>& values) {
  Interval span;
  for (const double value : values) {
    if (std::isfinite(value)) {
      span.lo = std::isnan(span.lo) ? value : std::min(span.lo, value);
      span.hi = std::isnan(span.hi) ? value : std::max(span.hi, value);
    }
  }
  return span;
}

void add_arm_keys(Figure& figure, const Comparison& comparison, const Key& look) {
  std::set<int> drawn;
  for (const Panel& panel : figure.panels) {
    for (const Trace& trace : panel.traces) {
      drawn.insert(trace.arm);
    }
  }
  for (size_t i = 0; i < comparison.arms.size(); ++i) {
    if (drawn.count(static_cast<int>(i)) > 0) {
      Key key = look;
      key.label = comparison.arms[i].name;
      key.arm = static_cast<int>(i);
      figure.keys.push_back(std::move(key));
    }
  }
}

std::string figure_html(const Figure& figure, int number, const std::string& method) {
  const std::string csv = "figures/" + figure.id + ".csv";
  std::string out = "<figure id=\"fig-" + figure.id + "\">\n";
  out += keys_html(figure.keys) + panels_html(figure);
  out += "<figcaption><p><b>Figure " + std::to_string(number) + ". " + escape(figure.title) +
         ".</b> " + figure.shows + " " + tags(figure.evidence) + "</p>\n";
  out += "<p class=\"not\"><b>Not shown:</b> " + escape(figure.not_shown) + ".</p>\n";
  out += "<p class=\"file\">Data: <a href=\"" + csv + "\">" + csv + "</a></p>\n";
  out += "<details><summary>Formula, command and numbers</summary><p><b>Formula:</b> " +
         escape(figure.formula) + "</p>" + method + data_table(figure) +
         "</details></figcaption>\n</figure>\n";
  return out;
}

}  // namespace gyre::report
