// What llama.cpp does with positions beyond the keys of a GGUF: pair layout, which layers have a
// window, which do not rotate. One table, in gguf_architectures.cpp.
#pragma once

#include <cstdint>
#include <string_view>

namespace gyre::inspect {

enum class GgufRotation { Unstated, None, Interleaved, Halves };

struct GgufArchitecture {
  std::string_view name;  // general.architecture
  GgufRotation rotation = GgufRotation::Unstated;
  // Windowed layers: every n-th layer sees everything, 0 = no layer has a window whatever the file
  // says. The full one is the last of each n, or the first.
  int64_t full_every = 0;
  bool full_first = false;
  bool full_needs_pattern = false;  // which layers are windowed stands in the file alone
  double local_base = 0.0;          // base of windowed layers without a key for it; 0 = freq_base
  bool local_scaled = true;         // scaling holds in windowed layers too
  int64_t chunk = 0;                // windowed layers see their own chunk of this many tokens
  int64_t unrotated_every = 0;      // the last of each n layers does not rotate
  bool local_rotate_only = false;   // when the model has windowed layers, only they rotate
  double alibi = 0.0;               // largest ALiBi bias built in; 0 = what the file says
  int64_t alibi_at = 0;             // built in with this many layers alone, in place of rotation
  bool latent = false;  // MLA: rope.dimension_count channels of each head hold positions
  bool divisors_in_full_only = false;
  bool unit_scores = false;    // scores are not divided by sqrt(D)
  bool scale_key = false;      // attention.scale is read
  bool grows_query = false;    // query factor of Llama 4 in layers that do not rotate
  int64_t plain_scale_at = 0;  // with this many layers scores are divided by sqrt(width / heads)
  bool learned = false;        // learned absolute positions
};

/// Null when llama.cpp has no such architecture (or this version does not know it).
const GgufArchitecture* find_gguf_architecture(std::string_view name);

}  // namespace gyre::inspect
