// The verdict in three lines and the findings with what to look at on the server.
#include <algorithm>
#include <cctype>

#include "gyre/base/error.h"
#include "gyre/report/accept/parts.h"

namespace gyre::report {
namespace {

using accept::Acceptance;
using accept::FindingKind;

std::string glance(const char* what, const std::string& value) {
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
    const std::string line = str("<b>", one.server, ":</b> ", escape(one.text), "<br>");
    (is_server(server, one.server) ? own : others) += line;
  }
  if (others.empty()) {
    return own;
  }
  return own.empty() ? others
                     : own + "<details><summary>other servers</summary>" + others + "</details>";
}

std::string facts_html(const std::map<std::string, std::string>& facts) {
  std::string out;
  for (const auto& [name, value] : facts) {
    out += str(out.empty() ? "" : " \u00b7 ", escape(name), " ", escape(value));
  }
  return out.empty() ? "" : "<small>" + out + "</small>";
}

}  // namespace

std::string accept_verdict(const Acceptance& a) {
  std::string out = "<div class=\"verdict\">\n";
  for (const std::string& line : a.says) {
    out += element("p", line) + "\n";
  }
  out += "</div>\n<dl class=\"glance\">\n";
  out += glance("verdict", status_html(a.verdict));
  for (const accept::LevelVerdict& level : a.levels) {
    const char* names[] = {"", "1 length kept", "2 retrieval", "3 composition"};
    const auto i = static_cast<size_t>(std::clamp<int64_t>(level.level, 0, 3));
    out += glance(names[i], status_html(level.status) +
                                (level.effective_length > 0
                                     ? str("<small>to ", level.effective_length, " tokens</small>")
                                     : ""));
  }
  out += glance("requests", str(a.cost.requests, "<small>", a.cost.errors, " errors</small>"));
  return out + "</dl>\n";
}

Section accept_findings_section(const Acceptance& a) {
  Section section("findings-part", "Findings");
  if (a.findings.empty()) {
    section.html("<p>No finding.</p>\n");
    return section;
  }
  Table table("findings", "<b>What was seen</b>, with the requests that show it");
  for (const char* title : {"finding", "measured", "what to look at", "requests"}) {
    table.column(title);
  }
  section.files.push_back({"findings", Csv({"id", "severity", "says", "evidence"})});
  for (const accept::Finding& finding : a.findings) {
    const FindingKind& kind = accept::finding_kind(finding.id);
    const char* look = kind.severity == accept::Severity::Fault ? "worse" : "even";
    table.row({str("<span class=\"finding ", look, "\">", escape(finding.id), "</span><small>",
                   escape(kind.title), "</small>"),
               escape(finding.says) + facts_html(finding.facts), advice_html(kind, a.facts.server),
               sid_links(finding.evidence)});
    std::string sids;
    for (const std::string& sid : finding.evidence) {
      sids += (sids.empty() ? "" : " ") + sid;
    }
    section.files.back().csv.row(finding.id, accept::name_of(kind.severity), finding.says, sids);
  }
  section.html(table.html());
  return section;
}

}  // namespace gyre::report
