// Numbered answers: lines, lists, tables and JSON; a list without numbers counts in its order.
#include <algorithm>
#include <cctype>
#include <string_view>

#include "gyre/accept/scoring/answer_text.h"
#include "gyre/accept/scoring/forms.h"
#include "gyre/accept/text/codes.h"

namespace gyre::accept {
namespace {

constexpr size_t kLongestAnswer = 200;  // bytes of a sentence that is an answer and nothing else

/// A code, or "" where the answer says that there is none, and the number before it; 0 = no number.
struct Entry {
  std::string code;
  size_t begin = 0, end = 0;
  int64_t number = 0;
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Codes and the word NONE in the order of the text.
std::vector<Entry> read_entries(const std::string& text) {
  std::vector<Entry> entries;
  for (const auto& found : find_codes(text)) {
    entries.push_back({found.code, found.begin, found.end, 0});
  }
  const std::string low = lower(text);
  const auto is_letter = [&](size_t i) {
    return i < low.size() && std::isalnum(static_cast<unsigned char>(low[i])) != 0;
  };
  for (auto at = low.find("none"); at != std::string::npos; at = low.find("none", at + 4)) {
    if ((at == 0 || !is_letter(at - 1)) && !is_letter(at + 4)) {
      entries.push_back({"", at, at + 4, 0});
    }
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.begin < b.begin; });
  return entries;
}

/// Whether what stands between a number and its code ties them together.
bool ties(std::string_view between) {
  static constexpr std::string_view kWords[] = {"code", "is",      "has",
                                                "the",  "carries", "checkpoint"};
  for (const auto& word : words_of_text(lower(between))) {
    if (std::find(std::begin(kWords), std::end(kWords), word) == std::end(kWords)) {
      return false;
    }
  }
  return true;
}

/// The number that a code belongs to, out of the text since the last code; 0 if there is none.
int64_t number_before(std::string_view gap) {
  size_t end = gap.size();
  while (end > 0 && !is_digit(gap[end - 1])) {
    --end;
  }
  size_t begin = end;
  while (begin > 0 && is_digit(gap[begin - 1])) {
    --begin;
  }
  if (begin == end || end - begin > 6 || !ties(gap.substr(end))) {
    return 0;
  }
  if (gap.find('\n', end) != std::string_view::npos) {  // a heading, unless it is the number alone
    const auto line = gap.rfind('\n', begin);           // npos + 1 = 0: the first line
    if (words_of_text(gap.substr(line + 1, begin - line - 1)).size() > 1) {
      return 0;
    }
  }
  return std::stoll(std::string(gap.substr(begin, end - begin)));
}

std::vector<Entry> numbered_entries(const std::string& text) {
  auto entries = read_entries(text);
  size_t last = 0;
  for (auto& entry : entries) {
    entry.number = number_before(std::string_view(text).substr(last, entry.begin - last));
    last = entry.end;
  }
  return entries;
}

bool has_numbers(const std::vector<Entry>& entries) {
  return std::any_of(entries.begin(), entries.end(),
                     [](const Entry& entry) { return entry.number > 0; });
}

/// Whether the text begins with a list: a number or a code, after one line that announces it at
/// most.
bool begins_with_a_list(const std::string& text) {
  std::string rest = text;
  for (int line = 0; line < 2; ++line) {
    const auto words = words_of_text(lower(rest.substr(0, rest.find('\n'))));
    const size_t at = !words.empty() && words[0] == "checkpoint" ? 1 : 0;
    if (at < words.size() && std::all_of(words[at].begin(), words[at].end(), is_digit)) {
      return true;
    }
    const auto codes = find_codes(rest);
    if (!codes.empty() && words_of_text(rest.substr(0, codes[0].begin)).empty()) {
      return true;
    }
    const auto end = rest.find('\n');
    if (end == std::string::npos || trimmed(rest.substr(0, end)).back() != ':') {
      return false;
    }
    rest = trimmed(rest.substr(end));
  }
  return false;
}

bool is_list_complete(const Item& item, const std::string& text) {
  const auto entries = numbered_entries(text);
  const auto n = std::ssize(item.gold);
  if (!begins_with_a_list(text)) {
    return false;
  }
  if (!has_numbers(entries)) {
    return std::ssize(entries) >= n;
  }
  return std::any_of(entries.begin(), entries.end(),
                     [&](const Entry& entry) { return entry.number == n; });
}

/// Whether a sentence is an answer and nothing but the words that may go with one.
bool is_bare(const Item& item, const std::string& sentence) {
  static constexpr std::string_view kWords[] = {
      "the",        "code",     "is",  "answer",   "final", "correct", "identifier", "none",
      "consistent", "conflict", "and", "variable", "digit", "last",    "it",         "checkpoint"};
  if (sentence.size() > kLongestAnswer) {
    return false;
  }
  std::string rest = sentence;
  bool value = says_none(sentence);
  const auto codes = find_codes(sentence);
  for (auto code = codes.rbegin(); code != codes.rend(); ++code) {
    rest.erase(code->begin, code->end - code->begin);
    value = true;
  }
  for (const auto& word : words_of_text(rest)) {
    const bool short_value = (item.form == AnswerForm::Digit && is_digit(word[0])) ||
                             (item.form == AnswerForm::Word && word.size() <= 3 &&
                              word == std::string(word) && lower(word) != word);
    if (short_value) {
      value = true;
    } else if (std::find(std::begin(kWords), std::end(kWords), lower(word)) == std::end(kWords)) {
      return false;
    }
  }
  return value;
}

}  // namespace

std::vector<std::string> numbered_codes(const std::string& text, int64_t n) {
  std::vector<std::string> codes(static_cast<size_t>(std::max<int64_t>(0, n)));
  const auto entries = numbered_entries(text);
  const bool numbered = has_numbers(entries);
  int64_t place = 0;
  for (const auto& entry : entries) {
    const int64_t number = numbered ? entry.number : ++place;
    if (number >= 1 && number <= n && codes[size_t(number - 1)].empty()) {
      codes[size_t(number - 1)] = entry.code;
    }
  }
  return codes;
}

Judgement judge_numbered(const Item& item, const std::string& text) {
  const auto said = numbered_codes(text, std::ssize(item.gold));
  Judgement judgement;
  bool wrong = false, all = true, any = false;
  std::vector<std::string> extra;
  for (size_t i = 0; i < said.size(); ++i) {
    judgement.found += (i == 0 ? "" : " ") + (said[i].empty() ? "NONE" : said[i]);
    any = any || !said[i].empty();
    all = all && said[i] == item.gold[i];
    if (!said[i].empty() && said[i] != item.gold[i]) {
      wrong = true;
      extra.push_back(said[i]);
    }
  }
  for (const auto& found : find_codes(text)) {
    extra.push_back(found.code);
  }
  const Verdict codes = compare_codes(item, extra);
  if (!any) {
    judgement.verdict = extra.empty() ? without_value(item, text) : Verdict::Format;
  } else if (codes == Verdict::Dump) {
    judgement.verdict = Verdict::Dump;
  } else if (wrong) {
    judgement.verdict = codes == Verdict::WrongCode ? codes : Verdict::Distractor;
  } else {
    judgement.verdict = all ? Verdict::Ok : Verdict::Partial;
  }
  return judgement;
}

bool is_complete(const Item& item, const std::string& text) {
  if (item.form == AnswerForm::Numbered) {
    return is_list_complete(item, text);
  }
  return item.form != AnswerForm::Free && is_bare(item, first_sentence(text));
}

}  // namespace gyre::accept
