// From options to shards on disk; open_dataset and `gyre data prepare` both come through here.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gyre/data/dataset.h"
#include "gyre/data/manifest.h"
#include "gyre/data/sources.h"

namespace gyre::data {

/// What a preparation starts from: checked options, hashed sources, a tokenizer that was given.
struct Plan {
  DataOptions options;
  std::vector<Source> sources;
  std::shared_ptr<const model::Tokenizer>
      tokenizer;    // null: train BPE, or token shards without one
  std::string key;  // names the result in the cache
};

/// Checks the options and hashes the sources; fetches named corpora that are absent.
Plan plan_preparation(const DataOptions& options);

/// Writes train.bin, val.bin, tokenizer.json and manifest.json into the empty folder `dir`.
void write_shards(const Plan& plan, const std::filesystem::path& dir);

/// Prepares into `out` (a new folder; an old one is replaced only with `force`).
Dataset prepare_into(const DataOptions& options, const std::filesystem::path& out, bool force);

}  // namespace gyre::data
