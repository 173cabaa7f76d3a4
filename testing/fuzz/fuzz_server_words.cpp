// What a server says beside its answers: waits (first line: Retry-After, second: retry-after-ms),
// errors, what its discovery endpoints tell (the rest, for all of them).
#include "fuzz_client.h"
#include "gyre/accept/http_error.h"
#include "gyre/accept/http_facts.h"

namespace {

using gyre::fuzz::demand;

std::string line_of(std::string_view& bytes) {
  const size_t end = std::min(bytes.find('\n'), bytes.size());
  std::string line(bytes.substr(0, end));
  bytes.remove_prefix(std::min(end + 1, bytes.size()));
  return line;
}

void check_wait(double seconds) {
  demand(seconds == -1 || (seconds >= 0 && seconds <= 1e6), "a wait out of bounds");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gyre::accept;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string header = line_of(bytes), milliseconds = line_of(bytes);
  check_wait(retry_after_s(header, milliseconds, 784111767));
  check_wait(retry_after_in(bytes));
  demand(gyre::fuzz::is_utf8(one_line(bytes)), "a line is not UTF-8");
  for (const int status : {200, 400, 413, 429, 500}) {
    Reply reply;
    classify(error_words(bytes).value_or(ErrorWords{}), status, reply);
    demand(reply.fault != Fault::None && !reply.fault_text.empty(), "an error without a fault");
    check_wait(reply.retry_after_s);
  }
  const std::string body(bytes);
  const Fetch fetch = [&](const std::string&, const std::string&) {
    return Answer{200, body, header, "", Fault::None};
  };
  const Discovery found = discover(fetch, "/v1", "", "");
  for (const Claim& claim : found.facts.claims) {
    demand(claim.tokens > 0, "a claim of no tokens");
  }
  for (const auto& [key, value] : found.facts.other) {
    demand(gyre::fuzz::is_utf8(value), "a fact is not UTF-8");
  }
  return 0;
}
