// Files: whole-file reads, atomic writes, memory maps, JSON-lines appenders, SHA-256.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

namespace gyre {

/// Reads a whole regular file; Error(File) names the path and the system's reason.
std::string read_file(const std::filesystem::path& path);

/// Writes to a temporary name beside `path`, syncs, renames: readers see the old or the new bytes.
void write_file_atomic(const std::filesystem::path& path, std::string_view bytes);

/// Read-only memory map of a regular file. An empty file maps to an empty span.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  /// These bytes of bytes() are not needed for now: their memory may go; they stay readable.
  void let_go(std::span<const std::byte> part) const;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

/// Appends lines to a file and flushes each, so that a stopped run loses at most the line in hand;
/// a last line without an end, left by a killed process, is dropped when the file is opened again.
class LineWriter {
 public:
  explicit LineWriter(const std::filesystem::path& path, bool append = true);
  void write(std::string_view line);

 private:
  std::filesystem::path path_;
  std::ofstream out_;
};

/// Lower-case hex SHA-256.
std::string sha256(std::span<const std::byte> bytes);
std::string sha256(std::string_view text);
std::string sha256_file(const std::filesystem::path& path);

/// Where fetched corpora and prepared shards are kept: $GYRE_CACHE, else $XDG_CACHE_HOME/gyre, else
/// ~/.cache/gyre.
std::filesystem::path cache_dir();

}  // namespace gyre
