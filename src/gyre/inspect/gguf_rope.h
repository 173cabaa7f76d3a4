// Frequencies and amplitude as llama.cpp computes them from a GGUF's keys and tables. Where its
// arithmetic differs from transformers' (rounded ramp bounds, one table for a whole context), this
// is llama.cpp's: that is how the file will be run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "gyre/inspect/gguf_architectures.h"
#include "gyre/inspect/gguf_keys.h"

namespace gyre::inspect {

/// What a file says about extension, the same for every layer.
struct GgufRope {
  std::string type;  // as spelled; "" = none given
  double factor = 1.0;
  double original = 0.0;  // tokens; 0 = neither it nor the context length is known
  double beta_fast = 32.0, beta_slow = 1.0;
  double ext_factor = 1.0;   // share of YaRN's blend that is used
  double attn_factor = 1.0;  // on the amplitude
  double log_multiplier = 0.0;
  std::vector<double> divisors;       // rope_freqs.weight; empty = none
  std::vector<double> shorts, longs;  // rope_factors_short/long.weight; empty = none
  std::vector<Provenance> origins;    // of the numbers above
  bool yarn() const { return type == "yarn"; }
  bool none() const { return type == "none"; }
  bool known_type() const {
    return type.empty() || none() || yarn() || type == "linear" || type == "longrope";
  }
};

/// Error(Format) on numbers no model has. context_length 0 = not given.
GgufRope read_gguf_rope(GgufKeys& keys, const GgufArchitecture& rules, int64_t context_length);

/// Takes rope_freqs and rope_factors tensors into `tables`, and into `rope` when they can be used:
/// a positive divisor for each of n_pairs pairs. What cannot is listed as ignored.
/// From the first of a split model's parts that holds them.
void read_gguf_tables(std::span<const tensor::GgufFile* const> parts, int64_t n_pairs,
                      GgufRope& rope, ResolvedModel& model);

/// Fills frequencies, amplitude, scheme and origins of a kind that rotates; base, head_dim,
/// rotary_dim and layout are set already. `scaled`: the extension holds in these layers;
/// `divided`: the tables do.
void apply_gguf_rope(const GgufRope& rope, const GgufArchitecture& rules, bool scaled, bool divided,
                     LayerKind& kind);

}  // namespace gyre::inspect
