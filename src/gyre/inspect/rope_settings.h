// The rope settings of one kind of layers: which block of the config holds them, what each means
// and where it came from. Both generations of keys: rope_scaling beside rope_theta, and
// rope_parameters, flat or per layer kind.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gyre/inspect/config_reader.h"
#include "gyre/inspect/layer_pattern.h"

namespace gyre::inspect {

struct RopeSettings {
  std::string spelled;             // rope type as the file has it; "" = none given
  const RopeType* type = nullptr;  // never null; "default" for a type nobody knows
  double theta = 0.0;
  double factor = 1.0;
  int64_t original = 0;        // 0 = not stated
  double partial = 1.0;        // of the head's channels
  bool partial_given = false;  // by a key, not by the class
  int64_t rotary_dim = 0;      // given in channels; 0 = by `partial`
  std::optional<double> beta_fast, beta_slow, mscale, mscale_all_dim, attention_factor;
  std::optional<double> low_freq_factor, high_freq_factor;
  std::optional<double> long_attention_factor;  // past the original length, when it is another
  double alpha = 0.0;                           // of Hunyuan's static base; 0 = none
  bool truncate = true;
  const RawKey* short_factor = nullptr;
  const RawKey* long_factor = nullptr;
  std::vector<Provenance> origins;
  std::vector<IgnoredKey> ignored;
};

/// max_position is max_position_embeddings, 0 = not given.
RopeSettings rope_settings(ConfigReader& config, const LayerGroup& group, int64_t max_position);

/// Paths of every block that some layer reads, relative; for the list of ignored keys.
std::vector<std::string> rope_block_paths(const ConfigReader& config);

}  // namespace gyre::inspect
