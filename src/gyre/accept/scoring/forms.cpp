// Codes, digits, words, agreement, ranking: each read by patterns and compared with the gold.
#include "gyre/accept/scoring/forms.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "gyre/accept/scoring/answer_text.h"
#include "gyre/accept/text/codes.h"
#include "gyre/accept/text/filler.h"

namespace gyre::accept {
namespace {

constexpr size_t kDump = 2;    // codes beyond the wanted ones that are still an answer
constexpr size_t kShown = 40;  // codes that are told of

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (size_t i = 0; i < std::min(parts.size(), kShown); ++i) {
    text += (text.empty() ? "" : " ") + parts[i];
  }
  return text;
}

std::vector<std::string> unique(const std::vector<std::string>& codes) {
  std::vector<std::string> kept;
  std::set<std::string_view> seen;
  for (const auto& code : codes) {
    if (seen.insert(code).second) {
      kept.push_back(code);
    }
  }
  return kept;
}

bool is_distractor(const Item& item, const std::string& code) {
  return std::any_of(item.distractors.begin(), item.distractors.end(),
                     [&](const Distractor& distractor) { return distractor.code == code; });
}

bool is_wanted(const Item& item, const std::string& code) {
  return std::find(item.gold.begin(), item.gold.end(), code) != item.gold.end();
}

/// A single digit at the start, unless a sum begins there; else the last number; else a number
/// word.
std::string read_digit(const std::string& text) {
  static constexpr const char* kWords[] = {"zero", "one", "two",   "three", "four",
                                           "five", "six", "seven", "eight", "nine"};
  const auto words = words_of_text(text);
  const auto is_number = [](const std::string& word) {
    return std::all_of(word.begin(), word.end(),
                       [](unsigned char c) { return std::isdigit(c) != 0; });
  };
  if (!words.empty() && words[0].size() == 1 && is_number(words[0])) {
    const auto next = text.find_first_not_of(" *_`\"'", text.find(words[0]) + 1);
    if (next == std::string::npos || std::string("+,-=&").find(text[next]) == std::string::npos) {
      return words[0];
    }
  }
  for (auto word = words.rbegin(); word != words.rend(); ++word) {
    if (is_number(*word)) {
      return *word;
    }
  }
  for (auto word = words.rbegin(); word != words.rend(); ++word) {
    for (int digit = 0; digit < 10; ++digit) {
      if (lower(*word) == kWords[digit]) {
        return std::to_string(digit);
      }
    }
  }
  return "";
}

/// "CONSISTENT", "CONFLICT" or "": the first that is written in capitals, else in other words.
std::string read_class(const std::string& text) {
  for (const auto& word : words_of_text(text)) {
    if (word == "CONSISTENT" || word == "CONFLICT") {
      return word;
    }
  }
  const std::string low = lower(text);
  const auto has = [&](const char* word) { return low.find(word) != std::string::npos; };
  if (has("no conflict") || has("not conflict") || has("no contradiction")) {
    return "CONSISTENT";
  }
  if (has("conflict") || has("inconsistent") || has("disagree") || has("not agree") ||
      has("contradict")) {
    return "CONFLICT";
  }
  return has("consistent") || has("agree") ? "CONSISTENT" : "";
}

bool looks_like_a_name(const std::string& word) {
  const bool capital =
      std::none_of(word.begin(), word.end(), [](unsigned char c) { return std::islower(c) != 0; });
  const bool digit =
      std::any_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  return capital && word.size() <= 6 && (digit || word.size() > 1);
}

}  // namespace

Verdict without_value(const Item& item, const std::string& text) {
  if (says_none(text)) {
    return item.gold.empty() ? Verdict::Ok : Verdict::NoneSaid;
  }
  return refuses(text) ? Verdict::Refusal : Verdict::Format;
}

