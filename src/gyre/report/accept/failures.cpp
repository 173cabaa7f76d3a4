// Every item that was not answered right, each to be opened: what was wanted, what came, and the
// prompt around its evidence.
#include <algorithm>

#include "gyre/accept/result_words.h"
#include "gyre/base/error.h"
#include "gyre/report/accept/parts.h"

namespace gyre::report {
namespace {

using accept::Acceptance;
using accept::Sample;

constexpr size_t kMostRows = 400;
constexpr size_t kMostBytes = 600;                     // of an answer in the page
constexpr size_t kMostPromptBytes = size_t{64} << 20;  // read for excerpts, all together

std::string shortened(const std::string& raw, size_t most = kMostBytes) {
  const std::string text = accept::clean_utf8(raw);
  if (text.size() <= most) {
    return text;
  }
  size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
    --end;  // not inside a character
  }
  return text.substr(0, end) +
         str(" \u2026 (", whole(static_cast<int64_t>(text.size())), " bytes)");
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) {
    out += (out.empty() ? "" : " ") + (part.empty() ? "\u2013" : part);
  }
  return out.empty() ? "\u2013" : out;
}

std::string dials_text(const Sample& sample) {
  std::string out;
  for (const auto& [name, value] : sample.item.dials) {
    out += str(out.empty() ? "" : ", ", name, " ", value);
  }
  return out;
}

std::string places_text(const Sample& sample) {
  constexpr size_t kMost = 5;
  const auto& places = sample.item.evidence;
  if (places.size() > kMost) {
    const auto [first, last] =
        std::minmax_element(places.begin(), places.end(),
                            [](const auto& x, const auto& y) { return x.fraction < y.fraction; });
    return str(places.size(), " places between ", percent(first->fraction), " and ",
               percent(last->fraction), " of the text");
  }
  std::string out;
  for (const accept::Place& place : sample.item.evidence) {
    out += str(out.empty() ? "" : "; ", percent(place.fraction), " of the text, ",
               whole(place.from_start), " tokens from the start, ", whole(place.from_end),
               " from the end");
  }
  return out;
}

/// The answer in plain text, or the fault in its place.
std::string came(const Sample& sample) {
  const accept::Reply& reply = sample.reply;
  if (!reply.answered()) {
    return str(accept::name_of(reply.fault), reply.http > 0 ? str(" (HTTP ", reply.http, ")") : "",
               reply.fault_text.empty() ? "" : ": ", reply.fault_text);
  }
  if (reply.text.empty() && !reply.reasoning.empty()) {
    return "(reasoning) " + reply.reasoning;
  }
  return reply.text.empty() ? "(no text)" : reply.text;
}

std::string fact(const char* name, const std::string& value) {
  return value.empty() ? "" : str("<dt>", name, "</dt><dd>", escape(value), "</dd>\n");
}

std::string tokens_text(const Sample& sample) {
  const accept::Reply& reply = sample.reply;
  std::string out = whole(sample.item.tokens_predicted) + " predicted";
  if (reply.prompt_tokens) {
    out += ", " + whole(*reply.prompt_tokens) + " reported";
  }
  if (reply.completion_tokens) {
    out += "; " + whole(*reply.completion_tokens) + " of the answer";
  }
  return out;
}

std::string body_html(const Sample& s, const std::string& prompt) {
  std::string out = "<dl class=\"facts\">\n";
  out += fact("wanted", shortened(joined(s.item.gold))) + fact("came", shortened(came(s))) +
         fact("read as", s.found == came(s) ? "" : shortened(s.found)) +
         fact("evidence at", places_text(s)) + fact("settings", dials_text(s)) +
         fact("tokens", tokens_text(s)) + fact("ended with", s.reply.finish) +
         fact("at once", s.in_flight > 1 ? std::to_string(s.in_flight) + " requests" : "") +
         fact("request", s.item.sid) + "</dl>\n";
  if (prompt.empty()) {
    return out;
  }
  const std::string file = "prompts/" + escape(s.item.sid) + ".txt.gz";
  return out + "<p class=\"look\">Prompt, evidence marked; whole: <a href=\"" + file + "\">" +
         file + "</a></p>\n" + prompt_excerpt(prompt, s.item.sentences);
}

