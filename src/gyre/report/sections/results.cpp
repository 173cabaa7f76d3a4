// The main table and the differences from the first arm with both kinds of interval.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "gyre/base/error.h"
#include "gyre/report/section.h"

namespace gyre::report {
namespace {

const Pair* pair_of(const Comparison& c, const std::string& arm) {
  for (const Pair& pair : c.pairs) {
    if (pair.b == arm) {
      return &pair;
    }
  }
  return nullptr;
}

const char* verdict_class(const std::string& verdict) {
  return verdict == "better" ? "better" : verdict == "worse" ? "worse" : "even";
}

std::string arm_cell(const Comparison& c, const Arm& arm) {
  std::string out = arm_label(c, arm.name) + "<small>" + whole(arm.params) + " parameters</small>";
  if (!arm.mask.empty() && arm.mask != "full") {
    out += "<small>mask " + escape(arm.mask) + "</small>";
  }
  return out;
}

std::string loss_cell(const Arm& arm) {
  return fixed(arm.val_loss_mean, 4) + "<small class=\"line\">sd " + fixed(arm.val_loss_sd, 4) +
         ", " + whole(arm.n_seeds) + (arm.n_seeds == 1 ? " seed" : " seeds") + "</small>";
}

std::string needed(const Pair& pair) {
  if (pair.seeds_needed) {
    return whole(*pair.seeds_needed);
  }
  return "\u2013";
}

std::string main_table(const Comparison& c) {
  Table table("arms",
              "Validation loss of every arm and its difference from the first arm, in nats per "
              "token; negative is better. " +
                  tag(Evidence::Measured));
  table.column("Arm");
  table.column("Loss", Align::Right);
  table.column("Perplexity", Align::Right);
  table.column("Bits per byte", Align::Right);
  table.column("Difference", Align::Right);
  table.column("95 % over seeds", Align::Right);
  table.column("95 % over blocks", Align::Right);
  // The finding rests on the corrected p value; show that one where the file has it.
  const bool holm = std::any_of(c.pairs.begin(), c.pairs.end(),
                                [](const Pair& pair) { return std::isfinite(pair.p_value_holm); });
  table.column(holm ? "p (Holm)" : "p", Align::Right);
  table.column("Seeds to settle", Align::Right);
  table.column("Finding");
  for (const Arm& arm : c.arms) {
    std::vector<std::string> cells = {arm_cell(c, arm), loss_cell(arm), fixed(arm.ppl, 3),
                                      fixed(arm.bits_per_byte, 4)};
    if (const Pair* pair = pair_of(c, arm.name)) {
      cells.insert(cells.end(), {"<b>" + with_sign(pair->delta_nats, 4) + "</b>",
                                 interval(pair->ci95, 4), interval(pair->ci95_blocks, 4),
                                 p_value(holm ? pair->p_value_holm : pair->p_value), needed(*pair),
                                 str("<span class=\"finding ", verdict_class(pair->verdict), "\">",
                                     escape(pair->verdict), "</span>")});
    } else {
      const bool first = &arm == &c.arms.front();
      cells.insert(cells.end(), {"\u2013", "\u2013", "\u2013", "\u2013", "\u2013",
                                 first ? "reference" : "no paired run"});
    }
    table.row(std::move(cells));
  }
  const std::string rule = c.verdict_rule.empty() ? ""
                                                  : "<p class=\"not\"><b>Finding:</b> " +
                                                        escape(c.verdict_rule) + "</p>\n";
  return table.html() + rule;
}

Csv main_csv(const Comparison& c) {
  Csv csv({"arm", "scheme", "mask", "params", "alpha_params", "n_seeds", "val_loss_mean",
           "val_loss_sd", "ppl", "bits_per_byte", "tokens_per_s", "peak_rss_mib", "evidence"});
  for (const Arm& a : c.arms) {
    csv.row(a.name, a.scheme, a.mask, a.params, a.alpha_params, a.n_seeds, a.val_loss_mean,
            a.val_loss_sd, a.ppl, a.bits_per_byte, a.tokens_per_s, a.peak_rss_mib, "measured");
  }
  return csv;
}

Csv pairs_csv(const Comparison& c) {
  Csv csv({"a", "b", "delta_nats", "ci95_lo", "ci95_hi", "interval_over", "ci95_blocks_lo",
           "ci95_blocks_hi", "sd_seeds", "n_seeds", "n_blocks", "p_value", "p_value_blocks",
           "p_value_holm", "seeds_needed", "verdict", "evidence"});
  for (const Pair& p : c.pairs) {
    csv.row(p.a, p.b, p.delta_nats, p.ci95.lo, p.ci95.hi, p.interval_over, p.ci95_blocks.lo,
            p.ci95_blocks.hi, p.sd_seeds, p.n_seeds, p.n_blocks, p.p_value, p.p_value_blocks,
            p.p_value_holm, p.seeds_needed ? std::to_string(*p.seeds_needed) : "", p.verdict,
            "measured");
  }
  return csv;
}

// Largest distance from zero that a pair reaches with its point and intervals.
double reach(const Pair& p) {
  double out = 0;
  for (const double v : {p.delta_nats, p.ci95.lo, p.ci95.hi, p.ci95_blocks.lo, p.ci95_blocks.hi}) {
    out = std::isfinite(v) ? std::max(out, std::abs(v)) : out;
  }
  return out;
}

Trace interval_trace(const Comparison& c, const Pair& pair, double row, bool blocks) {
  const Interval& range = blocks ? pair.ci95_blocks : pair.ci95;
  const std::string over = blocks ? "blocks" : pair.interval_over;
  Trace trace;
  trace.name = pair.b;
  trace.arm = c.arm_index(pair.b);
  trace.x = {pair.delta_nats};
  trace.y = {row + (blocks ? 0.17 : -0.17)};
  trace.error_axis = 'x';
  trace.minus = {pair.delta_nats - range.lo};
  trace.plus = {range.hi - pair.delta_nats};
  trace.text = {with_sign(pair.delta_nats, 4) + " nats, 95 % over " + over + ": " +
                interval(range, 4)};
  trace.lines = false;
  trace.markers = true;
  trace.open = blocks;
  trace.width = blocks ? 1.5 : 2.5;
  return trace;
}

// Every pair of the list on its own row.
Panel forest_panel(const Comparison& c, const std::vector<Pair>& pairs) {
  Panel panel;
  panel.x.title = "difference, nats (left is better)";
  panel.y.reversed = true;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto row = static_cast<double>(i);
    panel.y.ticks.push_back(row);
    panel.y.tick_text.push_back(pairs[i].b);
    panel.traces.push_back(interval_trace(c, pairs[i], row, false));
    panel.traces.push_back(interval_trace(c, pairs[i], row, true));
  }
  panel.y.lo = -0.6;
  panel.y.hi = static_cast<double>(pairs.size()) - 0.4;
  panel.markers.push_back({'x', 0, pairs.front().a, false, "solid"});
  return panel;
}

// A close-up pays for pairs that are at least four times nearer to zero than the farthest.
std::vector<Pair> near_zero(const std::vector<Pair>& pairs) {
  double far = 0;
  for (const Pair& pair : pairs) {
    far = std::max(far, reach(pair));
  }
  std::vector<Pair> out;
  std::copy_if(pairs.begin(), pairs.end(), std::back_inserter(out),
               [far](const Pair& pair) { return reach(pair) < far / 4; });
  return out;
}

std::vector<Panel> forest_panels(const Comparison& c, const std::vector<Pair>& pairs) {
  std::vector<Panel> panels = {forest_panel(c, pairs)};
  if (const std::vector<Pair> near = near_zero(pairs); !near.empty()) {
    panels.front().title = "All arms";
    panels.push_back(forest_panel(c, near));
    panels.back().title = "Close-up: arms near " + pairs.front().a;
  }
  for (Panel& panel : panels) {
    panel.height = 110 + 44 * static_cast<int>(pairs.size());
  }
  return panels;
}

Figure forest_figure(const Comparison& c) {
  std::vector<Pair> pairs = c.pairs;
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& left, const Pair& right) {
    return left.delta_nats < right.delta_nats;
  });
  const std::string reference = pairs.front().a;
  Figure f;
  f.id = "difference";
  f.title = "Difference in validation loss from " + reference;
  f.shows = "Each arm's loss minus that of <b>" + escape(reference) +
            "</b>, trained with the same seeds on the same batches and scored on the same tokens. "
            "Filled: "
            "interval over seeds; hollow: over blocks of validation tokens. An interval that "
            "crosses zero "
            "means no difference was seen.";
  f.not_shown =
      "whether a difference would stay at another model size, data set or number of tokens; the "
      "interval over blocks leaves out the spread between seeds and is therefore too narrow as a "
      "statement about training again";
  f.formula =
      "delta = mean over seeds of [loss(arm, seed) - loss(" + reference +
      ", seed)]; interval over seeds: delta +/- t(0.975, df) * sd / sqrt(n_seeds), sd that of the "
      "paired differences or, where interval_over says so, pooled over all arms; over blocks: the "
      "same with one paired difference per block of validation tokens";
  f.alt =
      "Forest plot of loss differences with 95 percent intervals; the table above has the same "
      "numbers";
  f.evidence = {Evidence::Measured};
  f.panels = forest_panels(c, pairs);
  Key key{"95 % over seeds"};
  key.toggles = false;
  f.keys.push_back(key);
  key.label = "95 % over blocks";
  key.open = true;
  f.keys.push_back(key);
  f.csv = pairs_csv(c);
  return f;
}

}  // namespace

Section results_section(const Comparison& c) {
  Section section("results", "Results");
  section.html(main_table(c));
  section.files.push_back({"arms", main_csv(c)});
  section.html("<p class=\"file\">Data: <a href=\"figures/arms.csv\">figures/arms.csv</a></p>\n");
  if (c.pairs.empty()) {
    section.left_out("differences need at least two arms with a finished run on the same seed");
  } else {
    section.figure(forest_figure(c));
  }
  return section;
}

}  // namespace gyre::report
