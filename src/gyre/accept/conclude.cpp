// From cells, rungs and findings to verdicts: one for each level, never a sum of them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "gyre/accept/acceptance.h"
#include "gyre/accept/quality/cells.h"
#include "gyre/accept/statistics.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

constexpr int64_t kOffGrid = 64;  // rungs stand up to that many tokens beside a length

/// What a level came to at one length.
struct AtLength {
  int64_t length = 0;
  Status status = Status::NotRun;
};

Status worse(Status a, Status b) {
  // Order of badness: FAIL, UNDECIDED, not run, PASS.
  const auto rank = [](Status status) {
    return status == Status::Fail ? 3 : status == Status::Undecided ? 2 : status == Status::NotRun;
  };
  return rank(a) >= rank(b) ? a : b;
}

bool chosen(const AcceptOptions& options, int64_t level) {
  return std::find(options.levels.begin(), options.levels.end(), level) != options.levels.end();
}

bool has_finding(const Acceptance& result, const std::string& id) {
  return std::any_of(result.findings.begin(), result.findings.end(),
                     [&](const Finding& finding) { return finding.id == id; });
}

std::vector<std::string> faults(const Acceptance& result) {
  std::vector<std::string> out;
  for (const Finding& finding : result.findings) {
    if (finding_kind(finding.id).severity == Severity::Fault) {
      out.push_back(finding.id);
    }
  }
  return out;
}

std::vector<AtLength> rungs_by_length(const Acceptance& result) {
  std::vector<AtLength> out;
  for (const int64_t length : result.options.lengths) {
    AtLength at{length};
    bool met = false;
    for (const Rung& rung : result.one.rungs) {
      if (std::abs(rung.length - length) <= kOffGrid) {
        at.status = met ? worse(at.status, rung.status) : rung.status;
        met = true;
      }
    }
    out.push_back(at);
  }
  return out;
}

bool counts(const Cell& cell) {
  return cell.arm == "main" && !cell.why_not_run.starts_with(kNoRoom);
}

std::vector<AtLength> cells_by_length(const Acceptance& result, int64_t level) {
  std::vector<AtLength> out;
  for (const int64_t length : result.options.lengths) {
    AtLength at{length};
    bool met = false;
    for (const Cell& cell : result.cells) {
      if (cell.level == level && cell.length == length && counts(cell)) {
        at.status = met ? worse(at.status, cell.status) : cell.status;
        met = true;
      }
    }
    out.push_back(at);
  }
  return out;
}

/// Largest length that passes with every shorter one; lengths rise.
int64_t effective(const std::vector<AtLength>& lengths) {
  int64_t out = 0;
  for (const AtLength& at : lengths) {
    if (at.status != Status::Pass) {
      break;
    }
    out = at.length;
  }
  return out;
}

Status overall(const std::vector<AtLength>& lengths) {
  Status out = Status::Pass;
  bool any = false;
  for (const AtLength& at : lengths) {
    any = any || at.status != Status::NotRun;
    // A length that was not asked leaves the level open.
    out = worse(out, at.status == Status::NotRun ? Status::Undecided : at.status);
  }
  return any ? out : Status::NotRun;
}

std::string lengths_with(const std::vector<AtLength>& lengths, Status status) {
  std::string out;
  for (const AtLength& at : lengths) {
    if (at.status == status) {
      out += str(out.empty() ? "" : ", ", at.length);
    }
  }
  return out;
}

std::string level_words(const std::vector<AtLength>& lengths, int64_t length) {
  std::string text = length > 0 ? str("up to ", length, " tokens") : "at no length";
  const std::pair<Status, const char*> kWords[] = {{Status::Fail, "fails at "},
                                                   {Status::Undecided, "undecided at "},
                                                   {Status::NotRun, "not asked at "}};
  for (const auto& [status, words] : kWords) {
    if (const std::string list = lengths_with(lengths, status); !list.empty()) {
      text += str("; ", words, list);
    }
  }
  return text;
}

