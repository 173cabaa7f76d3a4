// Text <-> token ids. Kinds: bytes; gyre's own byte-level BPE; SentencePiece model files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::model {

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  /// "bytes", "bpe" or "sentencepiece".
  virtual std::string kind() const = 0;
  virtual int64_t vocab() const = 0;
  /// Id put between documents, or -1.
  virtual int64_t end_of_document() const = 0;
  virtual std::vector<int32_t> encode(std::string_view text) const = 0;
  virtual std::string decode(const std::vector<int32_t>& ids) const = 0;
  /// Serialised form; load_tokenizer reads it back. The hash in run records is its SHA-256.
  virtual std::string serialize() const = 0;
};

/// 256 ids for bytes, id 256 = end of document; vocabulary 257.
std::unique_ptr<Tokenizer> byte_tokenizer();

/// Trains byte-level BPE on the texts until `vocab` ids exist (256 bytes + end of document +
/// merges). Deterministic; ties broken by the smaller pair. Shows a progress bar.
std::unique_ptr<Tokenizer> train_bpe(const std::vector<std::string_view>& texts, int64_t vocab);

/// A SentencePiece .model file.
std::unique_ptr<Tokenizer> sentencepiece_tokenizer(const std::filesystem::path& path);

/// Reads what serialize() wrote, from a file; Error(Format) on anything else.
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& path);

std::string tokenizer_hash(const Tokenizer& tokenizer);

}  // namespace gyre::model
