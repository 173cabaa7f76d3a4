// What a family of models does with positions beyond its config's keys: class defaults, the names
// it reads, pair layout, layer patterns. All of it is data in architectures.def; nothing else in
// gyre knows a model family. Adding a family = adding an entry there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gyre/position/plan.h"

namespace gyre::inspect {

/// Unknown: a file of a type nobody described, with no key that says what it does.
enum class Encoding { Rotary, Alibi, Learned, None, Unknown };

/// Which layers have a window.
enum class Windowed { Never, All, ByKind };

struct Architecture {
  std::vector<std::string> model_types{};  // config.json "model_type", lower case
  std::string reader{};                    // the class whose rules these are, "LlamaConfig"

  Encoding encoding = Encoding::Rotary;
  std::string alibi_key{};  // a true/false key that chooses ALiBi; "" = `encoding` holds
  bool alibi_default = false;
  int64_t alibi_hidden = 0;    // the width whose code uses ALiBi; 0 = none (Baichuan)
  std::string rotary_key{};    // a true/false key that chooses rotation
  std::string encoding_key{};  // a text key: "absolute", "rope", "alibi", "nope"
  bool alibi_scaled = false;   // the bias is added before the division by sqrt(D)

  position::PairLayout layout = position::PairLayout::Unstated;
  std::string interleave_key{};  // a true/false key that chooses Interleaved

  double theta = 10000.0;
  std::string theta_key = "rope_theta";
  std::string theta_ratio_key{};  // base = theta * ratio (ChatGLM)
  double local_theta = 0.0;       // of windowed layers when they have a base of their own
  std::string local_theta_key{};

  // Class defaults of sizes; 0 = none.
  int64_t hidden = 0, layers = 0, heads = 0, kv_heads = 0, max_length = 0;
  std::string multi_query_key{};  // a true/false key: one key/value head for all
  bool multi_query_default = false;
  std::string grouped_key{};              // a true/false key that switches multi_query_key off
  int64_t head_dim = 0;                   // 0 = hidden / heads
  std::string head_dim_key = "head_dim";  // "" = the class reads none
  int64_t global_head_dim = 0;            // of full_attention layers, when it differs
  std::string global_head_dim_key{};

  double partial = 1.0;
  std::string partial_key = "partial_rotary_factor";
  bool partial_on_default = true;  // false: read for extended types alone (transformers' Llama kin)
  int64_t rotary_dim = 0;          // channels; 0 = head dim times the partial factor
  std::string rotary_dim_key{};

  Windowed windowed = Windowed::Never;
  int64_t window = 0;  // class default, keys; 0 = none
  std::string window_key = "sliding_window";
  std::string window_switch{};      // a true/false key, default false, that turns windows on
  bool window_both_sides = false;   // the number counts keys on both sides together (Longformer)
  std::string bidirectional_key{};  // when set, the class halves the window
  // Kinds of layers when the file has no layer_types: layer i is full when (i + 1) % full_every is
  // 0, else `other_kind`.
  int64_t full_every = 0;
  std::string full_every_key{};
  bool full_at_first = false;        // the first of each full_every is the full one
  std::string first_windowed_key{};  // layers from this index on are windowed (Qwen)
  int64_t first_windowed = 0;
  bool last_is_full = false;
  std::string other_kind = "sliding_attention";
  std::string chunk_key{};
  int64_t chunk = 0;

  // Layers without rotation.
  std::string rotates_key{};  // list of 0/1 per layer; 1 = rotates, whatever the key's name says
  std::string unrotated_every_key{};
  int64_t unrotated_every = 0;          // (i + 1) % n == 0 does not rotate
  std::string unrotated_kind{};         // kind of layers that never rotates
  bool unrotated_needs_window = false;  // without a window that kind rotates too (EXAONE 4)
  bool unrotated_grows_query = false;   // attn_scale, floor_scale (Llama 4)

  bool block_is_for_full = false;    // rope_scaling changes full_attention layers alone
  std::string default_block{};       // "key=value,..." when the file has no block at all
  std::string default_block_kind{};  // the kind it is for; "" = all
  std::string own_block{};       // a block of rope keys besides rope_scaling and rope_parameters,
  std::string own_block_key{};   // read when this text key
  std::string own_block_when{};  // has this value
  int64_t original = 0;          // class default of original_max_position_embeddings
  bool dynamic_alpha = false;    // type dynamic with alpha: base * alpha^(d/(d-2)) (Hunyuan)
  std::vector<std::pair<std::string, std::string>> type_remap{};  // rope types this class renames
  bool softmax_mscale = false;  // scores times m(mscale_all_dim)^2 (DeepSeek)
  bool list_mscales = false;    // longrope: short_mscale, long_mscale are the amplitudes
  std::string note{};           // one line for the reader of the table
};

/// The rules of a model type; null when it is not known.
const Architecture* find_architecture(std::string_view model_type);
/// What is assumed of a type nobody described: Hugging Face names and halves.
const Architecture& unknown_architecture();
const std::vector<Architecture>& architectures();

/// A rope type as configs spell it, and what it stands for.
struct RopeType {
  std::string name{};
  std::string scheme{};             // position::make_scheme's name
  bool canonical = true;            // false: an alias
  std::vector<std::string> keys{};  // of its block, besides rope_theta and partial_rotary_factor
  std::string note{};
};

const RopeType* find_rope_type(std::string_view name);
const std::vector<RopeType>& rope_type_list();

}  // namespace gyre::inspect