/// The bucket with the least lower bound among the main cells of a level.
std::string worst_words(const Acceptance& result, int64_t level) {
  const Cell* worst = nullptr;
  const BucketResult* least = nullptr;
  for (const Cell& cell : result.cells) {
    for (const BucketResult& bucket : cell.buckets) {
      const bool asked = cell.level == level && counts(cell) && bucket.n > 0;
      if (asked && (least == nullptr || bucket.lower < least->lower)) {
        worst = &cell;
        least = &bucket;
      }
    }
  }
  if (least == nullptr) {
    return "";
  }
  char share[96];
  std::snprintf(share, sizeof share, "%.2f (%.2f-%.2f)",
                static_cast<double>(least->correct) / static_cast<double>(least->n), least->lower,
                least->upper);
  return str(worst->task, ", bucket ", least - worst->buckets.data() + 1, " of ",
             worst->buckets.size(), " at ", worst->length, ": ", share);
}

LevelVerdict first_level(const Acceptance& result) {
  LevelVerdict out;
  out.level = 1;
  const auto lengths = rungs_by_length(result);
  out.status = result.one.ran ? overall(lengths) : Status::NotRun;
  out.effective_length = effective(lengths);
  out.says = level_words(lengths, out.effective_length);
  const auto found = faults(result);
  if (result.one.ran && !found.empty()) {
    out.status = Status::Fail;
    for (const std::string& id : found) {
      out.says += "; " + id;
    }
  }
  if (has_finding(result, "LENGTH_BAND")) {
    // Between two lengths that pass there are some that fail: no largest one means anything.
    out.effective_length = 0;
    out.says = "no effective length: some lengths fail between others that pass; " + out.says;
  }
  if (result.one.ran && !result.one.able) {
    out.says += "; the model does not read the roll call back at the original length";
  }
  return out;
}

/// Tasks that the model cannot do at the original length either, each once; a full grid has many.
std::string unable_words(const std::vector<std::string>& reasons) {
  constexpr size_t kMost = 3;
  std::vector<std::string> once;
  for (const std::string& reason : reasons) {
    if (std::find(once.begin(), once.end(), reason) == once.end()) {
      once.push_back(reason);
    }
  }
  std::string out;
  for (size_t i = 0; i < std::min(kMost, once.size()); ++i) {
    const auto n = std::count(reasons.begin(), reasons.end(), once[i]);
    out += "; " + once[i] + (n > 1 ? str(" (", n, " settings)") : "");
  }
  return once.size() > kMost ? out + str("; and ", once.size() - kMost, " more like it") : out;
}

LevelVerdict quality_level(const Acceptance& result, int64_t level) {
  LevelVerdict out;
  out.level = level;
  const auto lengths = cells_by_length(result, level);
  out.status = overall(lengths);
  out.effective_length = has_finding(result, "LENGTH_BAND") ? 0 : effective(lengths);
  out.says = level_words(lengths, out.effective_length);
  out.worst = worst_words(result, level);
  std::vector<std::string> reasons;
  for (const Cell& cell : result.cells) {
    const bool unable = cell.level == level && cell.arm == "short" && cell.status != Status::Pass;
    if (unable) {
      reasons.push_back(str(cell.task, ": ", cell.says.empty() ? cell.why_not_run : cell.says));
      // It was asked for and nothing can be said.
      out.status = worse(out.status, Status::Undecided);
    }
  }
  out.says += unable_words(reasons);
  return out;
}

Status verdict_of(const Acceptance& result) {
  if (!faults(result).empty() || (result.regression && result.regression->status == Status::Fail)) {
    return Status::Fail;
  }
  Status out = Status::Pass;
  bool any = false;
  for (const LevelVerdict& level : result.levels) {
    if (chosen(result.options, level.level)) {
      any = any || level.status != Status::NotRun;
      out = worse(out, level.status == Status::NotRun ? Status::Undecided : level.status);
    }
  }
  if (result.regression) {  // asked for: without an answer the run is open
    out = worse(out, result.regression->status == Status::NotRun ? Status::Undecided
                                                                 : result.regression->status);
  }
  return any ? out : Status::NotRun;
}

