#include "gyre/accept/json_reply.h"

#include "gyre/accept/json_value.h"

namespace gyre::accept {

namespace {

/// A text, or a list of parts {"type": "text", "text": "..."} as Mistral sends.
void add_content(const Json& content, Reply& reply) {
  if (content.is_string()) {
    reply.text += content.get_ref<const std::string&>();
  } else if (content.is_array()) {
    for (const Json& part : content) {
      if (text_at(part, "type") == "thinking") {
        for (const Json& thought : at(part, "thinking")) {
          reply.reasoning += text_at(thought, "text");
        }
      } else {
        reply.text += text_at(part, "text");
      }
    }
  }
}

void add_message(const Json& message, Reply& reply) {
  add_content(at(message, "content"), reply);
  for (const char* key : {"reasoning_content", "reasoning", "thinking"}) {
    if (const std::string thought = text_at(message, key); !thought.empty()) {
      reply.reasoning += thought;
      break;  // some send the same thoughts under two names
    }
  }
}

void add_choice(const Json& choice, Parts& parts) {
  parts.has_choice = true;
  Reply& reply = parts.reply;
  if (at(choice, "message").is_object()) {
    add_message(at(choice, "message"), reply);
  } else if (at(choice, "delta").is_object()) {
    add_message(at(choice, "delta"), reply);
  } else {
    add_content(at(choice, "text"), reply);
    if (const std::string thought = text_at(choice, "reasoning"); !thought.empty()) {
      reply.reasoning += thought;
    }
  }
  if (const std::string finish = text_at(choice, "finish_reason"); !finish.empty()) {
    reply.finish = finish;
  }
  add_logprobs(choice, parts.entries);
}

void add_usage(const Json& usage, Parts& parts) {
  Reply& reply = parts.reply;
  const std::optional<int64_t> prompt = count_at(usage, "prompt_tokens");
  if (prompt) {
    reply.usage_disagrees =
        reply.usage_disagrees || (reply.prompt_tokens && *reply.prompt_tokens != *prompt);
    reply.prompt_tokens = prompt;
  }
  const auto keep = [](std::optional<int64_t> now, std::optional<int64_t>& field) {
    field = now ? now : field;
  };
  keep(count_at(usage, "completion_tokens"), reply.completion_tokens);
  keep(count_at(usage, "total_tokens"), reply.total_tokens);
  keep(count_at(at(usage, "prompt_tokens_details"), "cached_tokens"), reply.cached_tokens);
  keep(count_at(usage, "cached_tokens"), reply.cached_tokens);
  keep(count_at(usage, "prompt_cache_hit_tokens"), reply.cached_tokens);
}

}  // namespace

void add_object(const Json& object, Parts& parts) {
  const Json& choices = at(object, "choices");
  if (choices.is_array()) {
    parts.has_choice = true;  // an empty list says that there is an answer, without text
    for (const Json& choice : choices) {
      if (count_at(choice, "index").value_or(0) == 0) {
        add_choice(choice, parts);
      }
    }
  }
  if (at(object, "usage").is_object()) {
    add_usage(at(object, "usage"), parts);
  }
  const std::optional<int64_t> cached = count_at(at(object, "timings"), "cache_n");
  if (cached && !parts.reply.cached_tokens) {
    parts.reply.cached_tokens = cached;
  }
}

}  // namespace gyre::accept
