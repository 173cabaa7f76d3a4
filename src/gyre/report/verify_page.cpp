#include "gyre/report/verify_page.h"

#include <cctype>
#include <cmath>
#include <cstdio>

#include "gyre/base/error.h"
#include "gyre/report/figure.h"

namespace gyre::report {
namespace {

constexpr const char* kStyle =
#include "gyre/report/assets/page_css.inc"
    ;
constexpr const char* kScript =
#include "gyre/report/assets/page_js.inc"
    ;
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: "
    "blob:";

using verify::Check;
using verify::Curve;
using verify::Verification;

// Curves of some checks in one figure, all axes in the curves' own words.
struct FigureSpec {
  const char* id;
  const char* title;
  std::vector<std::string> checks;
  const char* shows;
  const char* not_shown;
  const char* formula;
  bool log_x = false, log_y = false;
  std::string only = "";  // a part of the curves' names; "" = all
};

const std::vector<FigureSpec>& figure_specs() {
  static const std::vector<FigureSpec> list{
      {"phase",
       "Phase by distance",
       {"worked-phases"},
       "Cosine of the angle between two positions, for three frequencies.",
       "attention weight, retrieval rate or quality: phase is not attention weight and not "
       "accuracy",
       "cos(theta * distance)"},
      {"decay",
       "Decay under one condition, none under another",
       {"all-ones-decay", "gaussian-no-decay"},
       "Score by distance over its size at distance 0: q and k all ones, and one fixed pair of "
       "Gaussian vectors.",
       "what trained queries and keys do: the decay belongs to equal, constant vectors",
       "sum_m cos(distance * theta_m) / P",
       false,
       false,
       "n"},
      {"variance",
       "Gaussian queries and keys: variance of the score",
       {"gaussian-no-decay"},
       "Variance of q.k over d for independent Gaussian pairs, by distance.",
       "trained vectors",
       "Var[q^T R^r k] = d",
       false,
       false,
       "variance"},
      {"any-distance",
       "A key made for one distance",
       {"any-distance"},
       "Score of the key R^40 q by distance; it is largest at 40.",
       "that a trained model uses such keys",
       "k = R^r q"},
      {"heads",
       "Constructed positional heads",
       {"positional-heads"},
       "Smallest weight on the intended token over 48 tokens, by size of the vectors.",
       "heads of trained models",
       "q = k = psi; k = R psi",
       true},
      {"schemes",
       "Three schemes on one query and key",
       {"three-schemes"},
       "Score by distance under rotation, linear bias and a window, same content.",
       "attention weights: the other keys of the row decide them too",
       "q^T R^(i-j) k / sqrt(d);  q.k / sqrt(d) - m (i - j);  q.k / sqrt(d) within the window"},
      {"surrogate",
       "Surrogate spectrum of two pairs",
       {"surrogate-slope"},
       "P_m over frequency for a random loss; its slope at theta_m is the gradient.",
       "a trained model",
       "P_m(x) = Re sum A_m[distance] e^(i distance x)"},
      {"coverage",
       "Turns inside a training length",
       {"phase-coverage"},
       "Turns of each pair over 2048 tokens; below 1 it never completes one.",
       "how much a pair matters",
       "length * theta / (2 pi)",
       false,
       true},
      {"collisions",
       "Offsets with near-equal phases",
       {"collisions"},
       "Smallest distance of two phase vectors, offsets up to 4096, by number of the fastest "
       "bands.",
       "that a model confuses such offsets: content and weights tell them apart too",
       "sqrt(mean_m 4 sin^2(difference theta_m / 2))",
       true,
       true},
      {"slowest",
       "Drift of the slowest band to 128k",
       {"slowest-band"},
       "Cosine of the slowest band's angle for two bases, head dim 128.",
       "retrieval at that distance",
       "cos(theta_min * tokens)"},
      {"rotation",
       "Rotated rows in three formats",
       {"rotation-precision"},
       "Error of a rotated pair over its length, by position.",
       "speed",
       "table in double, cast once",
       true,
       true}};
  return list;
}

bool wanted(const FigureSpec& spec, const Check& check, const Curve& curve) {
  for (const std::string& id : spec.checks) {
    if (check.id == id) {
      // Moments in standard errors and variances have panels of their own.
      const bool moment = curve.name.starts_with("Gaussian ");
      return std::string(spec.id) == "decay"
                 ? !moment
                 : spec.only.empty() || curve.name.find(spec.only) != std::string::npos;
    }
  }
  return false;
}

Figure empty_figure(const FigureSpec& spec) {
  Figure figure;
  figure.id = spec.id;
  figure.title = spec.title;
  figure.shows = escape(spec.shows);
  figure.not_shown = spec.not_shown;
  figure.formula = spec.formula;
  figure.alt = spec.shows;
  figure.evidence = {Evidence::Analytic};
  figure.csv = Csv({"curve", "x", "y"});
  figure.panels.emplace_back();
  figure.panels[0].x.log = spec.log_x;
  figure.panels[0].y.log = spec.log_y;
  return figure;
}

void add_curve(Figure& figure, const Curve& curve) {
  Panel& panel = figure.panels[0];
  panel.x.title = curve.x_label;
  panel.y.title = curve.y_label;
  Trace trace;
  trace.name = curve.name;
  trace.arm = static_cast<int>(panel.traces.size());
  for (size_t i = 0; i < curve.x.size(); ++i) {
    figure.csv.row(curve.name, curve.x[i], curve.y[i]);
    const bool drawable = (!panel.x.log || curve.x[i] > 0) && (!panel.y.log || curve.y[i] > 0);
    if (drawable && std::isfinite(curve.y[i])) {
      trace.x.push_back(curve.x[i]);
      trace.y.push_back(curve.y[i]);
    }
  }
  trace.markers = trace.x.size() < 40;
  Key key;
  key.label = curve.name;
  key.arm = trace.arm;
  key.symbol = trace.markers;
  figure.keys.push_back(key);
  panel.traces.push_back(std::move(trace));
}

std::vector<Figure> figures_of(const Verification& v) {
  std::vector<Figure> out;
  for (const FigureSpec& spec : figure_specs()) {
    Figure figure = empty_figure(spec);
    for (const Check& check : v.checks) {
      for (const Curve& curve : check.result.curves) {
        if (wanted(spec, check, curve)) {
          add_curve(figure, curve);
        }
      }
    }
    if (!figure.panels[0].traces.empty()) {
      out.push_back(std::move(figure));
    }
  }
  return out;
}

Figure precision_figure(const Verification& v) {
  Figure figure =
      empty_figure({"precision",
                    "Error of a table by position",
                    {},
                    "Largest error of a cosine or sine over 64 bands, base 10000: gyre's "
                    "tables and the shortcuts met in the field.",
                    "its effect on a loss",
                    "|cos computed - cos exact|",
                    true,
                    true,
                    ""});
  for (const verify::PrecisionRow& row : v.precision.rows) {
    Curve curve{row.method, "position, tokens", "largest error", {}, row.worst};
    for (const int64_t position : v.precision.positions) {
      curve.x.push_back(static_cast<double>(position));
    }
    add_curve(figure, curve);
  }
  return figure;
}

// "figures/x.csv" beside the page becomes a link that holds the data.
std::string with_data_links(std::string html, const Figure& figure) {
  const std::string path = "figures/" + figure.id + ".csv";
  std::string uri = "data:text/csv;charset=utf-8,";
  for (const char c : figure.csv.text()) {
    const auto byte = static_cast<unsigned char>(c);
    char buffer[4];
    std::snprintf(buffer, sizeof buffer, "%%%02X", byte);
    uri += std::isalnum(byte) != 0 || c == '.' || c == '-' || c == ',' ? std::string(1, c) : buffer;
  }
  const std::string link = "<a href=\"" + path + "\">" + path + "</a>";
  const size_t at = html.find(link);
  if (at != std::string::npos) {
    html.replace(at, link.size(),
                 "<a download=\"" + figure.id + ".csv\" href=\"" + uri + "\">" + figure.id +
                     ".csv</a> (in this page)");
  }
  const std::string rows = "rows of " + path;
  const size_t in_table = html.find(rows);
  return in_table == std::string::npos
             ? html
             : html.replace(in_table, rows.size(), "rows of " + figure.id + ".csv");
}

std::string deviation(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, value == 0.0 ? "0" : "%.1e", value);
  return std::isfinite(value) ? buffer : "\u2013";
}

std::string checks_html(const Verification& v) {
  Table table("checks", "<b>Checks.</b> Largest deviation against the largest allowed");
  for (const char* title : {"check", "claim", "what must hold", "worst", "allowed", "result"}) {
    table.column(title, std::string_view(title) == "worst" || std::string_view(title) == "allowed"
                            ? Align::Right
                            : Align::Left);
  }
  for (const Check& check : v.checks) {
    const std::string what = escape(check.title) + "<br><small>" +
                             escape(check.result.passed ? check.result.note : check.result.where) +
                             "<br>Source: " + escape(check.source) + "</small>";
    table.row({escape(check.id), escape(check.claim), what, deviation(check.result.worst),
               deviation(check.result.tolerance), check.result.passed ? "ok" : "<b>FAILED</b>"});
  }
  return table.html();
}

std::string faults_html(const Verification& v) {
  if (v.faults.empty()) {
    return "";
  }
  Table table("faults", "<b>Known faults</b> put into gyre's operations, and the checks that fail");
  table.column("fault");
  table.column("what it changes");
  table.column("caught by");
  for (const verify::FaultRow& fault : v.faults) {
    std::string caught;
    for (const std::string& id : fault.caught_by) {
      caught += (caught.empty() ? "" : ", ") + escape(id);
    }
    if (fault.needs_tokens > 0) {
      caught = str("not shown: needs more than ", fault.needs_tokens, " tokens");
    }
    table.row(
        {escape(fault.name), escape(fault.summary), fault.missed() ? "<b>nothing</b>" : caught});
  }
  return "<section id=\"faults-part\">\n<h2>Faults</h2>\n" + table.html() + "</section>\n";
}

}  // namespace

