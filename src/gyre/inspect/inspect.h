// Reads anything that describes a model's positions. gyre inspect, verify, analyze, extend and the
// loaders start here.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gyre/inspect/finding.h"
#include "gyre/inspect/resolved.h"

namespace gyre::inspect {

/// A config.json, a folder with one (and optional *.safetensors / *.gguf), a .safetensors file, a
/// .gguf file, a gyre run folder. Decided by content, not by name.
///
/// throws  Error(File) when it cannot be read, Error(Format) when it is none of these or broken
ResolvedModel resolve(const std::filesystem::path& path);

/// The same from a config's text; `owner` names it in errors.
ResolvedModel resolve_config(std::string_view json_text, const std::string& owner);

/// Two models that should agree (a checkpoint and its GGUF): frequency table, pair layout,
/// amplitude, rope_freqs, window. Empty = they agree.
std::vector<Finding> diff(const ResolvedModel& a, const ResolvedModel& b);

/// docs/file-formats.md, "gyre.inspect/1".
std::string to_json(const ResolvedModel& model, const std::vector<Finding>& findings);

/// The terminal text.
std::string describe(const ResolvedModel& model, const std::vector<Finding>& findings);

}  // namespace gyre::inspect