std::string line_of_verdict(const Acceptance& result) {
  std::string text = str(name_of(result.verdict), ": ", result.subject);
  const auto found = faults(result);
  std::string reasons;
  for (const std::string& id : found) {
    reasons += (reasons.empty() ? "" : ", ") + id;
  }
  for (const LevelVerdict& level : result.levels) {
    if (level.status == Status::Fail || level.status == Status::Undecided) {
      reasons += str(reasons.empty() ? "" : ", ", "level ", level.level, " ",
                     level.status == Status::Fail ? "fails" : "is undecided");
    }
  }
  if (result.regression && result.regression->status == Status::Fail) {
    reasons += str(reasons.empty() ? "" : ", ", "worse than before at the original length");
  }
  return reasons.empty() ? text : text + "; " + reasons;
}

std::string line_of_levels(const Acceptance& result) {
  static constexpr const char* kNames[] = {"keeps the text", "retrieves", "composes"};
  std::string text;
  for (const LevelVerdict& level : result.levels) {
    if (chosen(result.options, level.level)) {
      text += str(text.empty() ? "" : ". ", kNames[level.level - 1], ": ", level.says);
    }
  }
  return text;
}

std::string line_of_limits(const Acceptance& result) {
  std::string text;
  const auto add = [&](const std::string& words) { text += (text.empty() ? "" : "; ") + words; };
  for (const LevelVerdict& level : result.levels) {
    if (!level.worst.empty()) {
      add("worst of level " + str(level.level) + ": " + level.worst);
    }
  }
  const Cell* neediest = nullptr;
  int64_t asked = 0, failed = 0;
  for (const Cell& cell : result.cells) {
    asked += cell.asked;
    failed += cell.asked - cell.answered;
    // A level that fails already is not decided by more items.
    const LevelVerdict& level = result.levels.at(static_cast<size_t>(cell.level) - 1);
    const bool open = cell.status == Status::Undecided && level.status == Status::Undecided;
    if (open && counts(cell) && (neediest == nullptr || cell.needs_about > neediest->needs_about)) {
      neediest = &cell;
    }
  }
  if (result.cost.requests > 0 && result.cost.errors == result.cost.requests) {
    add("not one request was answered");
  } else if (failed > 0) {
    add(str(failed, " of ", asked, " requests failed and count as wrong"));
  }
  if (neediest != nullptr && neediest->needs_about >= kNeedsMost) {
    add("some rates stand on their threshold: more items would not decide");
  } else if (neediest != nullptr && neediest->needs_about > 0) {
    add(str("level ", neediest->level, ", ", neediest->task, " at ", neediest->length,
            " tokens needs about ", neediest->needs_about, " more items per bucket"));
  }
  if (result.regression) {
    add("before/after: " + result.regression->says);
  }
  return !text.empty()             ? text
         : result.findings.empty() ? "nothing else to say"
                                   : "the findings say what to look at";
}

}  // namespace

void conclude(Acceptance& result) {
  result.levels = {first_level(result), quality_level(result, 2), quality_level(result, 3)};
  for (LevelVerdict& level : result.levels) {
    if (!chosen(result.options, level.level)) {
      level = {};
      level.level = &level - result.levels.data() + 1;
      level.says = "not asked for";
    }
  }
  result.effective_length = result.levels[0].effective_length;
  result.verdict = verdict_of(result);
  const AcceptOptions& options = result.options;
  if (options.price_in > 0.0 || options.price_out > 0.0) {
    result.cost.money = 1e-6 * (options.price_in * static_cast<double>(result.cost.prompt_tokens) +
                                options.price_out * static_cast<double>(result.cost.answer_tokens));
  }
  result.says = {line_of_verdict(result), line_of_levels(result), line_of_limits(result)};
}

Cost cost_of(const std::vector<Sample>& samples) {
  Cost out;
  for (const Sample& sample : samples) {
    out.requests += sample.attempt;
    out.prompt_tokens += sample.reply.prompt_tokens.value_or(
        sample.reply.answered() ? sample.item.tokens_predicted : 0);
    out.answer_tokens += sample.reply.completion_tokens.value_or(0);
    out.errors += !sample.reply.answered() && sample.reply.fault != Fault::Overflow;
    out.seconds += sample.reply.total_ms / 1000.0;
  }
  return out;
}

int exit_status(const Acceptance& acceptance) {
  return acceptance.verdict == Status::Pass ? 0 : 1;
}

}  // namespace gyre::accept
