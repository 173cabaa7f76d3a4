// A stream of server-sent events: whole, and in pieces of the size that the first byte says.
#include "gyre/accept/http_sse.h"

#include <vector>

#include "fuzz_client.h"

namespace {

constexpr int64_t kMost = 4096;

std::vector<std::string> read(std::string_view bytes, size_t piece) {
  std::vector<std::string> events;
  const auto sink = [&](const gyre::accept::SseEvent& event) {
    gyre::fuzz::demand(static_cast<int64_t>(event.data.size()) <= kMost, "an event is too long");
    events.push_back(std::to_string(static_cast<int>(event.kind)) + event.event + "|" + event.data);
  };
  gyre::accept::SseParser parser(kMost);
  for (size_t at = 0; at < bytes.size(); at += piece) {
    if (!parser.feed(bytes.substr(at, piece), sink)) {
      events.push_back("too much");
      return events;
    }
  }
  parser.finish(sink);
  return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) {
    return 0;
  }
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto whole = read(bytes, bytes.size());
  gyre::fuzz::demand(read(bytes, 1 + data[0] % 64) == whole, "a split changes the events");
  return 0;
}
