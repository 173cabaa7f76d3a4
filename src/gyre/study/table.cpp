// The comparison as text for a terminal.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "gyre/base/error.h"
#include "gyre/study/comparison.h"
#include "gyre/study/format.h"

namespace gyre::study {
namespace {

/// Columns of text, each as wide as its widest cell; the first is left-aligned, the others right.
class Table {
 public:
  explicit Table(std::vector<std::string> head) { rows_.push_back(std::move(head)); }
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.size() < 2; }
  std::string text() const {
    std::vector<size_t> widths;
    for (const auto& row : rows_) {
      widths.resize(std::max(widths.size(), row.size()));
      for (size_t i = 0; i < row.size(); ++i) {
        widths[i] = std::max(widths[i], row[i].size());
      }
    }
    std::string out;
    for (const auto& row : rows_) {
      std::string line = "  ";
      for (size_t i = 0; i < row.size(); ++i) {
        const std::string space(widths[i] - row[i].size(), ' ');
        line += (i == 0 ? "" : "  ") + (i == 0 ? row[i] + space : space + row[i]);
      }
      line.resize(line.find_last_not_of(' ') + 1);
      out += line + "\n";
    }
    return out;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string interval_text(const Interval& interval) {
  return interval.known() ? str(signed_number(interval.lo), " to ", signed_number(interval.hi))
                          : "-";
}

std::string arms_table(const Comparison& c) {
  Table table({"arm", "val loss", "sd", "ppl", "seeds", "params", "tokens/s", "MiB"});
  for (const ArmSummary& arm : c.arms) {
    table.row({arm.name, fixed(arm.val_loss_mean, 4), fixed(arm.val_loss_sd, 4), fixed(arm.ppl, 3),
               str(arm.n_seeds), with_commas(arm.params), fixed(arm.tokens_per_s, 0),
               fixed(arm.peak_rss_mib, 0)});
  }
  return "Validation loss, nats per token (mean over seeds)\n" + table.text();
}

std::string pairs_table(const Comparison& c) {
  if (c.pairs.empty()) {
    return "";
  }
  Table table({"arm", "delta", "95 % over seeds", "p", "95 % over blocks", "seeds", "to settle",
               "finding"});
  for (const PairResult& pair : c.pairs) {
    table.row({pair.b, signed_number(pair.delta), interval_text(pair.ci95), p_text(pair.p),
               interval_text(pair.ci95_blocks), str(pair.seeds.size()),
               pair.seeds_needed ? with_commas(*pair.seeds_needed) : "-", pair.verdict});
  }
  const PairResult& first = c.pairs.front();
  std::string note = first.ci95.known() ? str("interval over ", first.interval_over, ", t with ",
                                              fixed(first.df, 0), " degrees of freedom")
                                        : "one seed: no interval over seeds";
  return "\nDifference from " + first.a + ", nats per token, negative is better (" + note + ")\n" +
         table.text();
}

std::string length_table(const Comparison& c) {
  std::set<std::pair<std::string, int64_t>> columns;
  std::map<std::tuple<std::string, std::string, int64_t>, double> losses;
  for (const LengthPoint& p : c.length_curve) {
    columns.emplace(p.windows, p.length);
    losses[{p.arm, p.windows, p.length}] = p.loss;
  }
  std::string out;
  for (const char* kind : {"disjoint", "sliding"}) {
    std::vector<std::string> head = {"arm"};
    for (const auto& [windows, length] : columns) {
      if (windows == kind) {
        head.push_back(str(length));
      }
    }
    Table table(head);
    for (const ArmSummary& arm : c.arms) {
      std::vector<std::string> row = {arm.name};
      for (const auto& [windows, length] : columns) {
        if (windows == kind) {
          const auto found = losses.find({arm.name, windows, length});
          row.push_back(found == losses.end() ? "-" : fixed(found->second, 3));
        }
      }
      table.row(row);
    }
    if (head.size() > 1) {
      out += str("\nLoss by window length, ", kind, " windows (trained at ", c.settings.length,
                 ")\n", table.text());
    }
  }
  return out;
}

std::string needle_table(const Comparison& c) {
  std::map<int64_t, double> chance;
  std::map<std::pair<std::string, int64_t>, const NeedlePoint*> points;
  for (const NeedlePoint& p : c.needle) {
    chance[p.distractors] = p.chance;
    points[{p.arm, p.distractors}] = &p;
  }
  if (points.empty()) {
    return "";
  }
  std::vector<std::string> head = {"distractors"}, line = {"chance"};
  for (const auto& [distractors, value] : chance) {
    head.push_back(str(distractors));
    line.push_back(fixed(value, 2));
  }
  Table table(head);
  table.row(line);
  for (const ArmSummary& arm : c.arms) {
    std::vector<std::string> row = {arm.name};
    for (const auto& [distractors, value] : chance) {
      const auto found = points.find({arm.name, distractors});
      const bool above = found != points.end() && found->second->ci95.lo > value;
      row.push_back(
          found == points.end() ? "-" : fixed(found->second->accuracy, 2) + (above ? "*" : " "));
    }
    table.row(row);
  }
  return "\nNeedle ranking, share ranked first (* = 95 % interval above chance)\n" + table.text();
}

std::string frequency_lines(const Comparison& c) {
  std::string out;
  for (const FrequencyUse& f : c.frequencies) {
    if (!f.learned) {
      continue;
    }
    const DominantBand& d = f.bands.dominant;
    out += str(
        "  ", f.arm, " seed ", f.seed, ": ",
        f.bands.has_dominant ? str("dominant band ", d.band, ", wavelength ",
                                   fixed(d.wavelength, 0), " = ", fixed(d.over_train_length, 2),
                                   " x training length, ", fixed(d.ratio, 1), " x the next; ")
                             : "no dominant band; ",
        f.bands.suppressed.size(), " of ", f.final.size(), " pairs suppressed (",
        f.suppressed_initial.size(), " at the start), ", f.bands.gathered, " at 1.8 to 2.4 x\n");
  }
  for (const Overhead& o : c.overhead) {
    out += str("  ", o.arm, " against ", o.against, ": +", o.extra_params,
               " parameters, step time x ", fixed(o.step_time_ratio, 3), " (", fixed(o.ci95.lo, 3),
               " to ", fixed(o.ci95.hi, 3), ", ", o.n_pairs, " pairs), memory x ",
               fixed(o.peak_rss_ratio, 3), " (", fixed(o.peak_rss_ci95.lo, 3), " to ",
               fixed(o.peak_rss_ci95.hi, 3), ", ", o.n_seeds, " seeds)\n");
  }
  return out.empty() ? "" : "\nLearned frequencies\n" + out;
}

std::string failures(const Comparison& c) {
  std::string out;
  for (const CellLine& cell : c.cells) {
    if (cell.status == "failed") {
      out += str("  ", cell.arm, " seed ", cell.seed, ": ", cell.error, "\n");
    }
  }
  return out.empty() ? "" : "\nFailed cells (kept in the output folder)\n" + out;
}

std::string bullets(const std::string& title, const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) {
    out += "  - " + line + "\n";
  }
  return out.empty() ? "" : "\n" + title + "\n" + out;
}

}  // namespace

std::string to_table(const Comparison& c) {
  std::string out;
  for (const std::string& sentence : c.verdict) {
    out += sentence + "\n";
  }
  return out + "\n" + arms_table(c) + pairs_table(c) + length_table(c) + needle_table(c) +
         frequency_lines(c) + failures(c) + bullets("Cannot be resolved here", c.cannot_resolve);
}

}  // namespace gyre::study
