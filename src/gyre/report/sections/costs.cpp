// What learning frequencies costs, and published numbers beside ours.
#include <algorithm>
#include <cmath>

#include "gyre/base/error.h"
#include "gyre/report/section.h"

namespace gyre::report {
namespace {

std::string ratio_interval(const Interval& range) {
  return "[" + fixed(range.lo, 3) + ", " + fixed(range.hi, 3) + "]";
}

// The last words of a source are often its address; addresses become links the reader may follow.
std::string source_html(const std::string& source) {
  const size_t at = source.find("arXiv:");
  if (at == std::string::npos) {
    return escape(source);
  }
  const size_t end = std::min(source.find_first_not_of("0123456789.", at + 6), source.size());
  std::string id = source.substr(at + 6, end - at - 6);
  while (!id.empty() && id.back() == '.') {
    id.pop_back();
  }
  return escape(source.substr(0, at)) + "<a href=\"https://arxiv.org/abs/" + escape(id) +
         "\" rel=\"noreferrer\">arXiv:" + escape(id) + "</a>" +
         escape(source.substr(at + 6 + id.size()));
}

std::string own_table(const Comparison& c) {
  Table table("own", "The nearest measurements of this comparison, at " + whole(c.settings.params) +
                         " parameters. " + tag(Evidence::Measured));
  table.column("Quantity");
  table.column("Value", Align::Right);
  table.column("95 % interval", Align::Right);
  for (const Pair& pair : c.pairs) {
    const bool over_seeds = std::isfinite(pair.ci95.lo);
    const Interval& range = over_seeds ? pair.ci95 : pair.ci95_blocks;
    table.row({"Gain of " + escape(pair.b) + " over " + escape(pair.a) + ", nats per token",
               with_sign(-pair.delta_nats, 4),
               interval({-range.hi, -range.lo}, 4) + " over " + (over_seeds ? "seeds" : "blocks")});
  }
  for (const Frequencies& f : c.frequencies) {
    if (f.learned && f.dominant) {
      table.row({"Wavelength of the dominant band over the training length, " + escape(f.arm) +
                     ", seed " + std::to_string(f.seed),
                 fixed(f.dominant->over_train_length, 2), "\u2013"});
    }
  }
  return table.empty() ? "" : table.html();
}

}  // namespace

Section overhead_section(const Comparison& c) {
  Section section("overhead", "Cost of learning the frequencies");
  if (c.overhead.empty()) {
    section.left_out("no arm learns its frequencies");
    return section;
  }
  Table table("overhead", "Cost against the same model with fixed frequencies " +
                              tag(Evidence::Measured) +
                              "; 1.000 means equal. Times depend on the machine.");
  table.column("Arm");
  table.column("Against");
  table.column("Extra parameters", Align::Right);
  table.column("Step time, ratio", Align::Right);
  table.column("95 % interval", Align::Right);
  table.column("Pairs of steps", Align::Right);
  table.column("Peak memory, ratio", Align::Right);
  table.column("95 % interval", Align::Right);
  table.column("Seeds", Align::Right);
  Csv csv({"arm", "against", "extra_params", "step_time_ratio", "ci95_lo", "ci95_hi", "n_pairs",
           "peak_rss_ratio", "peak_rss_ci95_lo", "peak_rss_ci95_hi", "n_seeds", "evidence"});
  for (const Overhead& o : c.overhead) {
    table.row({arm_label(c, o.arm), escape(o.against), "+" + whole(o.extra_params),
               fixed(o.step_time_ratio, 3), ratio_interval(o.ci95), whole(o.n_pairs),
               fixed(o.peak_rss_ratio, 3), ratio_interval(o.peak_rss_ci95), whole(o.n_seeds)});
    csv.row(o.arm, o.against, o.extra_params, o.step_time_ratio, o.ci95.lo, o.ci95.hi, o.n_pairs,
            o.peak_rss_ratio, o.peak_rss_ci95.lo, o.peak_rss_ci95.hi, o.n_seeds, "measured");
  }
  section.html(table.html());
  section.html(
      "<p class=\"file\">Data: <a href=\"figures/overhead.csv\">figures/overhead.csv</a></p>\n");
  section.files.push_back({"overhead", std::move(csv)});
  return section;
}

Section published_section(const Comparison& c) {
  Section section("published", "Published numbers beside ours");
  if (c.quoted.empty()) {
    section.left_out("no published number belongs to these arms");
    return section;
  }
  Table table("published",
              "Numbers marked quoted are copied from the named source and were not checked here; "
              "they come from far larger models and other data, so only direction and order of "
              "magnitude can be compared.");
  table.column("Quantity");
  table.column("Published", Align::Right);
  table.column("Source and licence");
  table.column("This comparison");
  Csv csv({"what", "value", "unit", "source", "licence", "ours", "evidence"});
  for (const Quoted& q : c.quoted) {
    table.row({escape(q.what),
               escape(q.value + (q.unit.empty() ? "" : " " + q.unit)) + " " + tag(Evidence::Quoted),
               source_html(q.source) +
                   (q.licence.empty() ? "" : "<small>" + escape(q.licence) + "</small>"),
               q.ours.empty() ? "\u2013" : escape(q.ours) + " " + tag(Evidence::Measured)});
    csv.row(q.what, q.value, q.unit, q.source, q.licence, q.ours, "quoted (ours: measured)");
  }
  section.html(table.html());
  section.html(
      "<p class=\"file\">Data: <a href=\"figures/published.csv\">figures/published.csv</a>. The "
      "authors of the quoted sources have not seen or endorsed this comparison.</p>\n");
  const bool beside = std::any_of(c.quoted.begin(), c.quoted.end(),
                                  [](const Quoted& q) { return !q.ours.empty(); });
  if (!beside) {  // else the rows above have them already
    section.html(own_table(c));
  }
  section.files.push_back({"published", std::move(csv)});
  return section;
}

Section sources_section(const Comparison& c) {
  Section section("sources", "Sources");
  if (c.sources.empty()) {
    section.left_out("compare.json names no sources");
    return section;
  }
  Table table("sources", "What each statement rests on.");
  table.column("Claim");
  table.column("Statement");
  table.column("Source");
  for (const Source& s : c.sources) {
    table.row({escape(s.claim), escape(s.text),
               s.source.empty() ? "measured here" : source_html(s.source)});
  }
  section.html(table.html());
  return section;
}

}  // namespace gyre::report
