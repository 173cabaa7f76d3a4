// Weights in several safetensors files: the index that lists them, and what their headers say
// together. Nothing in an index is trusted: a file it names is looked for in its own folder alone.
#pragma once

#include <filesystem>
#include <vector>

#include "gyre/inspect/resolved.h"

namespace gyre::inspect {

/// Doubts about model.safetensors.index.json: shards that are missing, names that leave the folder.
void check_index(const std::filesystem::path& folder, ResolvedModel& model);

/// A doubt when rows of a k_proj in the file are not key/value heads * head dim of its layer.
void check_key_heads(const std::filesystem::path& file, ResolvedModel& model);

/// Several headers as one model: layers, heads and tables of all files. Files are not empty.
ResolvedModel read_shards(const std::filesystem::path& folder,
                          const std::vector<std::filesystem::path>& files);

}  // namespace gyre::inspect
