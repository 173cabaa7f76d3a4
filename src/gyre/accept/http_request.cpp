#include "gyre/accept/http_request.h"

#include <algorithm>
#include <cctype>

#include "gyre/accept/json_value.h"
#include "gyre/base/error.h"

namespace gyre::accept {

namespace {

constexpr int64_t kTopForCandidates = 20;  // what OpenAI allows at most

int64_t wanted_top(const Ask& ask, const Manner& manner) {
  int64_t top =
      ask.candidates.empty() ? ask.top_logprobs : std::max(ask.top_logprobs, kTopForCandidates);
  top = ask.echo ? std::max<int64_t>(top, 1) : top;
  return std::min(top, manner.most_logprobs);
}

void add_prompt(const Ask& ask, Json& body) {
  if (ask.api == Api::Completions) {
    body["prompt"] = ask.messages.empty() ? "" : ask.messages.front().content;
    return;
  }
  Json& messages = body["messages"] = Json::array();
  for (const Message& message : ask.messages) {
    messages.push_back({{"role", message.role}, {"content", message.content}});
  }
}

void add_logprobs(const Ask& ask, int64_t top, Json& body) {
  if (top <= 0) {
    return;
  }
  if (ask.api == Api::Chat) {
    body["logprobs"] = true;
    body["top_logprobs"] = top;
  } else {
    body["logprobs"] = top;
  }
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool says(const std::string& text, const char* words) {
  return text.find(words) != std::string::npos;
}

/// The largest whole number in the text that is smaller than `asked`; 0 = none.
int64_t smaller_number(const std::string& text, int64_t asked) {
  int64_t best = 0, value = -1;
  for (const char c : text + " ") {
    if (c >= '0' && c <= '9' && value < 1'000'000) {
      value = 10 * std::max<int64_t>(value, 0) + (c - '0');
    } else {
      best = value > 0 && value < asked ? std::max(best, value) : best;
      value = -1;
    }
  }
  return best;
}

}  // namespace

bool streams(const Ask& ask, const Manner& manner) {
  return manner.stream && !ask.echo;  // an echo has nothing to wait for
}

std::string request_body(const Ask& ask, const Manner& manner, const std::string& send) {
  Json body{{"temperature", 0}};
  if (!manner.model.empty()) {
    body["model"] = manner.model;
  }
  add_prompt(ask, body);
  body[manner.max_completion_tokens ? "max_completion_tokens" : "max_tokens"] = ask.max_tokens;
  add_logprobs(ask, wanted_top(ask, manner), body);
  if (ask.echo && ask.api == Api::Completions) {
    body["echo"] = true;
  }
  if (ask.cold && manner.cache_prompt) {
    body["cache_prompt"] = false;
  }
  body["stream"] = streams(ask, manner);
  if (streams(ask, manner) && manner.usage_option) {
    body["stream_options"] = {{"include_usage", true}};
  }
  if (!send.empty()) {
    body.merge_patch(Json::parse(send));
  }
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool give_way(const Ask& ask, const Reply& reply, Manner& manner) {
  const bool refused = reply.fault == Fault::Client || reply.http == 501;
  const std::string text = lower(reply.fault_text);
  if (!refused) {
    return false;
  }
  if (says(text, "max_completion_tokens") && !manner.max_completion_tokens) {
    return manner.max_completion_tokens = true;
  }
  if (says(text, "stream_options") || says(text, "include_usage")) {
    const bool changed = streams(ask, manner) && manner.usage_option;
    manner.usage_option = false;
    return changed;
  }
  if (says(text, "stream") && streams(ask, manner) && manner.may_stop_streaming) {
    manner.stream = false;
    return true;
  }
  if (const int64_t top = wanted_top(ask, manner); top > 1 && says(text, "logprobs")) {
    const int64_t most = smaller_number(text, top);
    manner.most_logprobs = most > 0 ? most : manner.most_logprobs;
    return most > 0;
  }
  return false;
}

void check_send(const std::string& send) {
  std::string why;
  const std::optional<Json> json = send.empty() ? Json::object() : parse_json(send, &why);
  if (!json || !json->is_object()) {
    throw Error(Code::Usage, "--send must be a JSON object like {\"top_k\": 1}, got '", send, "'",
                json ? "" : ": " + why);
  }
}

}  // namespace gyre::accept
