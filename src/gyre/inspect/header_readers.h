// The readers of file headers over bytes in memory: what readers.h opens, and what fuzzing feeds.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "gyre/inspect/resolved.h"
#include "gyre/tensor/gguf.h"
#include "gyre/tensor/safetensors_header.h"

namespace gyre::inspect {

/// `path` names the file in errors and in the result. Error(Format) when the metadata describes no
/// language model or holds numbers no model has.
ResolvedModel resolve_gguf(const tensor::GgufFile& file, const std::string& path);

ResolvedModel resolve_safetensors(const tensor::SafetensorsHeader& header, const std::string& path);
/// Several files of one model, whose bytes outlive the call.
ResolvedModel resolve_safetensors(std::span<const tensor::SafetensorsHeader> headers,
                                  const std::string& path);

}  // namespace gyre::inspect
