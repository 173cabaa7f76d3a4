// Token shards (.bin) as input: which tokens are held out, and how they are copied.
#pragma once

#include <filesystem>

#include "gyre/data/prepare.h"

namespace gyre::data {

/// Writes train.bin and val.bin from .bin sources and fills vocabulary and split records in.
/// Files named *val* beside files named *train* are taken at their word; otherwise several files
/// are split as documents are, and a single one in sections of kSectionTokens. throws Error(Format)
/// when a token lies outside the vocabulary of the tokenizer that was given.
void split_token_files(const Plan& plan, const std::filesystem::path& dir, Manifest& manifest);

constexpr int64_t kSectionTokens = 4096;

}  // namespace gyre::data
