// Token shards: llm.c's header of 256 int32 and little-endian tokens, or nanoGPT's bare uint16.
// Header: [0] magic, [1] version, [2] low and [3] high 32 bits of the token count.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>

#include "gyre/base/files.h"

namespace gyre::data {

constexpr size_t kHeaderBytes = 1024;
constexpr int32_t kMagic = 20240520;       // llm.c, GPT-2 tokens; version 1 = uint16
constexpr int32_t kMagicLlama = 20240801;  // llm.c, Llama 3 tokens; version 7 = uint32
constexpr int32_t kVersion32 = 2;          // gyre's own: magic of llm.c, uint32 tokens

struct TokenFileInfo {
  size_t header_bytes = 0;
  size_t token_bytes = 2;
  int64_t n_tokens = 0;
};

/// Reads the header and checks it against the file's size; Error(Format) names what differs.
TokenFileInfo inspect_token_file(const MappedFile& file);

/// Token `i` of a mapped file.
int64_t token_at(const MappedFile& file, const TokenFileInfo& info, int64_t i);

/// Writes a shard front to back; finish() fills the header in and syncs.
class TokenWriter {
 public:
  TokenWriter(std::filesystem::path path, bool wide);
  void append(std::span<const int32_t> tokens);
  void finish();
  int64_t n_tokens() const { return n_tokens_; }

 private:
  void write(const void* bytes, size_t n);
  std::filesystem::path path_;
  std::ofstream out_;
  bool wide_;
  int64_t n_tokens_ = 0;
};

}  // namespace gyre::data
