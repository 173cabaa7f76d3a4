#include "gyre/accept/level1/seen.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>

#include "gyre/accept/scoring.h"
#include "gyre/accept/text/codes.h"
#include "gyre/accept/text/filler.h"
#include "gyre/base/error.h"

namespace gyre::accept {

namespace {

int64_t hamming(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) {
    return int64_t(std::max(a.size(), b.size()));
  }
  int64_t n = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    n += a[i] != b[i];
  }
  return n;
}

Outcome outcome_of_fault(const Reply& reply) {
  switch (reply.fault) {
    case Fault::Overflow:
      return reply.http >= 500 ? Outcome::Failed : Outcome::Refused;
    case Fault::Client:
      return reply.http == 413 || reply.http == 422 ? Outcome::Refused : Outcome::Failed;
    case Fault::RateLimit:
      return Outcome::Rate;
    default:
      return Outcome::Failed;
  }
}

/// Codes by asked checkpoint; an item that asks for one has its last code, of two at most.
std::vector<std::string> codes_by_checkpoint(const Item& item, const std::string& text) {
  if (item.gold.size() == 1) {
    const auto all = codes_in(text);
    return {!all.empty() && all.size() <= 2 ? all.back() : std::string()};
  }
  return numbered_codes(text, int64_t(item.gold.size()));
}

/// Codes with a number right before them: "7: KX7-3QD", "| 7 | KX7-3QD".
int64_t numbered_count(const std::string& text) {
  int64_t n = 0;
  for (const FoundCode& found : find_codes(text)) {
    size_t at = found.begin;
    while (at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0 &&
           text[at - 1] != '\n') {
      --at;
    }
    n += at > 0 && at < found.begin && std::isdigit(static_cast<unsigned char>(text[at - 1])) != 0;
  }
  return n;
}

void read_codes(Seen& seen) {
  const auto& gold = seen.sample.item.gold;
  auto codes = codes_by_checkpoint(seen.sample.item, seen.text);
  codes.resize(gold.size());
  const auto all = codes_in(seen.text);
  const bool none_numbered = gold.size() > 1 && 2 * numbered_count(seen.text) < int64_t(all.size());
  seen.near_miss = true;
  for (size_t i = 0; i < gold.size(); ++i) {
    const bool right = codes[i] == gold[i];
    seen.stripes.push_back(right ? 1 : 0);
    seen.near_miss = seen.near_miss && (right || hamming(codes[i], gold[i]) == 1);
  }
  seen.unnumbered = none_numbered && !all.empty();
  // Heaps of codes, one span over and over and noise are no answers.
  const bool heap = gold.size() == 1 && all.size() > 2;
  const bool noise =
      is_gibberish(seen.text) || (seen.text.size() > 24 && repetition(seen.text) > 0.5);
  seen.degenerate = heap || (all.empty() && noise);
}

}  // namespace

bool Seen::cut() const {
  return reply().finish == "length";
}

int64_t Seen::right() const {
  return std::count(stripes.begin(), stripes.end(), 1);
}

int64_t Seen::tokens() const {
  return counted_otherwise() ? predicted : reported.value_or(predicted);
}

bool Seen::counted_less() const {
  return counted_otherwise() && *reported > 0 && *reported < predicted;
}

bool Seen::counted_otherwise() const {
  return calibrated && reported &&
         std::abs(*reported - predicted) > Calibration::tolerance(predicted);
}

std::string without_thoughts(const std::string& text, bool* found) {
  static const char* const kOpen[] = {"<think>", "<thinking>", "<|channel|>analysis"};
  static const char* const kClose[] = {"</think>", "</thinking>", "<|channel|>final<|message|>"};
  if (found != nullptr) {
    *found = false;
  }
  for (size_t i = 0; i < std::size(kOpen); ++i) {
    const size_t open = text.find(kOpen[i]);
    const size_t close = text.find(kClose[i]);
    if (open == std::string::npos && close == std::string::npos) {
      continue;
    }
    if (found != nullptr) {
      *found = true;
    }
    if (close == std::string::npos) {
      return text.substr(0, open);
    }
    return text.substr(close + std::string(kClose[i]).size());
  }
  return text;
}

