#include "gyre/inspect/architecture.h"

#include <algorithm>

namespace gyre::inspect {

using position::PairLayout;

const std::vector<Architecture>& architectures() {
  static const std::vector<Architecture> list = {
#define GYRE_ROPE_TYPE(...)
#define GYRE_ARCHITECTURE(...) Architecture{__VA_ARGS__},
#include "gyre/inspect/architectures.def"
#undef GYRE_ARCHITECTURE
#undef GYRE_ROPE_TYPE
  };
  return list;
}

const std::vector<RopeType>& rope_type_list() {
  static const std::vector<RopeType> list = {
#define GYRE_ARCHITECTURE(...)
#define GYRE_ROPE_TYPE(...) RopeType{__VA_ARGS__},
#include "gyre/inspect/architectures.def"
#undef GYRE_ROPE_TYPE
#undef GYRE_ARCHITECTURE
  };
  return list;
}

const Architecture* find_architecture(std::string_view model_type) {
  for (const Architecture& one : architectures()) {
    if (std::find(one.model_types.begin(), one.model_types.end(), model_type) !=
        one.model_types.end()) {
      return &one;
    }
  }
  return nullptr;
}

const Architecture& unknown_architecture() {
  static const Architecture rules = {.reader = "no known class",
                                     .alibi_key = "alibi",
                                     .encoding_key = "position_embedding_type",
                                     .local_theta_key = "rope_local_base_freq",
                                     .rotary_dim_key = "rotary_dim",
                                     .windowed = Windowed::ByKind,
                                     .window_switch = "use_sliding_window",
                                     .rotates_key = "no_rope_layers",
                                     .unrotated_every_key = "no_rope_layer_interval",
                                     .dynamic_alpha = true};
  return rules;
}

const RopeType* find_rope_type(std::string_view name) {
  for (const RopeType& one : rope_type_list()) {
    if (one.name == name) {
      return &one;
    }
  }
  return nullptr;
}

}  // namespace gyre::inspect
