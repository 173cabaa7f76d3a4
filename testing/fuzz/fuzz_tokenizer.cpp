// The text of a tokenizer.json, and a text through the tokenizer it makes.
#include "fuzz_tokenizer.h"

#include "gyre/model/tokenizer/hf_tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return gyre::fuzz::run([&] {
    return gyre::model::hf_tokenizer({reinterpret_cast<const char*>(data), size}, {});
  });
}