std::string verify_page(const Verification& v, const std::string& plotly_js) {
  if (plotly_js.find("</script") != std::string::npos) {
    throw Error(Code::Format,
                "plotly.min.js holds '</script', which would end the inlined script; "
                "use the file of the PyPI package plotly");
  }
  const std::string title = "gyre verify: " + v.subject + (v.fault.empty() ? "" : ", " + v.fault);
  std::string out = str(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"",
      kPolicy,
      "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>",
      escape(title), "</title>\n<style>", kStyle, "</style>\n</head>\n<body>\n<main>\n<header>\n",
      element("h1", title), "\n<div class=\"verdict\">",
      element("p", passed(v) ? "Every check passed." : "At least one check failed."),
      "</div>\n</header>\n<section id=\"checks-part\">\n<h2>Checks</h2>\n", checks_html(v),
      "</section>\n", faults_html(v), "<section id=\"figures-part\">\n<h2>Figures</h2>\n");
  std::vector<Figure> figures = figures_of(v);
  if (!v.precision.rows.empty()) {
    figures.push_back(precision_figure(v));
  }
  const std::string method = "<p><b>Command:</b> <code>gyre verify</code></p>";
  std::vector<const Figure*> pointers;
  for (size_t i = 0; i < figures.size(); ++i) {
    out += with_data_links(figure_html(figures[i], static_cast<int>(i) + 1, method), figures[i]);
    pointers.push_back(&figures[i]);
  }
  return out + "</section>\n</main>\n<script type=\"application/json\" id=\"figure-data\">" +
         figures_json(pointers) + "</script>\n<script>" + plotly_js + "</script>\n<script>" +
         kScript + "</script>\n</body>\n</html>\n";
}

}  // namespace gyre::report