Seen see(const Sample& sample, const Calibration& calibration) {
  Seen seen;
  seen.sample = sample;
  seen.predicted = calibration.tokens_for(prompt_bytes(sample.item.ask));
  seen.calibrated = calibration.source != "guess";
  const Reply& reply = sample.reply;
  seen.reported = reply.prompt_tokens;
  if (!reply.answered()) {
    seen.outcome = outcome_of_fault(reply);
    seen.stripes.assign(sample.item.gold.size(), -1);
    return seen;
  }
  seen.text = without_thoughts(reply.text, &seen.thinks_in_content);
  const auto blank = [](const std::string& text) {
    return text.find_first_not_of(" \t\r\n") == std::string::npos;
  };
  if (blank(seen.text) && !seen.thinks_in_content && !blank(reply.reasoning)) {
    seen.only_reasoning = true;
    seen.text = reply.reasoning;
  }
  if (blank(seen.text)) {
    seen.outcome = Outcome::Empty;
    seen.stripes.assign(sample.item.gold.size(), -1);
    return seen;
  }
  read_codes(seen);
  seen.outcome = seen.wrong() == 0   ? Outcome::Kept
                 : seen.right() == 0 ? Outcome::Wrong
                                     : Outcome::Lost;
  return seen;
}

const char* name_of(Shape shape) {
  switch (shape) {
    case Shape::Whole:
      return "whole";
    case Shape::Head:
      return "head";
    case Shape::Middle:
      return "middle";
    case Shape::Tail:
      return "tail";
    case Shape::Scattered:
      return "scattered";
    case Shape::All:
      return "all";
  }
  return "whole";
}

Gap gap_of(const std::vector<int>& stripes) {
  Gap gap;
  const auto n = int64_t(stripes.size());
  const auto missing = int64_t(std::count(stripes.begin(), stripes.end(), 0));
  if (missing == 0) {
    return gap;
  }
  if (missing == n) {
    return {Shape::All, 0, n - 1};
  }
  gap.first = std::find(stripes.begin(), stripes.end(), 0) - stripes.begin();
  gap.last = n - 1 - (std::find(stripes.rbegin(), stripes.rend(), 0) - stripes.rbegin());
  const int64_t strays = gap.last - gap.first + 1 - missing;
  const bool one_run = strays == 0 || (strays == 1 && missing >= 4);
  gap.shape = !one_run            ? Shape::Scattered
              : gap.first == 0    ? Shape::Head
              : gap.last + 1 == n ? Shape::Tail
                                  : Shape::Middle;
  return gap;
}

std::string words(const Gap& gap, size_t n_stripes) {
  if (gap.shape == Shape::Whole) {
    return str("no stripe of ", n_stripes);
  }
  if (gap.first == gap.last) {
    return str("stripe ", gap.first + 1, " of ", n_stripes);
  }
  return str("stripes ", gap.first + 1, "-", gap.last + 1, " of ", n_stripes);
}

std::optional<double> difference(const Reply& a, const Reply& b) {
  std::optional<double> most;
  for (size_t i = 0; i < std::min(a.top.size(), b.top.size()); ++i) {
    std::map<std::string, double> known;
    for (const TokenScore& score : a.top[i]) {
      known.emplace(score.text, score.logprob);
    }
    for (const TokenScore& score : b.top[i]) {
      const auto found = known.find(score.text);
      if (found != known.end()) {
        most = std::max(most.value_or(0.0), std::abs(found->second - score.logprob));
      }
    }
    // After the first token that differs the texts are different ones.
    if (!a.top[i].empty() && !b.top[i].empty() && a.top[i][0].text != b.top[i][0].text) {
      break;
    }
  }
  return most;
}

}  // namespace gyre::accept
