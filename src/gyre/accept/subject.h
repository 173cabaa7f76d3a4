// What is accepted: something that answers requests, an endpoint over HTTP or a model in this
// process. One request is an Ask, what came of it a Reply; failures are replies too, never thrown.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gyre/base/error.h"

namespace gyre::accept {

/// Ctrl-C ended a run: what was answered is on record, the same command goes on.
class Interrupted : public Error {
 public:
  using Error::Error;
};

enum class Api { Chat, Completions };
const char* name_of(Api api);  // "chat", "completions"

struct Message {
  std::string role;  // system | user | assistant
  std::string content;
};

/// One request, complete. Equal asks are the same request.
struct Ask {
  Api api = Api::Chat;
  std::vector<Message> messages;  // completions: one message, whose content is the prompt
  int64_t max_tokens = 16;
  int64_t top_logprobs = 0;  // likeliest tokens wanted beside each new token; 0 = none
  bool cold = false;         // nothing out of a prefix cache, where the server can be told so
  bool echo = false;         // completions: log-probabilities of the prompt's own tokens
  /// Continuations to be scored: in process by all their tokens, over HTTP by the first one.
  std::vector<std::string> candidates;
};

/// Bytes of all contents.
int64_t prompt_bytes(const Ask& ask);

/// Why there is no answer. `final` faults are not asked again.
enum class Fault {
  None,
  Connect,    // no connection, or it ended before the first byte
  FirstByte,  // connected, but nothing came in time
  Idle,       // the answer stopped
  Deadline,   // the answer took too long in all
  TooMuch,    // more bytes than any answer may have
  Cut,        // the connection ended inside the answer
  NoEnd,      // a stream that ended cleanly without a finish_reason
  Format,     // not JSON, not UTF-8, not an answer
  Overflow,   // the server says that the prompt is too long; final
  RateLimit,  // a limit of tokens that this request can never meet; final
  Busy,       // 429 or 503: asked again
  Server,     // other 5xx, or an error inside a stream that is not about length
  Client,     // other 4xx; final
  Auth,       // 401, 403; final
};
const char* name_of(Fault fault);  // "none", "connect", "first_byte", ...
std::optional<Fault> fault_of(const std::string& name);
bool is_final(Fault fault);
/// A later run may get an answer: the server was down, busy or slow. Others are its way to answer.
bool may_pass(Fault fault);

struct TokenScore {
  std::string text;
  double logprob = 0.0;  // nats
};

/// What came of one attempt. Unknown numbers are empty.
struct Reply {
  int http = 0;  // 0 = no status line came, or in process
  Fault fault = Fault::None;
  std::string fault_text;     // the server's words, or the client's; one line, shortened
  bool error_in_200 = false;  // the fault came inside an answer with status 200
  std::string text, reasoning;
  std::string finish;  // as the server says: stop, length, eos_token, ...
  std::optional<int64_t> prompt_tokens, completion_tokens, total_tokens, cached_tokens;
  bool usage_disagrees = false;  // counts in the chunks of a stream differ from the last one
  std::optional<int64_t> limit_tokens, asked_tokens;   // read out of an error message
  std::vector<std::vector<TokenScore>> top;            // [new token][rank], likeliest first
  std::vector<std::optional<double>> prompt_logprobs;  // per prompt token; empty = not echoed
  std::vector<std::optional<double>> candidates;       // as Ask::candidates; empty = not told
  double candidate_bound = 0.0;  // no candidate that is not told is likelier than this, nats
  // Since the request began; first_token_ms = 0 where the answer came whole.
  double connect_ms = 0, first_byte_ms = 0, first_token_ms = 0, total_ms = 0;
  int64_t chunks = 0;                // pieces of text that came apart in time
  bool burst = false;                // all text came at once: no rate can be told
  int64_t bytes = 0;                 // read from the wire
  double retry_after_s = -1;         // -1 = the server did not say
  std::optional<double> memory_mib;  // of the process or server, where it is told

  bool answered() const { return fault == Fault::None; }
};

/// A window or a setting that somebody states, and where.
struct Claim {
  std::string source;  // "/v1/models max_model_len", "--context"
  int64_t tokens = 0;
};

/// What a server tells about itself. Nothing of it is trusted.
struct Facts {
  std::string server;  // llama.cpp | vLLM | Ollama | SGLang | ... | "" = not known
  std::string model;
  std::vector<Claim> claims;                 // windows
  std::optional<int64_t> slots;              // requests that share the window, where told
  bool counts_tokens = false;                // count_tokens() works
  bool echoes = false;                       // Ask::echo surely works; a server is tried first
  std::map<std::string, std::string> other;  // anything else that was told, for the record
};

class Subject {
 public:
  virtual ~Subject() = default;
  /// "http://127.0.0.1:8080/v1 qwen" or a path; part of every item's identity.
  virtual std::string name() const = 0;
  virtual Facts discover() = 0;
  /// One attempt. May be called from several threads at once when concurrent() is true.
  virtual Reply ask(const Ask& ask) = 0;
  virtual bool concurrent() const = 0;
  virtual bool can(Api api) const = 0;
  /// The server's own count of a text, where it has an endpoint for it.
  virtual std::optional<int64_t> count_tokens(const std::string& text) = 0;
  /// The text that the server's chat template makes of messages, where it tells.
  virtual std::optional<std::string> render(const std::vector<Message>&) { return std::nullopt; }
};

}  // namespace gyre::accept
