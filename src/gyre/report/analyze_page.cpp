#include "gyre/report/analyze_page.h"

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/inspect/spectrum.h"
#include "gyre/report/analyze/parts.h"
#include "gyre/report/report.h"
#include "gyre/report/standalone.h"

namespace gyre::report {
namespace fs = std::filesystem;
namespace {

using analyze::Analysis;

std::string findings_table(const Analysis& a) {
  Table table("findings", "<b>What holds for this model</b>, each with its numbers");
  table.column("claim");
  table.column("here");
  table.column("numbers");
  for (const analyze::Finding& finding : a.findings) {
    const char* look = finding.verdict == analyze::Verdict::Holds   ? "better"
                       : finding.verdict == analyze::Verdict::Fails ? "worse"
                                                                    : "even";
    table.row(
        {escape(finding.claim),
         str("<span class=\"finding ", look, "\">", analyze::name_of(finding.verdict), "</span>"),
         escape(finding.text)});
  }
  return table.html();
}

std::string fact(const std::string& name, const std::string& value) {
  return "<dt>" + escape(name) + "</dt><dd>" + escape(value) + "</dd>\n";
}

Section made_section(const Analysis& a, const std::string& command) {
  Section section("made", "How this page was made");
  std::string texts;
  for (const analyze::Domain& domain : a.domains) {
    texts += str(texts.empty() ? "" : "; ", domain.name, " (", domain.source, "), ", domain.n_rows,
                 " rows");
  }
  std::string out = "<dl class=\"facts\">\n";
  out += fact("command", command) + fact("texts", texts);
  out += fact("shape", str(a.shape.layers, " layers, ", a.shape.heads, " heads, ", a.shape.kv_heads,
                           " of keys and values, head dim ", a.shape.head_dim, ", ", a.shape.pairs,
                           " pairs, ", a.shape.layout, ", ", a.shape.parameters, " parameters"));
  out += fact("training length", std::to_string(a.train_length) + " tokens");
  section.html(out + "</dl>\n");
  if (!a.notes.empty()) {
    section.html(bullet_list(a.notes));
  }
  return section;
}

std::vector<Section> sections_of(const Analysis& a, const std::string& command) {
  Section findings("findings-part", "Findings");
  findings.html(findings_table(a));
  return {std::move(findings),          analyze_usage_section(a),    analyze_heads_section(a),
          analyze_positions_section(a), analyze_ablation_section(a), analyze_spectrum_section(a),
          made_section(a, command)};
}

std::string page_of(const Analysis& a, const std::vector<Section>& sections,
                    const std::string& command, const std::string& plotly_js) {
  const std::string name = inspect::printable(a.model);
  return standalone_page("How " + name + " uses its frequencies", "gyre analyze \u00b7 " + name,
                         sections_html(sections, command), figures_of(sections), plotly_js);
}

}  // namespace

std::string analyze_page(const Analysis& a, const std::string& command,
                         const std::string& plotly_js) {
  return page_of(a, sections_of(a, command), command, plotly_js);
}

void write_analyze_report(const Analysis& a, const std::string& command, const fs::path& out_dir) {
  const std::vector<Section> sections = sections_of(a, command);
  const std::string page = page_of(a, sections, command, read_file(find_plotly()));
  write_standalone(sections, page, out_dir);
}

}  // namespace gyre::report
