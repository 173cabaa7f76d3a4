// Log-probabilities come in two shapes: {"content": [{"token", "logprob", "top_logprobs": [...]}]}
// of chats, and four parallel lists of completions. llama.cpp uses the first for both.
#include <algorithm>
#include <cmath>
#include <limits>

#include "gyre/accept/json_reply.h"
#include "gyre/accept/json_value.h"

namespace gyre::accept {

namespace {

void sort_likeliest_first(std::vector<TokenScore>& scores) {
  std::stable_sort(scores.begin(), scores.end(),
                   [](const TokenScore& a, const TokenScore& b) { return a.logprob > b.logprob; });
}

void add_content_shape(const Json& content, std::vector<TokenEntry>& entries) {
  for (const Json& one : content) {
    TokenEntry entry{text_at(one, "token"), number_at(one, "logprob"), {}};
    for (const Json& other : at(one, "top_logprobs")) {
      if (const std::optional<double> value = number_at(other, "logprob")) {
        entry.top.push_back({text_at(other, "token"), *value});
      }
    }
    sort_likeliest_first(entry.top);
    entries.push_back(std::move(entry));
  }
}

/// One entry of the classic "top_logprobs": an object token -> value, or a list of such or of
/// {"token", "logprob"}.
void add_top(const Json& top, TokenEntry& entry) {
  if (top.is_object() && !number_at(top, "logprob")) {
    for (const auto& [token, value] : top.items()) {
      if (value.is_number()) {
        entry.top.push_back({token, value.get<double>()});
      }
    }
  } else if (top.is_object()) {
    entry.top.push_back({text_at(top, "token"), *number_at(top, "logprob")});
  } else if (top.is_array()) {
    for (const Json& one : top) {
      if (one.is_object()) {
        add_top(one, entry);
      }
    }
  }
}

void add_classic_shape(const Json& logprobs, std::vector<TokenEntry>& entries) {
  const Json& tokens = at(logprobs, "tokens");
  const Json& values = at(logprobs, "token_logprobs");
  const Json& tops = at(logprobs, "top_logprobs");
  for (size_t i = 0; values.is_array() && i < values.size(); ++i) {
    TokenEntry entry;
    if (tokens.is_array() && i < tokens.size() && tokens[i].is_string()) {
      entry.text = tokens[i].get<std::string>();
    }
    if (values[i].is_number()) {
      entry.logprob = values[i].get<double>();
    }
    if (tops.is_array() && i < tops.size()) {
      add_top(tops[i], entry);
      sort_likeliest_first(entry.top);
    }
    entries.push_back(std::move(entry));
  }
}

/// Entries of the prompt among all. An echo gives the whole prompt before the answer.
size_t prompt_entries(const Ask& ask, const Parts& parts, bool text_echoed) {
  if (!ask.echo) {
    return 0;
  }
  const size_t n = parts.entries.size();
  const std::optional<int64_t> answer = parts.reply.completion_tokens;
  if (answer && *answer > 0) {  // zero is also what a broken usage says
    return n > static_cast<size_t>(*answer) ? n - static_cast<size_t>(*answer) : 0;
  }
  if (!text_echoed) {
    return 0;
  }
  size_t bytes = 0, i = 0;  // by the text of the tokens
  for (; i < n && bytes < static_cast<size_t>(prompt_bytes(ask)); ++i) {
    bytes += parts.entries[i].text.size();
  }
  return i;
}

std::string trimmed(const std::string& text) {
  // Tokenizers mark the space before a word in their own ways.
  std::string plain = text;
  for (const std::string mark : {"\xe2\x96\x81", "\xc4\xa0"}) {
    if (plain.rfind(mark, 0) == 0) {
      plain = plain.substr(mark.size());
    }
  }
  const size_t from = plain.find_first_not_of(" \n\t");
  return from == std::string::npos ? "" : plain.substr(from);
}

/// The log-probability of the token that begins `candidate`: the longest that does.
std::optional<double> score_of(const std::string& candidate, const std::vector<TokenScore>& top) {
  const std::string wanted = trimmed(candidate);
  std::optional<double> best;
  size_t longest = 0;
  for (const TokenScore& score : top) {
    const std::string token = trimmed(score.text);
    const bool fits = !token.empty() && wanted.rfind(token, 0) == 0;
    // The same word with and without its space: as it is written counts, else the likelier.
    const size_t rank = 2 * token.size() + (candidate.rfind(score.text, 0) == 0 ? 1 : 0);
    if (fits && rank > longest) {
      longest = rank;
      best = score.logprob;
    }
  }
  return best;
}

}  // namespace

void add_logprobs(const Json& choice, std::vector<TokenEntry>& entries) {
  const Json& logprobs = at(choice, "logprobs");
  if (at(logprobs, "content").is_array()) {
    add_content_shape(at(logprobs, "content"), entries);
  } else if (at(logprobs, "token_logprobs").is_array()) {
    add_classic_shape(logprobs, entries);
  }
}

void settle_logprobs(const Ask& ask, Parts& parts) {
  Reply& reply = parts.reply;
  bool echoed = false;
  if (ask.echo && !ask.messages.empty() && !ask.messages.front().content.empty()) {
    const std::string& prompt = ask.messages.front().content;
    echoed = reply.text.rfind(prompt, 0) == 0;
    reply.text = echoed ? reply.text.substr(prompt.size()) : reply.text;
  }
  const size_t n_prompt = prompt_entries(ask, parts, echoed);
  for (size_t i = 0; i < parts.entries.size(); ++i) {
    TokenEntry& entry = parts.entries[i];
    if (i < n_prompt) {
      reply.prompt_logprobs.push_back(entry.logprob);
      continue;
    }
    if (entry.top.empty() && entry.logprob) {
      entry.top.push_back({entry.text, *entry.logprob});
    }
    reply.top.push_back(std::move(entry.top));
  }
  if (ask.candidates.empty()) {
    return;
  }
  // Some tokenizers write the blank before a digit as a token of its own: what follows it counts.
  const auto blank = [](const std::vector<TokenScore>& row) {
    return !row.empty() && trimmed(row.front().text).empty();
  };
  size_t row = 0;
  while (row + 1 < reply.top.size() && blank(reply.top[row])) {
    ++row;
  }
  if (row < reply.top.size() && !reply.top[row].empty()) {
    for (const std::string& candidate : ask.candidates) {
      reply.candidates.push_back(score_of(candidate, reply.top[row]));
    }
    reply.candidate_bound = reply.top[row].back().logprob;
  }
}

}  // namespace gyre::accept
