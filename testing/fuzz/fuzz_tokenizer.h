// What the targets of tokenizers do with one that could be made: text to ids and back.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "gyre/base/error.h"
#include "gyre/model/tokenizer/tokenizer.h"

namespace gyre::fuzz {

// Letters, digits, spaces, a tag, Chinese, an emoji, bytes that are no UTF-8; no run is long, or a
// pattern of the file could take for ever.
inline constexpr const char* kText =
    "The cat's 12 hats,\n\n  naïve  <s>中文</s>\t🙂 \xff\xc3 x=y_Z;";

/// What is wrong with a tokenizer; "" = nothing.
inline std::string fault_of(const model::Tokenizer& tokenizer) {
  for (const auto specials : {model::Specials::AsText, model::Specials::Parse}) {
    const std::vector<int32_t> ids = model::encode_prompt(tokenizer, kText, specials);
    for (const int32_t id : ids) {
      if (id < 0) {
        return "a negative id";
      }
      if (id < tokenizer.vocab()) {  // ids of the files beside it need not be in the vocabulary
        (void)tokenizer.piece(id);
        (void)tokenizer.is_special(id);
      }
    }
    (void)tokenizer.decode(tokenizer.encode(kText, specials));
  }
  return tokenizer.serialize().empty() ? "nothing to keep" : "";
}

/// Errors of one line, and those of the JSON library, which load_tokenizer puts into words, are the
/// only other ways out.
inline int run(const std::function<std::unique_ptr<model::Tokenizer>()>& read) {
  std::string fault;
  try {
    fault = fault_of(*read());
  } catch (const nlohmann::json::exception&) {
  } catch (const Error& error) {
    const std::string text = error.what();
    if (text.empty() || error.code() != Code::Format) {
      fault = "the error is no Error(Format): " + text;
    }
  }
  if (!fault.empty()) {
    std::fprintf(stderr, "%s\n", fault.c_str());
    std::abort();
  }
  return 0;
}

}  // namespace gyre::fuzz
