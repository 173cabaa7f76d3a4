// The body of a request, and what of it a server turned out not to take.
#pragma once

#include <cstdint>
#include <string>

#include "gyre/accept/subject.h"

namespace gyre::accept {

/// How requests are written for one server; begins with the usual and gives way to refusals.
struct Manner {
  std::string model;
  bool stream = true;
  bool may_stop_streaming = true;      // `auto`
  bool usage_option = true;            // stream_options.include_usage
  bool max_completion_tokens = false;  // the newer name of max_tokens
  bool cache_prompt = false;           // llama.cpp's switch of its prefix cache is known here
  int64_t most_logprobs = 1 << 20;
};

bool streams(const Ask& ask, const Manner& manner);
std::string request_body(const Ask& ask, const Manner& manner, const std::string& send);

/// Whether the fault says that the manner was wrong; then it is mended and the ask can be repeated.
bool give_way(const Ask& ask, const Reply& reply, Manner& manner);

/// throws Error(Usage) unless it is "" or a JSON object
void check_send(const std::string& send);

}  // namespace gyre::accept
