// The vocabulary of a GGUF file: its keys tokenizer.ggml.*, and the tokenizer they make.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gyre/model/tokenizer/tokenizer.h"
#include "gyre/tensor/gguf.h"

namespace gyre::model {

struct GgufVocab {
  enum Type : int32_t {
    Normal = 1,
    Unknown = 2,
    Control = 3,
    UserDefined = 4,
    Unused = 5,
    Byte = 6
  };

  std::string model;  // "gpt2", "llama", "gemma4"
  std::string pre;    // which patterns cut the text (gguf_pre.def), for gpt2
  std::vector<std::string> tokens;
  std::vector<int32_t> types;         // Type of each token
  std::vector<float> scores;          // of each token, for llama
  std::vector<std::string> merges;    // "left right", for gpt2 and gemma4
  bool space_prefix = false;          // a space is put before each stretch of text
  bool strips_after_special = false;  // Phi-3: white space after a special token goes with it
  SpecialIds ids;
};

/// What the file says, with llama.cpp's answers where it says nothing; Error(Format) names keys.
GgufVocab read_gguf_vocab(const tensor::GgufFile& file);
std::string gguf_vocab_to_json(const GgufVocab& vocab);
GgufVocab gguf_vocab_from_json(const std::string& json);

std::unique_ptr<Tokenizer> gguf_tokenizer(GgufVocab vocab);

}  // namespace gyre::model
