// One HTTP exchange: clocks, caps, redirects, TLS. Nothing here knows what the bytes mean.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "gyre/accept/subject.h"

namespace gyre::accept {

struct HttpOptions {
  std::string origin;   // "http://127.0.0.1:8080": the key goes there and nowhere else
  std::string key;      // "" = none
  std::string ca_file;  // certificates beside the system's; "" = none
};

struct Clocks {
  double connect_s = 10;
  double first_byte_s = 120;  // of the body, from the moment the request is out
  double idle_s = 60;         // between two bytes of the body, from the first word on
  double total_s = 1800;
};

struct Call {
  std::string method = "POST";
  std::string url, body;
  Clocks clocks;
  int64_t most_bytes = 64 << 20;  // of the body, after decompression
};

/// What came of a call; the body went to the sink.
struct Transfer {
  int status = 0;
  Fault fault = Fault::None;  // of the transfer alone: Connect, FirstByte, Idle, ...
  std::string why;            // in words
  std::string server, retry_after, retry_after_ms;  // headers
  double connect_ms = 0, first_byte_ms = 0, total_ms = 0;
  int64_t bytes = 0;
};

/// What a sink makes of bytes. Early: a stream is open, but no word of the answer has come, so the
/// clock of the first byte still runs; Enough: all is known, the rest may come within a second so
/// that the connection can be used again; TooMuch ends the transfer as a fault.
enum class Take { Early, More, Enough, TooMuch };
/// Gets the body of the last answer as it comes; at_ms counts from the start of the call.
using Sink = std::function<Take(std::string_view bytes, int status, double at_ms)>;

/// May be used by several threads at once; keeps connections open between calls.
class HttpClient {
 public:
  /// throws Error(File) when the certificates cannot be read
  explicit HttpClient(const HttpOptions& options);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  /// throws Interrupted after Ctrl-C
  Transfer perform(const Call& call, const Sink& sink);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gyre::accept
