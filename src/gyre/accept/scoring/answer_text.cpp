// Patterns of answers in words. No model judges another: what matches none of these is no answer.
#include "gyre/accept/scoring/answer_text.h"

#include <algorithm>
#include <cctype>

namespace gyre::accept {
namespace {

struct Tags {
  std::string_view open, close;  // lower case
};
constexpr Tags kThinking[] = {{"<think>", "</think>"},
                              {"<thinking>", "</thinking>"},
                              {"<thought>", "</thought>"},
                              {"<reasoning>", "</reasoning>"},
                              {"<seed:think>", "</seed:think>"},
                              {"[think]", "[/think]"},
                              {"<|begin_of_thought|>", "<|end_of_thought|>"},
                              {"<|channel|>analysis", "<|channel|>final<|message|>"}};

constexpr std::string_view kNone[] = {
    "not mention",     "not say",          "not specif",      "not state",
    "not contain",     "not provide",      "not include",     "not given",
    "not listed",      "not found",        "not present",     "not available",
    "not appear",      "not in the text",  "no code",         "no such",
    "no record",       "no information",   "no mention",      "no identifier",
    "cannot find",     "can't find",       "could not find",  "couldn't find",
    "unable to find",  "cannot determine", "can't determine", "cannot be determined",
    "doesn't say",     "doesn't mention",  "doesn't contain", "doesn't specify",
    "isn't mentioned", "no answer",        "unknown",         "n/a"};

constexpr std::string_view kRefusals[] = {
    "i'm sorry",  "i am sorry",      "i apologi",        "i cannot",     "i can't",
    "i can not",  "i'm unable",      "i am unable",      "i won't",      "i will not",
    "as an ai",   "i'm not able to", "i am not able to", "can't assist", "cannot assist",
    "can't help", "cannot help"};

bool is_space(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}
bool is_alnum(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

template <size_t N>
bool has_any(const std::string& text, const std::string_view (&phrases)[N]) {
  return std::any_of(std::begin(phrases), std::end(phrases), [&](std::string_view phrase) {
    return text.find(phrase) != std::string::npos;
  });
}

/// Small letters; typographic apostrophes become plain ones.
std::string plain(std::string_view text) {
  std::string made;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool quote = text.substr(i, 3) == "\u2019";
    made += quote ? '\'' : char(std::tolower(static_cast<unsigned char>(text[i])));
    i += quote ? 2 : 0;
  }
  return made;
}

/// Takes one kind of tag out of the text, in one pass whatever a hostile answer holds.
void take_out(Spoken& spoken, const Tags& tags) {
  constexpr auto kNowhere = std::string::npos;
  const std::string low = lower(spoken.text);
  const std::string_view text = spoken.text;
  std::string kept;
  size_t at = 0, open = low.find(tags.open);
  for (auto close = low.find(tags.close); close != kNowhere; close = low.find(tags.close, at)) {
    if (open < close) {
      kept += text.substr(at, open - at);
    } else {
      kept.clear();  // the template had opened it: all before was thinking
    }
    at = close + tags.close.size();
    open = open < at ? low.find(tags.open, at) : open;
  }
  spoken.unfinished = spoken.unfinished || open != kNowhere;
  kept += text.substr(at, open == kNowhere ? kNowhere : open - at);
  spoken.text = std::move(kept);
}

}  // namespace

std::string lower(std::string_view text) {
  std::string made(text);
  for (char& c : made) {
    c = char(std::tolower(static_cast<unsigned char>(c)));
  }
  return made;
}

std::string trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_space(text.back())) {
    text.remove_suffix(1);
  }
  return std::string(text);
}

std::vector<std::string> words_of_text(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;
  for (const char c : text) {
    if (is_alnum(c)) {
      if (!inside) {
        words.emplace_back();
      }
      words.back() += c;
    }
    inside = is_alnum(c);
  }
  return words;
}

Spoken without_thinking(std::string_view answer) {
  Spoken spoken{std::string(answer), false};
  for (const auto& tags : kThinking) {
    take_out(spoken, tags);
  }
  spoken.text = trimmed(spoken.text);
  return spoken;
}

bool says_none(std::string_view text) {
  const std::string low = plain(text);
  const auto words = words_of_text(low);
  return std::find(words.begin(), words.end(), "none") != words.end() || has_any(low, kNone);
}

bool refuses(std::string_view text) {
  return has_any(plain(text), kRefusals);
}

std::string first_sentence(std::string_view text) {
  std::string line = trimmed(text);
  line = line.substr(0, line.find('\n'));
  return trimmed(line.substr(0, line.find(". ")));
}

bool ran_out(std::string_view finish) {
  const std::string low = lower(finish);
  return low == "length" || low == "max_tokens" || low == "max_length" || low == "token_limit";
}

}  // namespace gyre::accept
