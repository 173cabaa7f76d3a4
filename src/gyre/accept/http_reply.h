// The bytes of an answer become a Reply: one JSON body or a stream of chunks, chat or completions,
// in the dialects of llama.cpp, vLLM, Ollama, SGLang, TGI, OpenAI and those who copy them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "gyre/accept/http_client.h"
#include "gyre/accept/subject.h"

namespace gyre::accept {

class ReplyReader {
 public:
  /// most_bytes: of one line of a stream, and of what is kept of a body.
  ReplyReader(const Ask& ask, int64_t most_bytes);
  ~ReplyReader();
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;

  /// Whether it is a stream shows in the bytes; servers are not to be trusted to say so.
  Take feed(std::string_view bytes, int status, double at_ms);
  /// Everything is there that will come; `transfer` says how it ended.
  Reply finish(const Transfer& transfer);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gyre::accept
