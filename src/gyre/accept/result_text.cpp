// A run for the terminal: verdict in three lines, findings, tables; at most 100 columns.
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <map>
#include <sstream>

#include "gyre/accept/result_words.h"
#include "gyre/base/error.h"
#include "gyre/base/progress.h"

namespace gyre::accept {
namespace {

constexpr size_t kWidth = 100;

/// A table of plain columns; numbers stand right.
class Table {
 public:
  explicit Table(std::vector<std::string> head) { rows_.push_back(std::move(head)); }
  /// `note` stands under the row.
  void add(std::vector<std::string> row, const std::string& note = "") {
    notes_[rows_.size()] = note;
    rows_.push_back(std::move(row));
  }

  /// The last column is cut where the line would be too long.
  std::string text() const {
    std::vector<size_t> widths(rows_[0].size(), 0);
    for (const auto& row : rows_) {
      for (size_t i = 0; i < row.size(); ++i) {
        widths[i] = std::max(widths[i], row[i].size());
      }
    }
    std::ostringstream out;
    for (size_t r = 0; r < rows_.size(); ++r) {
      const auto& row = rows_[r];
      std::ostringstream line;
      for (size_t i = 0; i < row.size(); ++i) {
        const bool last = i + 1 == row.size();
        line << "  " << std::left << std::setw(last ? 0 : static_cast<int>(widths[i])) << row[i];
      }
      std::string shown = line.str();
      if (shown.size() > kWidth) {
        shown = shown.substr(0, kWidth - 3) + "...";
      }
      shown.erase(shown.find_last_not_of(' ') + 1);
      out << shown << '\n';
      if (const auto note = notes_.find(r); note != notes_.end()) {
        out << wrapped(note->second, "      ", kWidth);
      }
    }
    return out.str();
  }
  bool empty() const { return rows_.size() < 2; }

