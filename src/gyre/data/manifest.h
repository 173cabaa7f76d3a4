// manifest.json of a prepared dataset (schema gyre.dataset/1); docs/data.md lists its keys.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gyre::data {

struct SourceRecord {
  std::string name, sha256;
};

struct SplitRecord {
  int64_t documents = 0;
  int64_t bytes = 0;   // of text; 0 when the input was token shards
  int64_t tokens = 0;  // with an end-of-document token after each document
  std::string sha256;  // of the shard file
};

struct Manifest {
  std::vector<SourceRecord> sources;
  int64_t duplicates = 0;  // documents left out because their text came before
  std::string tokenizer_kind = "none";
  std::string tokenizer_hash;
  int64_t vocab = 0;
  double val_share = 0;
  std::string split_rule;
  SplitRecord train, val;
  std::string corpus_hash;
};

std::string manifest_to_json(const Manifest& manifest);

/// Error(Format) naming the file and the key that is missing or wrong.
Manifest read_manifest(const std::filesystem::path& path);

/// True when `dir` holds a manifest.json of this schema.
bool is_prepared(const std::filesystem::path& dir);

}  // namespace gyre::data
