// The readers behind resolve(), one per kind of file.
#pragma once

#include <filesystem>

#include "gyre/inspect/resolved.h"

namespace gyre::inspect {

ResolvedModel read_gguf(const std::filesystem::path& path);
ResolvedModel read_safetensors_header(const std::filesystem::path& path);
ResolvedModel read_run(const std::filesystem::path& folder);
ResolvedModel read_folder(const std::filesystem::path& folder);

}  // namespace gyre::inspect