 private:
  std::vector<std::vector<std::string>> rows_;
  std::map<size_t, std::string> notes_;
};

std::string plain(double value, int digits) {
  if (!std::isfinite(value)) {
    return "-";
  }
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << value;
  return out.str();
}

/// What to look at, for the server that answered; for all of them when it is not known.
std::string look_text(const FindingKind& kind, const std::string& server) {
  std::string all;
  for (const auto& [name, hint] :
       {std::pair{"llama.cpp", kind.llama_cpp}, std::pair{"vLLM", kind.vllm},
        std::pair{"Ollama", kind.ollama}, std::pair{"SGLang", kind.sglang}}) {
    if (server == name) {
      return *hint == '\0' ? "" : str("look at (", name, "): ", hint);
    }
    if (*hint != '\0') {
      all += str(all.empty() ? "" : " | ", name, ": ", hint);
    }
  }
  return all.empty() ? "" : "look at: " + all;
}

void write_findings(std::ostream& out, const Acceptance& a) {
  out << "\nFindings" << (a.findings.empty() ? ": none\n" : "\n");
  for (const Finding& finding : a.findings) {
    const FindingKind& kind = finding_kind(finding.id);
    out << wrapped(str(name_of(kind.severity), " ", finding.id, ": ", kind.title), "  ", kWidth)
        << wrapped(one_line(finding.says, 1000), "      ", kWidth)
        << wrapped(look_text(kind, a.facts.server), "      ", kWidth);
    if (!finding.evidence.empty()) {
      constexpr size_t kShown = 4;
      const auto n = std::min(kShown, finding.evidence.size());
      const std::vector<std::string> first(finding.evidence.begin(),
                                           finding.evidence.begin() + static_cast<long>(n));
      out << wrapped(
          str("evidence: ", joined(first, " "),
              finding.evidence.size() > n ? str(" and ", finding.evidence.size() - n, " more")
                                          : ""),
          "      ", kWidth);
    }
  }
}

void write_levels(std::ostream& out, const Acceptance& a) {
  Table table({"level", "", "verdict", "effective tokens"});
  for (const LevelVerdict& level : a.levels) {
    const std::vector<int64_t>& chosen = a.options.levels;
    if (std::find(chosen.begin(), chosen.end(), level.level) == chosen.end()) {
      continue;
    }
    table.add({str(level.level), level_title(level.level), name_of(level.status),
               level.effective_length > 0 ? grouped(level.effective_length) : "none"},
              one_line(level.worst.empty() ? level.says : level.says + "; " + level.worst, 1000));
  }
  if (!table.empty()) {
    out << "\nLevels (never summed)\n" << table.text();
  }
}

void write_level_one(std::ostream& out, const LevelOne& one) {
  Table table({"tokens", "endpoint", "predicted", "reported", "kept"});
  for (const Rung& rung : one.rungs) {
    table.add({grouped(rung.length), name_of(rung.api), grouped(rung.predicted),
               rung.reported ? grouped(*rung.reported) : "-", name_of(rung.status)},
              one_line(rung.says, 1000));
  }
  if (!table.empty()) {
    out << "\nLevel 1, length kept\n" << table.text();
  }
  const Window& window = one.window;
  if (window.fits || window.fails) {
    std::string text = "window: ";
    text += window.fits ? str("kept at ", grouped(*window.fits), " tokens") : "";
    text += window.fails
                ? str(window.fits ? ", " : "", "not kept at ", grouped(*window.fails), " tokens")
                : "";
    text += window.after_overflow
                ? str(", ", grouped(*window.after_overflow), " tokens stay of a longer one")
                : "";
    text += window.source.empty() ? "" : str(" (by ", window.source, ")");
    out << wrapped(text, "  ", kWidth);
  }
  for (const ConcurrencyRow& row : one.concurrency) {
    out << "  " << row.in_flight << " in flight: " << row.ok << " of " << row.asked << " ok, "
        << row.faults << " faults\n";
  }
}

std::string bucket_text(const BucketResult& bucket) {
  return bucket.n == 0 ? "-" : str(bucket.correct, "/", bucket.n);
}

void write_cells(std::ostream& out, const Acceptance& a) {
  Table table({"verdict", "tokens", "wanted", "right, first place to last", "task", "dials"});
  for (const Cell& cell : a.cells) {
    if (cell.arm != "main") {
      continue;
    }
    std::vector<std::string> buckets;
    for (const BucketResult& bucket : cell.buckets) {
      buckets.push_back(bucket_text(bucket));
    }
    const std::string dials = dials_text(cell.dials);
    const std::string why = cell.status == Status::NotRun ? cell.why_not_run
                            : cell.needs_about > 0
                                ? str("needs about ", cell.needs_about, " more a bucket")
                                : cell.says;
    table.add({name_of(cell.status), grouped(cell.length), plain(cell.threshold, 2),
               buckets.empty() ? "-" : joined(buckets, " "), cell.task,
               dials.empty() ? "-" : dials.substr(2)},
              one_line(why));
  }
  if (!table.empty()) {
    out << "\nLevels 2 and 3, every planned cell\n" << table.text();
  }
}

void write_measures(std::ostream& out, const Acceptance& a) {
  Table table({"value", "n", "tokens", "task", "control or measure"});
  for (const Measure& m : a.measures) {
    table.add({share_text(m.value, m.lo, m.hi), str(m.n), m.length > 0 ? grouped(m.length) : "-",
               m.task.empty() ? "-" : m.task, m.title.empty() ? m.id : m.title},
              one_line(m.says, 1000));
  }
  if (!table.empty()) {
    out << "\nControls and measures\n" << table.text();
  }
  if (a.regression) {
    out << "\nBefore and after, original length\n"
        << wrapped(str(name_of(a.regression->status), ": ", a.regression->says), "  ", kWidth);
  }
}

void write_ranking(std::ostream& out, const Acceptance& a) {
  Table table({"probe", "tokens", "distance", "n", "nats", "first", "MRR"});
  for (const RankingPoint& p : a.ranking) {
    table.add({p.probe, grouped(p.length), grouped(p.distance), str(p.n),
               share_text(p.nats, p.lo, p.hi), plain(p.top1, 2), plain(p.mrr, 2)});
  }
  if (!table.empty()) {
    out << "\nRanking\n" << table.text();
  }
}

void write_curves(std::ostream& out, const Acceptance& a) {
  Table table({"tokens", "first token ms", "median ms", "tokens/s", "memory MiB", "cached"});
  for (const CurvePoint& p : a.curves) {
    table.add({grouped(p.length), plain(p.first_token_ms, 0), plain(p.first_token_median_ms, 0),
               plain(p.decode_per_s, 1), plain(p.memory_mib, 0),
               p.cached ? grouped(*p.cached) : "-"});
  }
  if (!table.empty()) {
    out << "\nTime and memory\n" << table.text();
  }
}

}  // namespace

std::string to_text(const Acceptance& a) {
  std::ostringstream out;
  out << one_line(a.subject) << '\n' << name_of(a.verdict) << '\n';
  for (const std::string& line : a.says) {
    out << wrapped(one_line(line, 1000), "  ", kWidth);
  }
  write_levels(out, a);
  write_findings(out, a);
  write_level_one(out, a.one);
  write_cells(out, a);
  write_measures(out, a);
  write_ranking(out, a);
  write_curves(out, a);
  out << '\n'
      << grouped(a.cost.requests) << " requests, " << grouped(a.cost.prompt_tokens)
      << " prompt tokens, " << grouped(a.cost.answer_tokens) << " answer tokens, "
      << grouped(a.cost.errors) << " errors, " << format_duration(a.cost.seconds) << " of answers";
  if (std::isfinite(a.cost.money)) {
    out << ", money " << plain(a.cost.money, 2);
  }
  out << '\n';
  return out.str();
}

}  // namespace gyre::accept
