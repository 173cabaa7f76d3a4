// How Hugging Face and llama.cpp call the tensors of a decoder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gyre/model/load/family.h"
#include "gyre/model/load/tensor_store.h"

namespace gyre::model {

enum class Role {
  Embedding,
  FinalNorm,
  Head,
  AttentionNorm,
  Qkv,  // q, k and v in one
  Q,
  K,
  V,
  QNorm,
  KNorm,
  Out,
  AttentionPostNorm,
  MlpNorm,
  GateUp,  // gate and up in one, gate first
  Gate,
  Up,
  Down,
  MlpPostNorm
};

class TensorNames {
 public:
  /// Error(Format) when the store has no token embedding under any name that is used for it.
  static TensorNames hugging_face(const TensorStore& store, const Family& family,
                                  const std::string& owner);
  static TensorNames gguf();

  bool is_gguf() const { return gguf_; }
  /// "model.layers.3.self_attn.q_proj." + end; `layer` counts for tensors of a block alone.
  std::string name(Role role, int64_t layer = 0, const char* end = "weight") const;
  /// Whether a tensor that no parameter is made of may stand in the file: tables of positions,
  /// which inspect reads, and towers for images and sound beside the language model.
  bool may_be_left(const std::string& tensor) const;

 private:
  bool gguf_ = false, post_norm_ = false;
  std::string prefix_, head_;  // Hugging Face: "model.", "lm_head."
};

}  // namespace gyre::model
