// From the values of --data to files in a fixed order, each with what it is and its hash.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gyre/data/decompress.h"

namespace gyre::data {

enum class SourceKind { Text, JsonLines, Tokens };

struct Source {
  std::filesystem::path path;
  std::string name;  // as shown: the path given, or folder / relative path
  SourceKind kind = SourceKind::Text;
  Compression compression = Compression::None;
  bool in_folder = false;  // binary and empty files in folders are left out, not refused
  std::string sha256;      // of the file as it lies on disk
};

/// Kind and compression from the name's endings: .gz .zst, then .jsonl .ndjson, .bin; else text.
Source describe_source(const std::filesystem::path& path, std::string name);

/// Names (fetched when absent), files, folders (recursive, sorted by relative path, hidden files
/// left out). Error(Usage) on a value that is none of these, naming the nearest corpus.
std::vector<Source> resolve_sources(const std::vector<std::string>& data);

}  // namespace gyre::data
