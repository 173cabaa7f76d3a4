// What a server means by an error: which fault, and the numbers in its words. No two servers say it
// alike, so bodies are read by shape and words by lists of patterns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gyre/accept/subject.h"

namespace gyre::accept {

struct ErrorWords {
  std::string message;  // the server's words, one line
  std::string kind;     // its type and code, "invalid_request_error context_length_exceeded"
  std::optional<int64_t> limit, asked;  // from fields of their own
  int code = 0;                         // a status inside the body
};

/// The words of an error body, or of the object inside an event: {"error": {...}}, {"error":
/// "..."},
/// {"object": "error", "message": ...}, {"detail": ...}, plain text, HTML. Empty: it is no error.
std::optional<ErrorWords> error_words(std::string_view body);

/// Fills fault, fault_text, limit_tokens, asked_tokens, retry_after_s (when only the words tell).
/// status 200: an error inside a good answer.
void classify(const ErrorWords& words, int status, Reply& reply);

/// Seconds to wait, from the headers Retry-After (seconds or a date) and retry-after-ms; -1 = none.
double retry_after_s(const std::string& header, const std::string& milliseconds, int64_t now_unix);
/// "try again in 1.5s", "in 200ms", "in 1m30s", "after 20 seconds"; -1 = none.
double retry_after_in(std::string_view message);

/// One line of at most 500 bytes, valid UTF-8, without control characters.
std::string one_line(std::string_view text);

}  // namespace gyre::accept
