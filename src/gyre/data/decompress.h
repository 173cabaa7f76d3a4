// Whole-buffer gzip and Zstandard decompression; several members or frames in a row are joined.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace gyre::data {

enum class Compression { None, Gzip, Zstd };

/// Error(Format) naming `path` when the bytes are no such file, damaged or cut short.
std::string decompress(Compression kind, std::string_view bytes, const std::filesystem::path& path);

}  // namespace gyre::data
