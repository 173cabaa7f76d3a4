// Byte-level BPE: ids 0-255 are bytes, 256 ends a document, 257 + r is the pair of merge r.
#pragma once

#include <utility>

#include "gyre/model/tokenizer/tokenizer.h"

namespace gyre::model {

using Merge = std::pair<int32_t, int32_t>;
constexpr int32_t kBpeEndOfDocument = 256;
constexpr int32_t kFirstMergeId = 257;

/// Merges in the order learned: at most `n_merges`, fewer when no pair occurs twice any more.
std::vector<Merge> learn_merges(const std::vector<std::string_view>& texts, int64_t n_merges);

/// Throws Error(Format) when a merge names an id that does not exist yet, or a pair twice.
std::unique_ptr<Tokenizer> bpe_tokenizer(std::vector<Merge> merges);

}  // namespace gyre::model
