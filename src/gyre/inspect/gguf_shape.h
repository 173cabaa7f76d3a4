// Sizes and layer kinds of a GGUF: how many heads and channels each layer has, which layers have a
// window, which rotate.
#pragma once

#include <string>
#include <vector>

#include "gyre/inspect/gguf_architectures.h"
#include "gyre/inspect/gguf_keys.h"

namespace gyre::inspect {

/// Channels of a head, and how many of them rotate.
struct GgufHead {
  int64_t dim = 0, rotary = 0;
  std::vector<Provenance> origins;
};

struct GgufShape {
  int64_t n_layers = 0, hidden = 0, context = 0;  // 0 = not given
  std::vector<int64_t> heads, kv_heads;           // [N]; 0 = a layer without attention
  GgufHead full, local;                           // local: layers with a window
  int64_t window = 0;                             // keys; 0 = no layer has one
  std::vector<bool> windowed, rotates;            // [N]
  std::vector<Provenance> window_origins;
  Origin heads_origin;
};

/// Error(Format) when sizes are missing, contradict each other, or are beyond any model.
GgufShape read_gguf_shape(GgufKeys& keys, const tensor::GgufFile& file,
                          const GgufArchitecture& rules);

/// Layers alike in window, rotation and heads; layers without attention are in none.
struct GgufGroup {
  bool windowed = false, rotates = false;
  int64_t n_heads = 0, n_kv_heads = 0;
  std::vector<int64_t> layers;
  std::string name;
};
std::vector<GgufGroup> gguf_groups(const GgufShape& shape, const GgufArchitecture& rules,
                                   const std::string& owner);

}  // namespace gyre::inspect