std::string failure_html(const Sample& s, const std::string& prompt) {
  constexpr size_t kShort = 160;
  const std::string arm = arm_words(s.item.arm), sid = escape(s.item.sid);
  const std::string verdict = spaced(accept::name_of(s.verdict));
  return str("<li><details class=\"failure\" id=\"sid-", sid, "\" data-level=\"", s.item.level,
             "\" data-task=\"", escape(s.item.task), "\" data-control=\"",
             arm.empty() ? "no" : escape(arm), "\" data-length=\"", s.item.length,
             "\" data-verdict=\"", escape(verdict), "\"><summary><code>",
             escape(s.item.sid.substr(0, 8)), "</code> <span>", s.item.level, " ",
             escape(spaced(s.item.task)), arm.empty() ? "" : ", " + escape(arm),
             "</span> <span class=\"num\">", whole(s.item.length), "</span> <b>", escape(verdict),
             "</b> <span class=\"came\">", escape(shortened(came(s), kShort)),
             "</span></summary>\n<div>\n", body_html(s, prompt), "</div></details></li>\n");
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

std::set<std::string> named_on_page(const Acceptance& a) {
  std::set<std::string> out;
  const auto add = [&](const std::vector<std::string>& sids, size_t most) {
    out.insert(sids.begin(), sids.begin() + static_cast<int64_t>(std::min(most, sids.size())));
  };
  for (const accept::Finding& finding : a.findings) {
    add(finding.evidence, 3 * SidLinks::kMost);
  }
  for (const accept::Rung& rung : a.one.rungs) {
    add(rung.evidence, SidLinks::kMost);
  }
  for (const accept::ConcurrencyRow& row : a.one.concurrency) {
    add(row.evidence, SidLinks::kMost);
  }
  for (const accept::Cell& cell : a.cells) {
    add(cell.failures, cell.arm == "main" ? SidLinks::kMost : 1);
  }
  return out;
}

}  // namespace

std::vector<const Sample*> listed_failures(const Acceptance& a) {
  std::vector<const Sample*> out;
  for (const Sample& sample : a.failures) {
    out.push_back(&sample);
  }
  if (out.size() > kMostRows) {
    const std::set<std::string> named = named_on_page(a);
    std::stable_partition(out.begin(), out.end(),
                          [&](const Sample* sample) { return named.count(sample->item.sid) > 0; });
    out.resize(kMostRows);
    std::sort(out.begin(), out.end());  // as they were asked: they stand in one vector
  }
  return out;
}

Section accept_failures_section(const Acceptance& a, const PromptOf& prompt_of) {
  Section section("failures-part", "Every failure");
  if (a.failures.empty()) {
    section.html("<p>Every answer was right.</p>\n");
    return section;
  }
  section.files.push_back({"failures", failures_csv(a)});
  const std::vector<const Sample*> listed = listed_failures(a);
  const auto all = static_cast<int64_t>(a.failures.size());
  section.html(str("<p>", whole(all), all == 1 ? " item was" : " items were", " not answered right",
                   a.failures.size() > listed.size()
                       ? str("; ", listed.size(), " are here, those that the page names first")
                       : "",
                   ". Open one to see its prompt and answer, or <code>gyre accept show ID --out "
                   "DIR</code>. Data: <a href=\"figures/failures.csv\">figures/failures.csv</a></p>"
                   "\n<ol class=\"failures\">\n"));
  size_t read = 0;
  for (const Sample* sample : listed) {
    const std::string prompt =
        prompt_of && read < kMostPromptBytes ? prompt_of(sample->item.sid) : "";
    read += prompt.size();
    section.html(failure_html(*sample, prompt));
  }
  section.html("</ol>\n");
  return section;
}

}  // namespace gyre::report
