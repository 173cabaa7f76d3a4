#include "gyre/accept/http_error.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "gyre/accept/json_value.h"

namespace gyre::accept {

namespace {

constexpr size_t kMostWords = 2000;  // bytes of a message that are looked at

std::string lower(std::string_view text) {
  std::string low(text.substr(0, kMostWords));
  std::transform(low.begin(), low.end(), low.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return low;
}

template <size_t N>
bool has_any(const std::string& text, const std::array<const char*, N>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return text.find(word) != std::string::npos; });
}

constexpr std::array kOverflowWords{"context_length_exceeded",
                                    "exceed_context_size",
                                    "context length",
                                    "context size",
                                    "context window",
                                    "maximum prompt length",
                                    "prompt is too long",
                                    "prompt too long",
                                    "input is too long",
                                    "input length",
                                    "reduce the length",
                                    "model token limit",
                                    "maximum number of tokens",
                                    "too many tokens",
                                    "max_new_tokens` must be <=",
                                    "`inputs` must have less than",
                                    "exceeds the maximum number of input tokens",
                                    "max_total_tokens",
                                    "kv cache is full",
                                    "request entity too large",
                                    "payload too large",
                                    "index out of range in self"};  // past a table of positions
constexpr std::array kRateWords{"per min",  "(tpm)",      "(tpd)",      "(rpm)",     "per day",
                                "per hour", "rate limit", "rate_limit", "per-minute"};
constexpr std::array kNeverWords{"insufficient_quota", "exceeded your current quota",
                                 "insufficient credits", "billing"};

/// A number between two pieces of text, lower case. The first pattern of a list that fits counts.
struct Pattern {
  const char* before;
  const char* after;
};

constexpr std::array kLimitPatterns{
    Pattern{"maximum context length is ", ""},
    Pattern{"maximum context length of ", ""},
    Pattern{"context length of only ", ""},
    Pattern{"context length is only ", ""},
    Pattern{"available context size (", " token"},
    Pattern{"context length (", " token"},
    Pattern{"context size (", ""},
    Pattern{"context window (", ""},
    Pattern{"model with ", " maximum context length"},
    Pattern{"maximum prompt length is ", ""},
    Pattern{"> ", " maximum"},
    Pattern{"input length should be [1, ", "]"},
    Pattern{"token limit: ", ""},
    Pattern{"must be <= ", ""},
    Pattern{"must have less than ", " tokens"},
    Pattern{"context window of ", ""},
    Pattern{"context size of ", ""},
    Pattern{"context length of ", ""},
    Pattern{"context length is ", ""},
    Pattern{"maximum of ", " tokens"},
    Pattern{"limit of ", " tokens"},
    Pattern{"token limit of ", ""},
    Pattern{"limit ", ""},
    Pattern{"limit: ", ""},
};
constexpr std::array kAskedPatterns{
    Pattern{"(", " in the messages"},
    Pattern{"(", " in the prompt"},
    Pattern{"(", " in your prompt"},
    Pattern{"tokens: ", " tokens from the input"},
    Pattern{"your request has ", " input tokens"},
    Pattern{"resulted in ", " tokens"},
    Pattern{"request (", " tokens)"},
    Pattern{"input (", " tokens)"},
    Pattern{"given: ", ""},
    Pattern{"requested: ", ""},
    Pattern{"contains ", " tokens"},
    Pattern{"too long: ", " tokens"},
    Pattern{"the first ", " tokens"},
    Pattern{"requested a total of ", " tokens"},
    Pattern{"you requested ", " tokens"},
    Pattern{"requested ", ""},
    Pattern{"request has ", " tokens"},
    Pattern{"prompt has ", " tokens"},
};

/// A whole number at `from`, "16,384" and "16_384" too; moves `from` behind it.
std::optional<int64_t> read_count(const std::string& text, size_t& from) {
  int64_t value = 0;
  size_t i = from;
  const auto digit = [&](size_t at) {
    return at < text.size() && text[at] >= '0' && text[at] <= '9';
  };
  for (; i < text.size() && value < 1'000'000'000'000; ++i) {
    if (digit(i)) {
      value = 10 * value + (text[i] - '0');
    } else if ((text[i] != ',' && text[i] != '_') || !digit(i + 1) || !digit(i + 2) ||
               !digit(i + 3) || i == from) {
      break;
    }
  }
  const bool any = i > from;
  from = i;
  return any ? std::optional(value) : std::nullopt;
}

std::optional<int64_t> match(const std::string& text, const Pattern& pattern) {
  const std::string before = pattern.before, after = pattern.after;
  for (size_t at = text.find(before); at != std::string::npos; at = text.find(before, at + 1)) {
    size_t from = at + before.size();
    const std::optional<int64_t> value = read_count(text, from);
    if (value && text.compare(from, after.size(), after) == 0) {
      return value;
    }
  }
  return std::nullopt;
}

template <size_t N>
std::optional<int64_t> first_match(const std::string& text,
                                   const std::array<Pattern, N>& patterns) {
  for (const Pattern& pattern : patterns) {
    if (const std::optional<int64_t> value = match(text, pattern)) {
      return value;
    }
  }
  return std::nullopt;
}

std::string without_tags(std::string_view page) {
  std::string text;
  bool inside = false;
  for (const char c : page.substr(0, 4 * kMostWords)) {
    inside = inside || c == '<';
    if (!inside) {
      text += c;
    } else if (c == '>') {
      inside = false;
      text += ' ';
    }
  }
  return text;
}

/// "detail" of FastAPI: a text, or a list of {"loc", "msg"}.
std::string detail_text(const Json& detail) {
  if (detail.is_string()) {
    return detail.get<std::string>();
  }
  if (detail.is_array() && !detail.empty()) {
    const std::string text = text_at(detail.front(), "msg");
    return text.empty() ? detail.dump(-1, ' ', false, Json::error_handler_t::replace) : text;
  }
  return text_at(detail, "message");
}

void add_kind(const Json& object, ErrorWords& words) {
  for (const char* key : {"type", "error_type", "code", "reason"}) {
    const std::string text = text_at(object, key);
    words.kind += text.empty() ? "" : text + " ";
    if (std::string(key) == "code") {
      const std::optional<int64_t> number = count_at(object, key);
      words.code =
          number && *number >= 100 && *number < 600 ? static_cast<int>(*number) : words.code;
    }
  }
  for (const char* key : {"n_ctx", "max_context_length", "context_length"}) {
    words.limit = words.limit ? words.limit : count_at(object, key);
  }
  for (const char* key : {"n_prompt_tokens", "prompt_tokens"}) {
    words.asked = words.asked ? words.asked : count_at(object, key);
  }
}

std::string compact(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<ErrorWords> words_of(const Json& body) {
  ErrorWords words;
  const Json& error = at(body, "error");
  if (error.is_object()) {
    words.message = text_at(error, "message");
    const std::string raw = text_at(at(error, "metadata"), "raw");
    words.message += raw.empty() ? "" : " " + raw;
    words.message = words.message.empty() ? compact(error) : words.message;
    add_kind(error, words);
  } else if (error.is_string()) {
    words.message = error.get<std::string>();
  } else if (!error.is_null()) {
    words.message = compact(error);
  } else if (!at(body, "detail").is_null()) {
    words.message = detail_text(at(body, "detail"));
  } else if (text_at(body, "object") == "error" || !text_at(body, "message").empty()) {
    words.message = text_at(body, "message");
  } else {
    return std::nullopt;
  }
  add_kind(body, words);
  return words;
}

Fault fault_of_status(int status) {
  if (status == 401 || status == 403) {
    return Fault::Auth;
  }
  if (status == 429 || status == 503 || status == 529) {
    return Fault::Busy;
  }
  if (status == 413) {
    return Fault::Overflow;
  }
  const bool transient = status == 408 || status == 425 || status >= 500 || status < 300;
  return transient ? Fault::Server : Fault::Client;
}

}  // namespace

std::optional<ErrorWords> error_words(std::string_view body) {
  if (const std::optional<Json> json = parse_json(body)) {
    return words_of(*json);
  }
  ErrorWords words;
  words.message = body.find('<') == std::string_view::npos ? std::string(body.substr(0, kMostWords))
                                                           : without_tags(body);
  return words;
}

void classify(const ErrorWords& words, int status, Reply& reply) {
  const std::string text = lower(words.kind + words.message);
  const bool rate = has_any(text, kRateWords);
  const std::string message = lower(words.message);
  reply.limit_tokens = words.limit ? words.limit : first_match(message, kLimitPatterns);
  reply.asked_tokens = words.asked ? words.asked : first_match(message, kAskedPatterns);
  const bool in_answer = status >= 200 && status < 300;
  reply.fault = fault_of_status(in_answer && words.code != 0 ? words.code : status);
  if (in_answer && reply.fault == Fault::Client) {
    reply.fault = Fault::Server;
  }
  if (rate && reply.fault != Fault::Auth) {
    const bool never =
        reply.limit_tokens && reply.asked_tokens && *reply.asked_tokens > *reply.limit_tokens;
    reply.fault = never ? Fault::RateLimit : Fault::Busy;
  } else if (reply.fault != Fault::Auth && reply.fault != Fault::Busy &&
             has_any(text, kOverflowWords)) {
    reply.fault = Fault::Overflow;
  } else if (reply.fault == Fault::Busy && has_any(text, kNeverWords)) {
    reply.fault = Fault::Client;
  }
  if (reply.fault != Fault::Overflow && reply.fault != Fault::RateLimit) {
    reply.limit_tokens.reset();
    reply.asked_tokens.reset();
  }
  reply.fault_text = one_line(words.message.empty() ? words.kind : words.message);
  if (reply.fault_text.empty()) {
    reply.fault_text = "HTTP " + std::to_string(status) + " without words";
  }
  if (reply.retry_after_s < 0 && reply.fault == Fault::Busy) {
    reply.retry_after_s = retry_after_in(words.message);
  }
}

}  // namespace gyre::accept
