// What a checkpoint's positions really are: one ResolvedModel, whatever the source (a config.json,
// a folder, a safetensors or GGUF header, a gyre run). Readers fill it; lint, diff, the terminal
// table, JSON and the page only read it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gyre/inspect/finding.h"
#include "gyre/inspect/raw_config.h"
#include "gyre/position/plan.h"

namespace gyre::inspect {

/// Where a value was taken from.
enum class OriginKind { Key, NestedKey, ClassDefault, Derived, Tensor, Assumed };

struct Origin {
  OriginKind kind = OriginKind::Assumed;
  std::string where;  // "rope_theta", "rope_parameters.factor", "LlamaConfig", "rope_freqs.weight"
};

/// One line of the origin table: a resolved field, its value as printed, where it came from.
struct Provenance {
  std::string field;
  std::string value;
  Origin origin;
};

/// A key that was read from the file and has no effect on positions although it looks as if it had,
/// or that nobody reads.
struct IgnoredKey {
  std::string key;
  std::string value;
  std::string reason;  // "LlamaConfig does not read it", "shadowed by rope_parameters.rope_theta"
};

/// Layers that treat positions alike.
struct LayerKind {
  std::string name;             // "all", "full_attention", "sliding_attention", "no_rotation", ...
  std::vector<int64_t> layers;  // indices, ascending
  std::string scheme;           // a registered name
  std::string spec;             // what position::make_scheme takes to rebuild `plan`
  std::string rope_type;        // as the file spells it; "" = none given
  int64_t n_heads = 0, n_kv_heads = 0;
  int64_t head_dim = 0;  // D, of the part of the head that holds positions (MLA: qk_rope_head_dim)
  int64_t rotary_dim = 0;  // R = 2P <= D
  double base = 0.0;       // 0 = no rotation
  double factor = 1.0;     // of the extension; 1 = none
  position::PairLayout layout = position::PairLayout::Unstated;
  position::LayerPlan plan;                // at prompts up to original_length
  std::vector<double> long_inv_freq;       // [P] when another table holds past original_length
  double long_amplitude = 0.0;             // plan.amplitude there, when it is another; 0 = the same
  std::string length_rule;                 // "" = one table at every length, else the rule in words
  std::string window_convention;           // what the window number counts, "" = no window
  double ramp_low = 0.0, ramp_high = 0.0;  // YaRN bounds as used, pairs; both 0 = no ramp
  std::vector<Provenance> origins;
  int64_t n_pairs() const { return rotary_dim / 2; }
};

/// Field of the origin that says: weights lie in other files too, which were not opened.
inline constexpr const char* kFilesField = "files";

enum class SourceKind { Config, Folder, Safetensors, Gguf, Run };

struct ResolvedModel {
  std::string path;
  SourceKind source = SourceKind::Config;
  std::string model_type;   // "llama"; GGUF general.architecture
  bool known_type = false;  // false: resolved by what its keys say alone
  std::string reader;       // which reader's rules were applied, "transformers v5 keys", "GGUF v3"
  int64_t n_layers = 0;
  int64_t hidden = 0;           // model width; 0 = not given
  int64_t original_length = 0;  // tokens it was trained on before extension; 0 = unknown
  int64_t max_length = 0;       // tokens the file admits; 0 = unknown
  std::string dtype;            // of the weights, as the file spells it
  std::vector<LayerKind> kinds;
  std::vector<Provenance> origins;  // fields of the whole model
  std::vector<IgnoredKey> ignored;
  RawConfig raw;  // every key of the file, flattened; empty for a bare safetensors file
  // Tensors of positions found in the file (rope_freqs.weight, rotary_emb.inv_freq,
  // rope_factors_short ...): name and values, so that they can be checked against the metadata.
  struct Table {
    std::string name;
    std::string dtype;
    std::vector<double> values;
  };
  std::vector<Table> tables;
  // What the readers themselves could not settle (shards missing, an encoding that no key names);
  // lint passes them on.
  std::vector<Finding> doubts;
};

}  // namespace gyre::inspect
