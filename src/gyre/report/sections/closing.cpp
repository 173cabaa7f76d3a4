// The end of the page: failures, what cannot be told, limits, and how the page was made.
#include <algorithm>
#include <map>

#include "gyre/base/error.h"
#include "gyre/report/section.h"

namespace gyre::report {
namespace {

std::string fact(const std::string& name, const std::string& value_html) {
  return "<dt>" + escape(name) + "</dt><dd>" + (value_html.empty() ? "\u2013" : value_html) +
         "</dd>\n";
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) {
    out += (out.empty() ? "" : ", ") + part;
  }
  return out;
}

std::string code(const std::string& text) {
  return "<code>" + escape(text) + "</code>";
}

std::string model_text(const Settings& settings) {
  std::string out;
  for (const auto& [name, value] : settings.model) {
    out += (out.empty() ? "" : " \u00b7 ") + escape(name) + " " + escape(value);
  }
  return out;
}

std::string status_counts(const Comparison& c) {
  std::map<std::string, int> counts;
  for (const Cell& cell : c.cells) {
    ++counts[cell.status];
  }
  std::string out;
  for (const auto& [status, count] : counts) {
    out += (out.empty() ? "" : ", ") + std::to_string(count) + " " + status;
  }
  return out;
}

}  // namespace

Section failures_section(const Comparison& c) {
  Section section("failures", "Failures");
  Table table("failures", "Runs that failed; their folders and failure records are kept.");
  table.column("Arm");
  table.column("Seed", Align::Right);
  table.column("Stopped after", Align::Right);
  table.column("What happened");
  table.column("Folder");
  for (const Cell& cell : c.cells) {
    if (cell.status == "failed") {
      table.row({arm_label(c, cell.arm), std::to_string(cell.seed), duration(cell.seconds),
                 escape(cell.error), code(cell.dir)});
    }
  }
  section.html("<p>" + std::to_string(c.cells.size()) + " runs: " + escape(status_counts(c)) +
               (table.empty() ? ". No run failed." : ".") + "</p>\n");
  if (!table.empty()) {
    section.html(table.html());
  }
  return section;
}

Section unresolved_section(const Comparison& c) {
  Section section("unresolved", "What this cannot resolve");
  section.html(c.cannot_resolve.empty() ? "<p>compare.json names nothing.</p>\n"
                                        : bullet_list(c.cannot_resolve));
  return section;
}

Section limits_section(const Comparison& c) {
  Section section("limits", "Limits");
  std::vector<std::string> limits = c.limits;
  limits.insert(
      limits.end(),
      {"A phase or a wavelength describes how fast a pair of dimensions turns; it is no attention "
       "weight, no retrieval rate and no measure of quality",
       "One frequency is not a position scheme: a scheme is all its pairs together",
       "Finding one needle is not understanding: several facts at once were not asked for",
       "A frequency (how fast a pair turns) and a norm (how strongly it counts) are different "
       "things; this page never uses one for the other"});
  section.html(bullet_list(limits));
  return section;
}

Section made_section(const Comparison& c) {
  Section section("made", "How this page was made");
  const Settings& s = c.settings;
  section.html("<dl class=\"facts\">\n" + fact("Command", code(c.command)) +
               fact("Page from its data", code("gyre report DIR")) +
               fact("Revision", code(c.build_revision)) + fact("Machine", escape(c.machine)) +
               fact("Date", escape(c.date)) + fact("Time taken", duration(c.seconds)) +
               fact("Data", escape(joined(s.data))) + fact("Corpus hash", code(s.corpus_hash)) +
               fact("Tokenizer", escape(s.tokenizer)) + fact("Tokens per run", whole(s.tokens)) +
               fact("Training length", whole(s.length) + " tokens") +
               fact("Batch", whole(s.batch)) + fact("Seeds", escape(joined(s.seeds))) +
               fact("Model", model_text(s)) + fact("Parameters", whole(s.params)) + "</dl>\n");
  section.html(
      "<p><b>Status.</b> This page was put together by a program from its own measurements. Nobody "
      "has reviewed it, and it has not been peer reviewed. The program and its wording were "
      "written "
      "with the help of AI. Numbers marked " +
      tag(Evidence::Measured) + " come from the runs named above; " + tag(Evidence::Analytic) +
      " ones follow from a formula; " + tag(Evidence::Quoted) +
      " ones are copied from their source and were not verified here. Seeds, model size and text "
      "other than those above are untested.</p>\n"
      "<p>Every figure can be drawn again from <code>compare.json</code> with the command above; "
      "the same file gives the same bytes.</p>\n");
  return section;
}

}  // namespace gyre::report
