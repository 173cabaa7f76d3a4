// One way to open whatever can be run: a run of gyre, a Hugging Face folder, a GGUF file.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/model/tokenizer/tokenizer.h"
#include "gyre/model/transformer.h"
#include "gyre/position/plan.h"

namespace gyre::train {

struct AnyModelOptions {
  at::ScalarType dtype = at::kFloat;  // compute type: float32 or bfloat16
  at::Device device = at::kCPU;
  bool streamed = false;   // keep one block in memory at a time; checkpoints of other programs only
  std::string text_for{};  // who needs the tokenizer; see model::LoadOptions
};

struct AnyModel {
  std::filesystem::path path;
  std::string family;  // "Llama", ...; "gyre" for a run
  model::Transformer model;
  std::shared_ptr<const model::Tokenizer> tokenizer;  // null when there is none
  int64_t max_length = 0;                             // tokens it was made for; 0 = not stated
  std::function<position::PositionPlan(int64_t)> plan_at_length;

  /// Ids of a prompt (model::encode_prompt). Error(Format) when one is outside the model's
  /// vocabulary: a tokenizer may have special tokens that the model was not made for.
  std::vector<int64_t> prompt(std::string_view text, model::Specials specials) const;

  /// The model with the tables for a sequence of `length` tokens; parameters are shared.
  model::Transformer at_length(int64_t length) const {
    return model.plan().length_rule.empty() ? model : model.with_plan(plan_at_length(length));
  }
};

/// Faults are those of load_run() and model::load_model().
AnyModel load_any_model(const std::filesystem::path& path, const AnyModelOptions& options = {});

}  // namespace gyre::train