Verdict compare_codes(const Item& item, const std::vector<std::string>& codes) {
  const auto said = unique(codes);
  const auto wanted = std::count_if(said.begin(), said.end(),
                                    [&](const std::string& code) { return is_wanted(item, code); });
  if (wanted == std::ssize(said)) {
    return said.size() == item.gold.size() ? Verdict::Ok : Verdict::Partial;
  }
  if (said.size() > item.gold.size() + kDump) {
    return Verdict::Dump;
  }
  const bool known = std::all_of(said.begin(), said.end(), [&](const std::string& code) {
    return is_wanted(item, code) || is_distractor(item, code);
  });
  return known ? Verdict::Distractor : Verdict::WrongCode;
}

Judgement judge_codes(const Item& item, const std::string& text) {
  const auto codes = codes_in(text);
  if (codes.empty()) {
    const Verdict verdict = without_value(item, text);
    return {verdict, verdict == Verdict::Format || verdict == Verdict::Refusal ? "" : "NONE"};
  }
  return {compare_codes(item, codes), joined(unique(codes))};
}

Judgement judge_digit(const Item& item, const std::string& text) {
  const std::string digit = read_digit(text);
  const bool none = says_none(text);
  if (digit.empty() || (none && digit.size() > 1)) {
    return {without_value(item, text), none ? "NONE" : ""};
  }
  return {is_wanted(item, digit) ? Verdict::Ok : Verdict::WrongCode, digit};
}

Judgement judge_word(const Item& item, const std::string& text) {
  const auto asked = item.dials.find("asked");
  auto words = words_of_text(text);
  if (words.size() == 1) {  // alone it may stand in small letters
    std::transform(words[0].begin(), words[0].end(), words[0].begin(),
                   [](unsigned char c) { return char(std::toupper(c)); });
  }
  std::set<std::string> said;
  std::string other;
  for (const auto& word : words) {
    if (is_wanted(item, word) || is_distractor(item, word)) {
      said.insert(word);
    } else if (looks_like_a_name(word) && lower(word) != "none" &&
               (asked == item.dials.end() || word != asked->second)) {
      other = word;
    }
  }
  if (!said.empty()) {
    const std::vector<std::string> names(said.begin(), said.end());
    return {names == item.gold ? Verdict::Ok : Verdict::Distractor, joined(names)};
  }
  if (says_none(text) || other.empty()) {
    return {without_value(item, text), says_none(text) ? "NONE" : ""};
  }
  return {Verdict::WrongCode, other};
}

Judgement judge_agreement(const Item& item, const std::string& text) {
  const std::string said = read_class(text);
  const auto codes = unique(codes_in(text));
  if (said.empty() && codes.empty()) {
    return {without_value(item, text), says_none(text) ? "NONE" : ""};
  }
  const std::string found = trimmed(said + " " + joined(codes));
  if (codes.empty() && says_none(text)) {
    return {item.gold.empty() ? Verdict::Ok : Verdict::NoneSaid, found};
  }
  if (item.gold.empty()) {
    return {codes.empty() ? Verdict::WrongCode : compare_codes(item, codes), found};
  }
  if (said.empty() || codes.empty()) {
    return {Verdict::Format, found};
  }
  const Verdict verdict = compare_codes(item, codes);
  const bool right = said == (item.gold.size() > 1 ? "CONFLICT" : "CONSISTENT");
  return {verdict == Verdict::Ok && !right ? Verdict::WrongCode : verdict, found};
}

Judgement judge_ranking(const Item& item, const Reply& reply) {
  std::string best;
  double most = 0.0;
  for (size_t i = 0; i < reply.candidates.size() && i < item.ask.candidates.size(); ++i) {
    if (reply.candidates[i] && (best.empty() || *reply.candidates[i] > most)) {
      most = *reply.candidates[i];
      best = trimmed(item.ask.candidates[i]);
    }
  }
  if (best.empty()) {
    return {Verdict::Format, ""};
  }
  if (item.gold.empty() || is_wanted(item, best)) {  // without evidence any ranking is an answer
    return {Verdict::Ok, best};
  }
  return {is_distractor(item, best) ? Verdict::Distractor : Verdict::WrongCode, best};
}

}  // namespace gyre::accept
