// An answer of a server, body or stream. The first byte: status, endpoint, size of the pieces,
// whether the connection broke.
#include <array>

#include "fuzz_client.h"
#include "gyre/accept/http_reply.h"

namespace {

using gyre::accept::Fault;
using gyre::accept::Reply;
using gyre::fuzz::demand;

Reply read(std::string_view bytes, uint8_t flags, size_t piece) {
  constexpr std::array kStatus{200, 200, 400, 429};
  gyre::accept::Ask ask;
  ask.api = (flags & 4) != 0 ? gyre::accept::Api::Completions : gyre::accept::Api::Chat;
  ask.echo = (flags & 4) != 0;
  ask.messages = {{"user", "one"}};
  ask.candidates = {" 7", "8"};
  gyre::accept::Transfer transfer;
  transfer.status = kStatus[flags & 3];
  if ((flags & 8) != 0) {
    transfer.fault = Fault::Cut;
    transfer.why = "broken";
  }
  gyre::accept::ReplyReader reader(ask, 1 << 20);
  auto take = gyre::accept::Take::More;
  const auto goes_on = [&] {
    return take == gyre::accept::Take::More || take == gyre::accept::Take::Early;
  };
  for (size_t at = 0; at < bytes.size() && goes_on(); at += piece) {
    take = reader.feed(bytes.substr(at, piece), transfer.status, static_cast<double>(at));
  }
  return reader.finish(transfer);
}

void check(const Reply& reply) {
  for (const std::string* text :
       {&reply.text, &reply.reasoning, &reply.finish, &reply.fault_text}) {
    demand(gyre::fuzz::is_utf8(*text), "a text is not UTF-8");
  }
  demand(reply.fault_text.find('\n') == std::string::npos, "a fault of several lines");
  demand(reply.fault_text.size() < 510, "a long fault");
  demand((reply.fault == Fault::None) == reply.fault_text.empty(), "a fault without words");
  for (const auto& count : {reply.prompt_tokens, reply.completion_tokens, reply.total_tokens,
                            reply.cached_tokens, reply.limit_tokens, reply.asked_tokens}) {
    demand(!count || *count >= 0, "a negative count");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) {
    return 0;
  }
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Reply whole = read(bytes, data[0], bytes.size());
  const Reply split = read(bytes, data[0], 1 + (data[0] >> 4));
  check(whole);
  demand(split.fault == whole.fault && split.fault_text == whole.fault_text &&
             split.text == whole.text && split.reasoning == whole.reasoning &&
             split.prompt_tokens == whole.prompt_tokens && split.top.size() == whole.top.size(),
         "a split changes the answer");
  return 0;
}
