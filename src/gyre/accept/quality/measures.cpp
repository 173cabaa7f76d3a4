#include "gyre/accept/quality/measures.h"

#include <algorithm>
#include <map>
#include <set>

#include "gyre/base/error.h"
#include "gyre/study/statistics.h"

namespace gyre::accept {
namespace {

constexpr double kTail = 0.025;  // each side of a 95 % interval
constexpr int64_t kRepeats = 1000;

Measure blank(const CellRun& run, std::string id, std::string title) {
  Measure out;
  out.id = std::move(id);
  out.title = std::move(title);
  out.level = run.cell.level;
  out.length = run.cell.length;
  out.task = run.spec.label();
  return out;
}

struct Pairs {
  int64_t n = 0, only_a = 0, only_b = 0, both = 0;
};

Pairs pair_up(const CellRun& a, const CellRun& b) {
  std::map<std::pair<int64_t, int64_t>, bool> right;
  for (const Judged& outcome : a.outcomes) {
    right[{outcome.slot.bucket, outcome.slot.index}] = outcome.ok();
  }
  Pairs out;
  for (const Judged& outcome : b.outcomes) {
    const auto at = right.find({outcome.slot.bucket, outcome.slot.index});
    if (at == right.end()) {
      continue;
    }
    ++out.n;
    out.both += at->second && outcome.ok();
    out.only_a += at->second && !outcome.ok();
    out.only_b += !at->second && outcome.ok();
  }
  return out;
}

/// Dials in which two cells differ. Without distractors there is no similarity to differ in.
std::vector<std::string> differences(const Spec& a, const Spec& b) {
  std::set<std::string> names;
  for (const auto& [name, value] : a.dials) {
    names.insert(name);
  }
  for (const auto& [name, value] : b.dials) {
    names.insert(name);
  }
  std::vector<std::string> out;
  for (const std::string& name : names) {
    const auto in_a = a.dials.find(name), in_b = b.dials.find(name);
    const bool known = in_a != a.dials.end() && in_b != b.dials.end();
    const bool open = known && (in_a->second == "-" || in_b->second == "-");
    if (!open && (!known || in_a->second != in_b->second)) {
      out.push_back(name);
    }
  }
  return out;
}

/// Dials that only some cells have say how the others stand by leaving it out.
std::string setting(const Spec& spec, const std::string& dial) {
  static const std::map<std::string, std::string> kUnsaid{
      {"o", "full"}, {"qpos", "end"}, {"v", "far"}};
  const auto said = spec.dials.find(dial);
  if (said != spec.dials.end()) {
    return said->second;
  }
  const auto unsaid = kUnsaid.find(dial);
  return unsaid != kUnsaid.end() ? unsaid->second : "-";
}

std::string change_words(const CellRun& a, const CellRun& b,
                         const std::vector<std::string>& dials) {
  std::string text;
  for (const std::string& dial : dials) {
    text += str(text.empty() ? "" : ", ", dial, " ", setting(a.spec, dial), " -> ",
                setting(b.spec, dial));
  }
  return text;
}

int64_t verdicts(const CellRun& run, std::initializer_list<Verdict> which) {
  return std::count_if(run.outcomes.begin(), run.outcomes.end(), [&](const Judged& outcome) {
    return std::find(which.begin(), which.end(), outcome.verdict) != which.end();
  });
}

bool says_withheld(const Judged& outcome) {
  const auto held = outcome.dials.find("withheld");
  return held != outcome.dials.end() &&
         std::any_of(outcome.codes.begin(), outcome.codes.end(), [&](const std::string& code) {
           return held->second.find(code) != std::string::npos;
         });
}

bool compared(const CellRun& run) {
  return !run.outcomes.empty();
}

}  // namespace

Measure share_measure(const CellRun& run, std::string id, std::string title, int64_t n_of,
                      int64_t n) {
  Measure out = blank(run, std::move(id), std::move(title));
  out.n = n;
  if (n > 0) {
    out.value = static_cast<double>(n_of) / static_cast<double>(n);
    out.lo = wilson_lower(n_of, n, kTail);
    out.hi = wilson_upper(n_of, n, kTail);
  }
  out.says = str(n_of, " of ", n);
  return out;
}

Measure paired_effect(const CellRun& a, const CellRun& b, const std::string& id,
                      const std::string& what) {
  const Pairs pairs = pair_up(a, b);
  Measure out = blank(b, id, "accuracy, paired: " + what);
  out.n = pairs.n;
  if (pairs.n > 0) {
    const auto difference = paired_difference(pairs.only_a, pairs.only_b, pairs.n, kTail);
    out.value = difference.value;
    out.lo = difference.lo;
    out.hi = difference.hi;
    out.p = mcnemar_exact(pairs.only_a, pairs.only_b);
  }
  out.says = str(what, ": of ", pairs.n, " pairs ", pairs.only_a, " lost, ", pairs.only_b, " won");
  return out;
}

std::vector<Measure> dial_effects(const std::vector<CellRun>& runs) {
  std::vector<Measure> out;
  for (size_t i = 1; i < runs.size(); ++i) {
    std::set<std::string> done;
    const CellRun* before = nullptr;
    for (size_t j = i; compared(runs[i]) && j-- > 0;) {
      const CellRun& other = runs[j];
      if (other.spec.task != runs[i].spec.task || !compared(other)) {
        continue;
      }
      before = before ? before : &other;
      const auto dials = differences(other.spec, runs[i].spec);
      if (dials.size() == 1 && done.insert(dials[0]).second) {
        out.push_back(paired_effect(other, runs[i], "effect_" + dials[0],
                                    change_words(other, runs[i], dials)));
      }
    }
    if (done.empty() && before) {
      const auto dials = differences(before->spec, runs[i].spec);
      std::string id = "effect";
      for (const std::string& dial : dials) {
        id += "_" + dial;
      }
      out.push_back(paired_effect(*before, runs[i], id, change_words(*before, runs[i], dials)));
    }
  }
  return out;
}

std::vector<Measure> verdict_shares(const std::vector<CellRun>& runs, int64_t level,
                                    int64_t length) {
  int64_t n = 0, cut = 0, form = 0, failed = 0;
  for (const CellRun& run : runs) {
    n += static_cast<int64_t>(run.outcomes.size());
    cut += verdicts(run, {Verdict::Cut});
    form += verdicts(run, {Verdict::Format, Verdict::Dump, Verdict::Empty});
    failed += verdicts(run, {Verdict::Error});
  }
  if (n == 0) {
    return {};
  }
  CellRun all;
  all.cell.level = level;
  all.cell.length = length;
  std::vector<Measure> out;
  out.push_back(share_measure(all, "cut_share", "answers cut by their budget", cut, n));
  out.push_back(
      share_measure(all, "format_share", "answers that are empty or unreadable", form, n));
  out.push_back(share_measure(all, "error_share", "requests that failed", failed, n));
  return out;
}

std::vector<Measure> guess_measures(const CellRun& control) {
  const bool alone = control.cell.arm == "alone";
  const std::string where = alone ? "question alone: " : "evidence left out: ";
  const std::string prefix = alone ? "alone_" : "";
  const auto n = control.cell.answered;
  const auto said = std::count_if(control.outcomes.begin(), control.outcomes.end(), says_withheld);
  const auto invented =
      std::count_if(control.outcomes.begin(), control.outcomes.end(), [](const Judged& outcome) {
        const bool wrong =
            outcome.verdict == Verdict::WrongCode || outcome.verdict == Verdict::Dump;
        return wrong && !says_withheld(outcome);
      });
  std::vector<Measure> out;
  out.push_back(
      share_measure(control, prefix + "guess_rate", where + "right code all the same", said, n));
  out.push_back(share_measure(control, prefix + "hallucinated_code_rate", where + "invented code",
                              invented, n));
  out.push_back(share_measure(control, prefix + "distractor_rate", where + "a distractor's code",
                              verdicts(control, {Verdict::Distractor}), n));
  return out;
}

Measure following_measure(const CellRun& main, const CellRun& swap) {
  const Pairs pairs = pair_up(main, swap);
  return share_measure(swap, "evidence_following", "right with either code in the evidence",
                       pairs.both, pairs.n);
}

Measure nuisance_measure(const CellRun& main, const CellRun& reseed) {
  const Pairs pairs = pair_up(main, reseed);
  Measure out = share_measure(reseed, "nuisance", "answers that other filler turns",
                              pairs.only_a + pairs.only_b, pairs.n);
  out.p = mcnemar_exact(pairs.only_a, pairs.only_b);
  return out;
}

Measure composition_gap(const std::vector<Composed>& items, const CellRun& run,
                        const std::string& what) {
  Measure out = blank(run, "composition_gap", "p(whole) - product of p(step), " + what);
  out.n = static_cast<int64_t>(items.size());
  out.task = run.spec.task + " " + what;
  if (items.empty()) {
    return out;
  }
  const size_t n_steps = items[0].steps.size();
  const auto gap = [&](std::span<const int64_t> drawn) {
    double whole = 0.0;
    std::vector<double> steps(n_steps);
    for (const int64_t i : drawn) {
      const Composed& item = items[static_cast<size_t>(i)];
      whole += item.whole;
      for (size_t step = 0; step < n_steps; ++step) {
        steps[step] += item.steps[step];
      }
    }
    const auto n = static_cast<double>(drawn.size());
    double product = 1.0;
    for (const double right : steps) {
      product *= right / n;
    }
    return whole / n - product;
  };
  std::vector<int64_t> all(items.size());
  for (size_t i = 0; i < all.size(); ++i) {
    all[i] = static_cast<int64_t>(i);
  }
  out.value = gap(all);
  const auto interval = study::bootstrap(out.n, gap, kRepeats, 1);
  out.lo = interval.lo;
  out.hi = interval.hi;
  if (!(interval.hi > interval.lo)) {
    // Items that are all alike tell no spread; what as many right answers leave open does.
    const double open = 1.0 - wilson_lower(out.n, out.n, kTail);
    out.lo = std::max(-1.0, out.value - open);
    out.hi = std::min(1.0, out.value + open);
  }
  const auto right =
      std::count_if(items.begin(), items.end(), [](const Composed& item) { return item.whole; });
  out.says = str(right, " of ", out.n, " wholes right; a gap below 0 is lost in composing");
  return out;
}

Measure agreement_measure(const CellRun& run) {
  Measure out = blank(run, "mcc", "CONFLICT against CONSISTENT, Matthews correlation");
  struct Said {
    bool truth, said;
  };
  std::vector<Said> items;
  for (const Judged& outcome : run.outcomes) {
    const bool truth = outcome.dials.at("class") == "CONFLICT";
    // An answer of neither kind is wrong: it counts as the other class.
    const bool conflict = outcome.found.starts_with("CONFLICT");
    const bool consistent = outcome.found.starts_with("CONSISTENT");
    items.push_back({truth, conflict == consistent ? !truth : conflict});
  }
  const auto correlation = [&](std::span<const int64_t> drawn) {
    int64_t table[2][2] = {};
    for (const int64_t i : drawn) {
      ++table[items[static_cast<size_t>(i)].truth][items[static_cast<size_t>(i)].said];
    }
    return matthews(table[1][1], table[0][1], table[1][0], table[0][0]);
  };
  out.n = static_cast<int64_t>(items.size());
  if (items.empty()) {
    return out;
  }
  std::vector<int64_t> all(items.size());
  for (size_t i = 0; i < all.size(); ++i) {
    all[i] = static_cast<int64_t>(i);
  }
  out.value = correlation(all);
  const auto interval = study::bootstrap(out.n, correlation, kRepeats, 1);
  out.lo = interval.lo;
  out.hi = interval.hi;
  out.says = "1 = every class right, 0 = no better than one answer for all";
  return out;
}

std::vector<Measure> accuracy_by(const CellRun& run, const std::string& dial,
                                 const std::string& title) {
  std::map<std::string, BucketCount> groups;
  for (const Judged& outcome : run.outcomes) {
    if (const auto at = outcome.dials.find(dial); at != outcome.dials.end()) {
      ++groups[at->second].n;
      groups[at->second].correct += outcome.ok();
    }
  }
  std::vector<Measure> out;
  for (const auto& [value, group] : groups) {
    out.push_back(share_measure(run, "accuracy_" + dial + "_" + value, title + " " + value,
                                group.correct, group.n));
  }
  return out;
}

}  // namespace gyre::accept
