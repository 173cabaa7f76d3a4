// A GGUF file, whole: its tokenizer.ggml.* keys, and a text through the tokenizer they make.
#include <span>

#include "fuzz_tokenizer.h"
#include "gyre/model/tokenizer/gguf_vocab.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return gyre::fuzz::run([&] {
    const gyre::tensor::GgufFile file(std::as_bytes(std::span(data, size)), "input");
    return gyre::model::gguf_tokenizer(gyre::model::read_gguf_vocab(file));
  });
}
