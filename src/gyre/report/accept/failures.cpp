// Every item that was not answered right, with what was wanted and what came.
#include <algorithm>

#include "gyre/accept/result_words.h"
#include "gyre/base/error.h"
#include "gyre/report/accept/parts.h"

namespace gyre::report {
namespace {

using accept::Acceptance;
using accept::Sample;

constexpr size_t kMostRows = 400;
constexpr size_t kMostBytes = 600;  // of an answer in the page

std::string shortened(const std::string& raw) {
  const std::string text = accept::clean_utf8(raw);
  if (text.size() <= kMostBytes) {
    return text;
  }
  size_t end = kMostBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
    --end;  // not inside a character
  }
  return text.substr(0, end) + str(" ... (", text.size(), " bytes)");
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) {
    out += (out.empty() ? "" : " ") + (part.empty() ? "\u2013" : part);
  }
  return out;
}

std::string dials_text(const Sample& sample) {
  std::string out;
  for (const auto& [name, value] : sample.item.dials) {
    out += str(out.empty() ? "" : ", ", name, " ", value);
  }
  return out;
}

std::string places_text(const Sample& sample) {
  std::string out;
  for (const accept::Place& place : sample.item.evidence) {
    out += str(out.empty() ? "" : "; ", percent(place.fraction), ", ", place.from_end,
               " from the end");
  }
  return out;
}

std::string came(const Sample& sample) {
  const accept::Reply& reply = sample.reply;
  if (!reply.answered()) {
    return str("<b>", accept::name_of(reply.fault), "</b>",
               reply.http > 0 ? str(" (HTTP ", reply.http, ")") : "", " ",
               escape(shortened(reply.fault_text)));
  }
  const std::string text = reply.text.empty() && !reply.reasoning.empty()
                               ? "(reasoning) " + reply.reasoning
                               : reply.text;
  const std::string shown = escape(shortened(text));
  constexpr size_t kFolded = 120;
  return text.size() <= kFolded ? shown
                                : "<details><summary>" + escape(shortened(text.substr(0, 60))) +
                                      "\u2026</summary>" + shown + "</details>";
}

Csv failures_csv(const Acceptance& a) {
  Csv csv({"sid", "level", "task", "arm", "length", "dials", "verdict", "wanted", "found", "fault",
           "http", "finish"});
  for (const Sample& s : a.failures) {
    csv.row(s.item.sid, s.item.level, s.item.task, s.item.arm, s.item.length, dials_text(s),
            accept::name_of(s.verdict), joined(s.item.gold), s.found,
            accept::name_of(s.reply.fault), static_cast<int64_t>(s.reply.http), s.reply.finish);
  }
  return csv;
}

}  // namespace

Section accept_failures_section(const Acceptance& a) {
  Section section("failures-part", "Every failure");
  if (a.failures.empty()) {
    section.html("<p>Every answer was right.</p>\n");
    return section;
  }
  section.files.push_back({"failures", failures_csv(a)});
  section.html(str("<p>", a.failures.size(), " items were not answered right",
                   a.failures.size() > kMostRows ? str("; the first ", kMostRows, " are here") : "",
                   ". All are in figures/failures.csv; their prompts are kept: "
                   "<code>gyre accept show SID --out DIR</code>.</p>\n"));
  Table table("failures", "<b>Failures.</b> Click a title to sort");
  table.sortable();
  for (const char* title : {"request", "level", "task", "length", "verdict", "wanted", "came"}) {
    table.column(title);
  }
  for (size_t i = 0; i < std::min(kMostRows, a.failures.size()); ++i) {
    const Sample& s = a.failures[i];
    table.row(
        {str("<code id=\"sid-", escape(s.item.sid), "\">", escape(s.item.sid.substr(0, 8)),
             "</code>"),
         std::to_string(s.item.level),
         str(escape(s.item.task), s.item.arm == "main" ? "" : " (" + escape(s.item.arm) + ")",
             "<small>", escape(dials_text(s)), "</small>"),
         std::to_string(s.item.length),
         str(escape(accept::name_of(s.verdict)), "<small>", escape(places_text(s)), "</small>"),
         escape(shortened(joined(s.item.gold))), came(s)});
  }
  section.html("<details open><summary>List</summary>" + table.html() + "</details>\n");
  return section;
}

}  // namespace gyre::report
