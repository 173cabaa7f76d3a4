#include "gyre/inspect/lint/known_lengths.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

struct Row {
  const char* model_type;
  double base;                  // 0 = any
  double vocab_from, vocab_to;  // 0, 0 = any; fine-tunes add a few tokens
  double trained, admitted;
  const char* family;
};

// Model cards and configs as published by each family's authors.
constexpr std::array<Row, 11> kRows = {{
    {"llama", 1e4, 32000, 32064, 4096, 4096, "Llama 2 (2048 for Llama 1)"},
    {"llama", 5e5, 128256, 128320, 8192, 8192, "Llama 3"},
    {"qwen2", 1e6, 0, 0, 32768, 0, "Qwen2.5"},  // base models admit 131072 without a block
    {"qwen3", 1e6, 0, 0, 32768, 40960, "Qwen3"},
    {"qwen3_moe", 1e6, 0, 0, 32768, 40960, "Qwen3"},
    {"qwen3moe", 1e6, 0, 0, 32768, 40960, "Qwen3"},
    {"gptj", 0, 0, 0, 2048, 2048, "GPT-J"},
    {"phi", 1e4, 0, 0, 2048, 2048, "Phi-2"},
    {"phi2", 1e4, 0, 0, 2048, 2048, "Phi-2"},
    {"gemma", 1e4, 0, 0, 8192, 8192, "Gemma"},
    {"gemma2", 1e4, 0, 0, 8192, 8192, "Gemma 2"},
}};

double base_of(const ResolvedModel& model) {
  for (const LayerKind& kind : model.kinds) {
    if (kind.base > 0.0) {
      return kind.base;
    }
  }
  const double own = model.source == SourceKind::Gguf ? gguf_number(model, "rope.freq_base")
                                                      : text_number(model, "rope_theta");
  return std::isnan(own) ? 1e4 : own;
}

}  // namespace

KnownLength known_length(const ResolvedModel& model) {
  const double vocab = model.source == SourceKind::Gguf ? gguf_number(model, "vocab_size")
                                                        : text_number(model, "vocab_size");
  const double base = base_of(model);
  for (const Row& row : kRows) {
    const bool vocab_fits =
        row.vocab_to == 0.0 || (vocab >= row.vocab_from && vocab <= row.vocab_to);
    if (model.model_type == row.model_type && (row.base == 0.0 || row.base == base) && vocab_fits) {
      return {row.trained, row.admitted, row.family};
    }
  }
  return {};
}

}  // namespace gyre::inspect
