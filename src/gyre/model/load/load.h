// Checkpoints of other programs as gyre models: Hugging Face folders and GGUF files.
// docs/checkpoints.md lists families, formats and what is refused.
#pragma once

#include <filesystem>
#include <memory>

#include "gyre/inspect/resolved.h"
#include "gyre/model/config.h"
#include "gyre/model/load/family.h"
#include "gyre/model/load/read_config.h"
#include "gyre/model/tokenizer/tokenizer.h"
#include "gyre/model/weights.h"
#include "gyre/position/plan.h"

namespace gyre::model {

struct LoadOptions {
  at::ScalarType dtype = at::kFloat;  // of matrices and the embedding: float32 or bfloat16
  // Who needs the tokenizer, "generate": one that is missing or cannot be read is an error then.
  // "" = a tokenizer that cannot be read is a warning.
  std::string text_for{};
};

struct LoadedModel {
  std::filesystem::path path;
  const Family* family = nullptr;  // one of families()
  ModelConfig config;
  position::PositionPlan plan;            // for sequences up to plan.holds_to, 0 = any
  std::shared_ptr<WeightSource> weights;  // reads the files when asked
  std::unique_ptr<Tokenizer> tokenizer;   // null when the checkpoint has none that can be used
  int64_t max_length = 0;                 // tokens; 0 = not stated
  ModelSettings settings;
  inspect::ResolvedModel resolved;

  /// The plan for a sequence of `length` tokens, where tables depend on that.
  position::PositionPlan plan_at_length(int64_t length) const {
    return plan_of(resolved, settings, length);
  }
};

/// A folder with config.json and safetensors, a folder with one GGUF model, or a .gguf file (of a
/// model in parts, any part). Weights are mapped, not read; their names, sizes and types are
/// checked.
///
/// throws  Error(File) when it cannot be read; Error(Format) with one line that says what is wrong:
///         an unknown family, quantised Hugging Face weights, a tensor missing, superfluous, of
///         other sizes or of a type that cannot be read, a shard missing or cut short, keys that
///         state other sizes than the tensors have; Error(Usage) when text_for has no tokenizer
LoadedModel load_model(const std::filesystem::path& path, const LoadOptions& options = {});

/// Error(Usage): `text_for` needs texts, and what lies at `path` has no tokenizer.
[[noreturn]] void no_tokenizer(const std::string& text_for, const std::filesystem::path& path);

}  // namespace gyre::model
