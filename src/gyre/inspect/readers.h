// The readers behind resolve(), one per kind of file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gyre/inspect/resolved.h"

namespace gyre::inspect {

ResolvedModel read_gguf(const std::filesystem::path& path);
ResolvedModel read_safetensors_header(const std::filesystem::path& path);
/// The headers of all files of one model, not empty, as one; `name` stands for them.
ResolvedModel read_safetensors_headers(const std::vector<std::filesystem::path>& paths,
                                       const std::string& name);
/// The parts of one split GGUF in order; metadata are those of the first.
ResolvedModel read_gguf_parts(const std::vector<std::filesystem::path>& paths);
ResolvedModel read_run(const std::filesystem::path& folder);
ResolvedModel read_folder(const std::filesystem::path& folder);

}  // namespace gyre::inspect
