// From files to tokens: corpora by name or path, tokenised memory-mapped shards with a manifest,
// batches as a pure function of (seed, k, corpus hash).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gyre/base/files.h"
#include "gyre/base/options.h"
#include "gyre/model/tokenizer/tokenizer.h"

namespace gyre::data {

struct DataOptions {
  std::vector<std::string> data = {"shakespeare"};  // corpus names and paths
  std::string tokenizer = "bytes";                  // bytes | bpe | path of a .model file
  int64_t bpe_vocab = 4096;
  std::string field = "text";  // of JSON lines
  double val_share = 0.1;      // of the documents, by size

  template <class V>
  void fields(V& v) {
    v("data", data, "corpus names (gyre data list) and paths: .txt .jsonl .gz .zst .bin, folders");
    v("tokenizer", tokenizer,
      "bytes | bpe | path of a tokenizer file, .gguf or model folder");
    v("bpe-vocab", bpe_vocab, "vocabulary of a BPE tokenizer trained on the corpus");
    v("field", field, "field of JSON lines that holds the text");
    v("val-share", val_share, "share of the text held out for validation, whole documents");
  }
};

/// Memory-mapped tokens of one split.
class TokenStream {
 public:
  TokenStream(MappedFile file, size_t header_bytes, int64_t n_tokens);
  int64_t size() const { return n_tokens_; }
  /// Tokens [begin, begin + n) as int64 [n].
  at::Tensor read(int64_t begin, int64_t n) const;

 private:
  MappedFile file_;
  size_t header_bytes_;
  int64_t n_tokens_;
};

struct Dataset {
  std::filesystem::path dir;  // manifest.json, train.bin, val.bin, tokenizer.json
  std::string corpus_hash;    // SHA-256 over split hashes and tokenizer hash
  std::string tokenizer_hash;
  std::shared_ptr<const model::Tokenizer> tokenizer;  // null for .bin input without a tokenizer
  int64_t vocab = 0;
  double val_bytes_per_token = 0;  // for bits per byte; 0 when unknown
  std::shared_ptr<const TokenStream> train, val;
};

/// Prepares shards when they are not in the cache yet (cache_dir()/shards/<key>) and opens them.
Dataset open_dataset(const DataOptions& options);

/// Opens what prepare wrote.
Dataset open_prepared(const std::filesystem::path& dir);

struct Batch {
  at::Tensor inputs, targets;  // [B, T] int64; targets are inputs shifted by one
};

/// Sequences of T + 1 tokens (windows of length T that tile the stream, with an offset and a
/// permutation drawn anew each epoch). Batch k depends on (seed, k, corpus hash) only: not on
/// threads, accumulation split or restarts.
class Batches {
 public:
  Batches(std::shared_ptr<const TokenStream> stream, std::string corpus_hash, uint64_t seed,
          int64_t batch, int64_t length);
  Batch at(int64_t k) const;
  /// Sequences per epoch.
  int64_t n_windows() const { return n_windows_; }

 private:
  std::shared_ptr<const TokenStream> stream_;
  uint64_t seed_;
  int64_t batch_, length_, n_windows_;
};

}  // namespace gyre::data
