// Which layers of a config treat positions alike: attention kinds, windows, chunks, layers that do
// not rotate.
#pragma once

#include <string>
#include <vector>

#include "gyre/inspect/config_reader.h"

namespace gyre::inspect {

/// Layers alike in everything but what their rope block says.
struct LayerGroup {
  std::string name{};       // "all", "full_attention", "no_rotation", ...
  std::string attention{};  // the kind that rope_parameters is keyed by, "full_attention"
  bool rotates = true;
  std::vector<int64_t> layers{};
  position::MaskSpec mask{};
  std::string window_convention{};
  std::vector<Provenance> origins{};
};

/// Groups in the order of their first layers. Error(Format) when a list of the config has not one
/// entry per layer.
std::vector<LayerGroup> layer_groups(ConfigReader& config, int64_t n_layers);

}  // namespace gyre::inspect
