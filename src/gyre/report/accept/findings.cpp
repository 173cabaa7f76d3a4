// The verdict in three lines and the findings with what to look at on the server.
#include <algorithm>
#include <cctype>

#include "gyre/accept/result_words.h"
#include "gyre/base/error.h"
#include "gyre/inspect/spectrum.h"
#include "gyre/report/accept/parts.h"

namespace gyre::report {
namespace {

using accept::Acceptance;
using accept::Finding;
using accept::FindingKind;

constexpr size_t kMostLinks = 12;

std::string glance(const std::string& what, const std::string& value) {
  return str("<div><dt>", what, "</dt><dd>", value, "</dd></div>\n");
}

struct Advice {
  const char* server;
  const char* text;
};

bool is_server(const std::string& told, std::string_view name) {
  const auto plain = [](std::string_view text) {
    std::string out;
    for (const char c : text) {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
        out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      }
    }
    return out;
  };
  return plain(told) == plain(name);
}

// The server at hand in full, the others folded.
std::string advice_html(const FindingKind& kind, const std::string& server) {
  const Advice all[] = {{"llama.cpp", kind.llama_cpp},
                        {"vLLM", kind.vllm},
                        {"Ollama", kind.ollama},
                        {"SGLang", kind.sglang}};
  std::string own, others;
  for (const Advice& one : all) {
    if (std::string_view(one.text).empty()) {
      continue;
    }
    const std::string line = str("<p><b>", one.server, ":</b> ", escape(one.text), "</p>\n");
    (is_server(server, one.server) ? own : others) += line;
  }
  if (own.empty() && others.empty()) {
    return "";
  }
  const std::string title = "<p class=\"look\">What to look at on the server</p>\n";
  if (own.empty() || others.empty()) {
    return title + own + others;
  }
  return title + own + "<details><summary>other servers</summary>" + others + "</details>\n";
}

std::string facts_html(const std::map<std::string, std::string>& facts) {
  std::string out;
  for (const auto& [name, value] : facts) {
    out += str(out.empty() ? "" : " \u00b7 ", escape(spaced(name)), " ", escape(value));
  }
  return out.empty() ? "" : "<p class=\"facts-line\">" + out + "</p>\n";
}

std::string finding_html(const Finding& finding, const std::string& server, const SidLinks& links) {
  const FindingKind& kind = accept::finding_kind(finding.id);
  const bool fault = kind.severity == accept::Severity::Fault;
  std::string out =
      str("<article class=\"card", fault ? " fault" : "", "\">\n<h3><span class=\"",
          fault ? "worse" : "even", "\">", escape(finding.id), "</span> <span class=\"tag\">",
          accept::name_of(kind.severity), "</span></h3>\n", element("p", kind.title), "\n<p><b>",
          escape(finding.says), "</b></p>\n", facts_html(finding.facts), advice_html(kind, server));
  if (!finding.evidence.empty()) {
    out += "<p class=\"evidence\">Requests that show it: " + links(finding.evidence, kMostLinks) +
           "</p>\n";
  }
  return out + "</article>\n";
}

}  // namespace

std::string accept_title(const Acceptance& a) {
  const std::string name = inspect::printable(a.facts.model.empty() ? a.subject : a.facts.model);
  const size_t slash = name.find_last_not_of('/');
  const size_t begin = slash == std::string::npos ? slash : name.rfind('/', slash);
  // A path says little before its last part; so does the organisation before a model's name.
  return begin == std::string::npos || name.find("://") != std::string::npos
             ? name
             : name.substr(begin + 1, slash - begin);
}

std::string accept_verdict(const Acceptance& a) {
  std::string out = str("<div class=\"verdict ", look_of(a.verdict), "\">\n");
  for (const std::string& line : a.says) {
    out += element("p", line) + "\n";
  }
  out += "</div>\n<dl class=\"glance\">\n";
  out += glance("verdict", status_html(a.verdict));
  for (const accept::LevelVerdict& level : a.levels) {
    out += glance(str(level.level, " ", accept::level_title(level.level)),
                  status_html(level.status) +
                      (level.effective_length > 0
                           ? str("<small>to ", whole(level.effective_length), " tokens</small>")
                           : ""));
  }
  const std::string errors = str(whole(a.cost.errors), a.cost.errors == 1 ? " error" : " errors");
  out += glance("requests", whole(a.cost.requests) + "<small>" + errors + "</small>");
  return out + "</dl>\n";
}

Section accept_findings_section(const Acceptance& a) {
  Section section("findings-part", "Findings");
  if (a.findings.empty()) {
    section.html("<p>No finding.</p>\n");
    return section;
  }
  const SidLinks links(a);
  section.files.push_back({"findings", Csv({"id", "severity", "says", "evidence"})});
  std::vector<Finding> findings = a.findings;  // faults first
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& x, const Finding& y) {
    return accept::finding_kind(x.id).severity < accept::finding_kind(y.id).severity;
  });
  std::string out;
  for (const Finding& finding : findings) {
    out += finding_html(finding, a.facts.server, links);
    section.files.back().csv.row(finding.id,
                                 accept::name_of(accept::finding_kind(finding.id).severity),
                                 finding.says, accept::joined(finding.evidence, " "));
  }
  section.html(out +
               "<p class=\"file\">Data: <a href=\"figures/findings.csv\">"
               "figures/findings.csv</a></p>\n");
  return section;
}

}  // namespace gyre::report
