#include "gyre/report/accept_page.h"

#include "gyre/accept/record.h"
#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/inspect/spectrum.h"
#include "gyre/report/accept/parts.h"
#include "gyre/report/report.h"
#include "gyre/report/standalone.h"

namespace gyre::report {
namespace {

using accept::Acceptance;

std::vector<Section> sections_of(const Acceptance& a, const PromptOf& prompt_of) {
  return {accept_findings_section(a),
          accept_length_section(a),
          accept_retrieval_section(a),
          accept_composition_section(a),
          accept_ranking_section(a),
          accept_resources_section(a),
          accept_failures_section(a, prompt_of),
          accept_made_section(a)};
}

std::string page_of(const Acceptance& a, const std::vector<Section>& sections,
                    const std::string& plotly_js) {
  return standalone_page("Does " + accept_title(a) + " use its context?",
                         "gyre accept \u00b7 " + inspect::printable(a.subject),
                         accept_verdict(a) + sections_html(sections, a.command),
                         figures_of(sections), plotly_js);
}

std::string fact(const std::string& name, const std::string& value) {
  return value.empty() ? "" : "<dt>" + escape(name) + "</dt><dd>" + escape(value) + "</dd>\n";
}

}  // namespace

Section accept_made_section(const Acceptance& a) {
  Section section("made", "How this page was made, and what it does not show");
  std::string out = "<dl class=\"facts\">\n";
  out += fact("command", a.command) + fact("date", a.date) + fact("revision", a.build_revision) +
         fact("prompts", a.generator) + fact("server", a.facts.server) +
         fact("model", a.facts.model);
  for (const auto& [name, value] : a.facts.other) {
    out += fact("told: " + name, value);
  }
  out += fact("requests", str(whole(a.cost.requests), ", of them ", whole(a.cost.errors),
                              " without an answer"));
  out +=
      fact("tokens", str(whole(a.cost.prompt_tokens), " of prompts, ", whole(a.cost.answer_tokens),
                         " of answers, ", duration(a.cost.seconds)));
  if (a.cost.money == a.cost.money) {
    out += fact("money", fixed(a.cost.money, 2));
  }
  if (a.answer_tokens > 0) {
    out += fact("answer budget", std::to_string(a.answer_tokens) + " tokens, measured");
  }
  section.html(out + "</dl>\n");
  section.html(bullet_list(
      {"The three levels are not summed: a text that is kept need not be found, and evidence that "
       "is found need not be combined.",
       "One kind of evidence supports one distribution of inputs; no task here speaks for another.",
       "A length passes only where every tested shorter length passes.",
       "Requests without an answer count as failures; they are listed apart."}));
  return section;
}

std::string accept_page(const Acceptance& a, const std::string& plotly_js,
                        const PromptOf& prompt_of) {
  return page_of(a, sections_of(a, prompt_of), plotly_js);
}

void write_accept_report(const Acceptance& a, const std::filesystem::path& out_dir) {
  const PromptOf kept = [&](const std::string& sid) -> std::string {
    try {
      return accept::read_prompt(out_dir, sid);
    } catch (const Error&) {
      return "";  // the page is worth having without it; `accept show` says what is wrong
    }
  };
  const std::vector<Section> sections = sections_of(a, kept);
  write_standalone(sections, page_of(a, sections, read_file(find_plotly())), out_dir);
}

}  // namespace gyre::report
