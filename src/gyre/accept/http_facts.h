// What a server tells about itself at its discovery endpoints, by the kinds of servers known.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gyre/accept/subject.h"

namespace gyre::accept {

/// What came of one small request. status 0: nothing came, `why` says so.
struct Answer {
  int status = 0;
  std::string body, server, why;
  Fault fault = Fault::None;
};
/// A body that is not empty is POSTed.
using Fetch = std::function<Answer(const std::string& path, const std::string& body)>;

struct Discovery {
  Facts facts;
  std::vector<std::string> models;  // that /v1/models lists
  std::string tokenizer;            // the field for a text that POST /tokenize takes; "" = none
  std::string memory;               // path that tells of memory; "" = none
  bool unreachable = false;         // not even a connection
  std::string why;
};

/// `base` and `root` are put before the paths, "/v1" and "" as a rule. model "" = any.
Discovery discover(const Fetch& fetch, const std::string& base, const std::string& root,
                   const std::string& model);

/// Tokens in an answer of /tokenize; "" of a text that counts them.
std::optional<int64_t> token_count(const std::string& body);
std::string tokenize_body(const std::string& field, const std::string& model,
                          const std::string& text);
/// Request and answer of llama.cpp's /apply-template.
std::string template_body(const std::vector<Message>& messages);
std::optional<std::string> rendered_prompt(const std::string& body);
/// MiB in an answer of /metrics or /api/ps.
std::optional<double> memory_mib(const std::string& body);

}  // namespace gyre::accept
