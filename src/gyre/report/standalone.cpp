#include "gyre/report/standalone.h"

#include <algorithm>
#include <system_error>

#include "gyre/base/error.h"
#include "gyre/base/files.h"

namespace gyre::report {
namespace fs = std::filesystem;
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

}  // namespace

std::string standalone_page(const std::string& title, const std::string& eyebrow,
                            const std::string& body_html, const std::vector<const Figure*>& figures,
                            const std::string& plotly_js) {
  if (plotly_js.find("</script") != std::string::npos) {
    throw Error(Code::Format,
                "plotly.min.js holds '</script', which would end the inlined script; "
                "use the file of the PyPI package plotly");
  }
  std::string out =
      str("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"",
          kPolicy,
          "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n<title>",
          escape(title), "</title>\n<style>", kStyle, "</style>\n</head>\n<body>\n<main>\n");
  out += "<header>\n<p class=\"eyebrow\">" + escape(eyebrow) + "</p>\n" + element("h1", title) +
         "</header>\n<noscript><p class=\"left-out\">Figures need JavaScript; the tables hold the "
         "same numbers.</p></noscript>\n" +
         body_html;
  out +=
      "<footer><p>Charts drawn with plotly.js (MIT licence), inlined; this page loads nothing from "
      "the network.</p></footer>\n</main>\n";
  return out + "<script type=\"application/json\" id=\"figure-data\">" + figures_json(figures) +
         "</script>\n<script>" + plotly_js + "</script>\n<script>" + kScript +
         "</script>\n</body>\n</html>\n";
}

std::string standalone_figure(const Figure& figure, int number) {
  std::string out = "<figure id=\"fig-" + figure.id + "\">\n<div class=\"keys\">";
  for (const Key& key : figure.keys) {
    out += "<span class=\"key\">" + swatch(key) + escape(key.label) + "</span>";
  }
  out += str("</div>\n<div class=\"panels n", std::min<size_t>(figure.panels.size(), 3), "\">\n");
  for (size_t i = 0; i < figure.panels.size(); ++i) {
    const Panel& panel = figure.panels[i];
    out += "<div class=\"panel\">" +
           (panel.title.empty() ? "" : "<p class=\"panel-title\">" + escape(panel.title) + "</p>");
    out += str("<div class=\"plot\" id=\"plot-", figure.id, "-", i, "\" role=\"img\" aria-label=\"",
               escape(figure.alt), "\" style=\"height:", panel.height, "px\"></div></div>\n");
  }
  out += str("</div>\n<figcaption><p><b>Figure ", number, ". ", escape(figure.title), ".</b> ",
             figure.shows, " ", tags(figure.evidence), "</p>\n<p class=\"not\"><b>Not shown:</b> ",
             escape(figure.not_shown), ".</p>\n");
  Table table("data-" + figure.id, "<b>Numbers</b>");
  for (const std::string& name : figure.csv.header()) {
    table.column(escape(name));
  }
  for (const auto& row : figure.csv.rows()) {
    std::vector<std::string> cells;
    std::transform(row.begin(), row.end(), std::back_inserter(cells),
                   [](const std::string& cell) { return escape(cell); });
    table.row(std::move(cells));
  }
  return out + "<details><summary>Formula and numbers</summary><p><b>Formula:</b> " +
         escape(figure.formula) + "</p>" + table.html() + "</details></figcaption>\n</figure>\n";
}

std::vector<const Figure*> figures_of(const std::vector<Section>& sections) {
  std::vector<const Figure*> out;
  for (const Section& section : sections) {
    for (const auto& block : section.body) {
      if (const Figure* figure = std::get_if<Figure>(&block)) {
        out.push_back(figure);
      }
    }
  }
  return out;
}

std::string sections_html(const std::vector<Section>& sections, const std::string& command) {
  const std::string method = "<p><b>Command:</b> <code>" + escape(command) + "</code></p>";
  std::string body = "<nav aria-label=\"On this page\">";
  for (const Section& section : sections) {
    body += "<a href=\"#" + section.id + "\">" + escape(section.title) + "</a>";
  }
  body += "</nav>\n";
  int number = 0;
  for (const Section& section : sections) {
    body += "<section id=\"" + section.id + "\">\n" + element("h2", section.title) + "\n";
    for (const auto& block : section.body) {
      const Figure* figure = std::get_if<Figure>(&block);
      body +=
          figure != nullptr ? figure_html(*figure, ++number, method) : std::get<std::string>(block);
    }
    body += "</section>\n";
  }
  return body;
}

void write_standalone(const std::vector<Section>& sections, const std::string& page,
                      const fs::path& out_dir) {
  const fs::path figures = out_dir / "figures";
  std::error_code fault;
  fs::remove_all(figures, fault);  // no figure of an earlier run stays behind
  fs::create_directories(figures, fault);
  if (fault) {
    throw Error(Code::File, figures.string(), ": cannot create: ", fault.message());
  }
  for (const Figure* figure : figures_of(sections)) {
    write_file_atomic(figures / (figure->id + ".csv"), figure->csv.text());
  }
  for (const Section& section : sections) {
    for (const DataFile& file : section.files) {
      write_file_atomic(figures / (file.id + ".csv"), file.csv.text());
    }
  }
  write_file_atomic(out_dir / "report.html", page);  // last: a page never lacks its CSV files
}

}  // namespace gyre::report
