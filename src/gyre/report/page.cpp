#include "gyre/report/page.h"

#include "gyre/base/error.h"

namespace gyre::report {
namespace {

constexpr const char* kStyle =
#include "gyre/report/assets/page_css.inc"
    ;
constexpr const char* kScript =
#include "gyre/report/assets/page_js.inc"
    ;

// The page may load nothing at all: the browser itself enforces that it stays self-contained.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: "
    "blob:";

std::string head(const Comparison& c) {
  return str(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"",
      kPolicy,
      "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"generator\" content=\"gyre ",
      escape(c.build_revision), "\">\n<link rel=\"icon\" href=\"data:,\">\n<title>",
      escape(c.title), "</title>\n<style>", kStyle, "</style>\n</head>\n");
}

std::string glance(const std::string& name, const std::string& value) {
  return "<div><dt>" + name + "</dt><dd>" + value + "</dd></div>";
}

std::string header(const Comparison& c) {
  std::string out = "<header>\n<p class=\"eyebrow\">gyre \u00b7 comparison of position schemes" +
                    (c.date.empty() ? "" : " \u00b7 " + escape(c.date)) + "</p>\n";
  out += element("h1", c.title) + "\n<div class=\"verdict\">";
  for (const std::string& sentence : c.verdict) {
    out += element("p", sentence);
  }
  out += "<p class=\"tags\">" + tag(Evidence::Measured) + "</p></div>\n<dl class=\"glance\">";
  out += glance("arms", whole(static_cast<int64_t>(c.arms.size())));
  out += glance("seeds", whole(static_cast<int64_t>(c.settings.seeds.size())));
  out += glance("training length", whole(c.settings.length));
  out += glance("tokens per run", whole(c.settings.tokens));
  out += glance("parameters", whole(c.settings.params));
  out += glance("time", duration(c.seconds));
  return out + "</dl>\n</header>\n";
}

std::string navigation(const std::vector<Section>& sections) {
  std::string out = "<nav aria-label=\"On this page\">";
  for (const Section& section : sections) {
    out += "<a href=\"#" + section.id + "\">" + escape(section.title) + "</a>";
  }
  return out + "</nav>\n";
}

std::string method_html(const Comparison& c) {
  return "<p><b>Command:</b> <code>" + escape(c.command) + "</code>, revision <code>" +
         escape(c.build_revision) + "</code></p>";
}

std::string sections_html(const Comparison& c, const std::vector<Section>& sections) {
  const std::string method = method_html(c);
  std::string out;
  int number = 0;
  for (const Section& section : sections) {
    out += "<section id=\"" + section.id + "\">\n" + element("h2", section.title) + "\n";
    for (const auto& block : section.body) {
      if (const Figure* figure = std::get_if<Figure>(&block)) {
        out += figure_html(*figure, ++number, method);
      } else {
        out += std::get<std::string>(block);
      }
    }
    out += "</section>\n";
  }
  return out;
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

}  // namespace

std::vector<Section> make_sections(const Comparison& c) {
  return {results_section(c),  training_section(c),   position_section(c), extrapolation_section(c),
          needle_section(c),   frequency_section(c),  overhead_section(c), published_section(c),
          failures_section(c), unresolved_section(c), limits_section(c),   sources_section(c),
          made_section(c)};
}

std::string page_html(const Comparison& c, const std::vector<Section>& sections,
                      const std::string& plotly_js) {
  if (plotly_js.find("</script") != std::string::npos) {
    throw Error(Code::Format,
                "plotly.min.js holds '</script', which would end the inlined script; "
                "use the file of the PyPI package plotly");
  }
  std::string out = head(c) + "<body>\n<main>\n" + header(c) + navigation(sections);
  out +=
      "<noscript><p class=\"left-out\">Figures need JavaScript; the tables and the CSV files "
      "hold the same numbers.</p></noscript>\n";
  out += sections_html(c, sections);
  out +=
      "<footer><p>Made by gyre from compare.json. Charts drawn with plotly.js (MIT licence), "
      "inlined; this page loads nothing from the network.</p></footer>\n</main>\n";
  out += "<script type=\"application/json\" id=\"figure-data\">" +
         figures_json(figures_of(sections)) + "</script>\n";
  out += "<script>" + plotly_js + "</script>\n<script>" + kScript + "</script>\n</body>\n</html>\n";
  return out;
}

}  // namespace gyre::report
