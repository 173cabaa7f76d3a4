// For .cpp files: what single JSON objects of an answer say, a whole body or one chunk of a stream.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "gyre/accept/subject.h"

namespace gyre::accept {

using Json = nlohmann::json;

/// One token with its log-probability, of the prompt or of the answer.
struct TokenEntry {
  std::string text;
  std::optional<double> logprob;
  std::vector<TokenScore> top;  // likeliest first
};

/// An answer as it grows.
struct Parts {
  Reply reply;
  std::vector<TokenEntry> entries;
  bool has_choice = false;
  std::optional<int64_t> first_prompt_tokens;  // of the first usage that came

  bool has_text() const { return !reply.text.empty() || !reply.reasoning.empty(); }
};

/// Adds choices and usage. What is missing or of another type is passed over.
void add_object(const Json& object, Parts& parts);
/// Adds the log-probabilities of a choice, in either shape.
void add_logprobs(const Json& choice, std::vector<TokenEntry>& entries);
/// Tells prompt from answer among the entries and fills Reply::top, prompt_logprobs, candidates;
/// takes an echoed prompt out of the text.
void settle_logprobs(const Ask& ask, Parts& parts);

}  // namespace gyre::accept
