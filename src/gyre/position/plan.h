// PositionPlan: everything a model, kernel, exporter or report needs to know about positions.
// Schemes write plans (position/schemes/); all other code reads plans and never asks for a scheme's
// name. Plain values, no tensors: a plan can be printed, stored and compared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gyre/base/options.h"

namespace gyre::position {

/// Which channels form a rotated pair. D = 8:
///   Interleaved  (0,1) (2,3) (4,5) (6,7)      GPT-J, GGUF "llama"
///   Halves       (0,4) (1,5) (2,6) (3,7)      GPT-NeoX, Hugging Face "llama"
/// With a rotary_dim R < D the pairs lie in the leading R channels and the rest is copied.
/// There is no default: a plan of frequencies alone may leave it Unstated, nothing rotates by it.
enum class PairLayout { Unstated, Interleaved, Halves };

/// Which keys j a query i may see. Always causal (j <= i). A key is seen when
///   it is in reach: with a window, i - j < window * dilation and (i - j) % dilation == 0; with
///   chunks, i and j lie in the same one (never both a window and chunks),
///   or j < n_global, or i < n_global (the first tokens see and are seen by all, as in Longformer).
struct MaskSpec {
  int64_t window = 0;    // keys seen per query, itself included; 0 = all
  int64_t dilation = 1;  // distance between seen keys, tokens
  int64_t n_global = 0;  // leading tokens outside the window rule
  int64_t chunk = 0;     // keys of the query's own chunk of this many tokens only; 0 = no chunks

  bool sees(int64_t i, int64_t j) const {
    if (j > i) {
      return false;
    }
    const int64_t distance = i - j;
    const bool near = window == 0 || (distance < window * dilation && distance % dilation == 0);
    const bool together = chunk == 0 || i / chunk == j / chunk;
    return (near && together) || j < n_global || i < n_global;
  }
  bool full() const { return window == 0 && chunk == 0; }
  bool operator==(const MaskSpec&) const = default;
};

/// Which parts of a model share one learned value per pair.
enum class Sharing { None, All, Layer, Head };

/// Training of alpha in inv_freq * exp(alpha); Sharing::None: frequencies are fixed.
struct Learning {
  Sharing sharing = Sharing::None;
  double lr = 0.0;    // peak learning rate of alpha, nats per step with Adam
  double clip = 0.0;  // largest norm of alpha's own gradient; 0 = no clipping
  bool operator==(const Learning&) const = default;
};

/// Positions in one layer. G = groups: 1 (all heads alike) or the number of key/value heads.
struct LayerPlan {
  std::vector<std::vector<double>> inv_freq;  // [G][P] rad per token; empty = no rotation at all;
                                              // a 0 entry = that pair is left as it is
  double amplitude = 1.0;                     // factor on rotated q and on rotated k
  double logit_scale = 1.0;                   // factor on q.k / sqrt(D), before the bias
  double score_cap = 0.0;      // scaled scores become cap * tanh(score / cap), before
                               // the bias (Gemma 2); 0 = none
  std::vector<double> slopes;  // [H] bias -slope * (i - j); empty = none
  std::vector<double> decay;   // [P] nats per token: pair m's part of the score is multiplied by
                               // exp(-decay_m (i - j)); empty = none
  double query_growth = 0.0;   // factor 1 + growth * ln(1 + floor((i + 1) / query_growth_floor)) on
  double query_growth_floor = 8192.0;  // the query at position i; growth 0 = none
  MaskSpec mask;
  bool operator==(const LayerPlan&) const = default;
};

struct PositionPlan {
  PairLayout layout = PairLayout::Unstated;
  int64_t head_dim = 0;           // D
  int64_t rotary_dim = 0;         // R = 2P <= D, the leading channels that hold pairs
  std::vector<LayerPlan> layers;  // [N]
  Learning learning;
  std::string slope_convention;  // "released", "geometric" or "" (P04: stored with the plan)
  std::string length_rule;  // "" = one table at every length, else how it depends on the length
  int64_t holds_to = 0;     // tokens of the longest sequence these tables are for; 0 = of any
  bool operator==(const PositionPlan&) const = default;

  int64_t n_pairs() const { return rotary_dim / 2; }
};

/// What a scheme is asked for.
struct PlanRequest {
  int64_t n_layers = 1;
  int64_t n_heads = 1;                       // H, query heads
  int64_t n_kv_heads = 1;                    // G
  int64_t head_dim = 64;                     // D
  int64_t train_length = 0;                  // tokens per training sequence; 0 = unknown
  int64_t length = 0;                        // tokens of the sequence at hand; 0 = train_length
  PairLayout layout = PairLayout::Unstated;  // of the model; a scheme's own `layout` goes before
};

/// "halves", "interleaved" or "unstated".
const char* layout_name(PairLayout layout);

/// Wavelength of a frequency in tokens, 2 pi / inv_freq; infinity for 0.
double wavelength_tokens(double inv_freq);

/// Every field of a plan as JSON text (shortest doubles that read back exactly), and back.
std::string plan_to_json(const PositionPlan& plan);
PositionPlan plan_from_json(const std::string& text, const std::string& owner);

/// "window:128", "dilated:64x4" (64 keys, every 4th), "chunk:8192" (keys of the query's own chunk),
/// "window:128+global:4", "full"; "/" alternates over layers: "window:128/full". Returns one
/// MaskSpec per layer. Error(Usage) on anything else.
std::vector<MaskSpec> parse_masks(std::string_view text, int64_t n_layers);

}  // namespace gyre::position

template <>
struct gyre::EnumNames<gyre::position::PairLayout> {
  static constexpr std::pair<gyre::position::PairLayout, const char*> list[] = {
      {gyre::position::PairLayout::Unstated, "unstated"},
      {gyre::position::PairLayout::Interleaved, "interleaved"},
      {gyre::position::PairLayout::Halves, "halves"}};
};

template <>
struct gyre::EnumNames<gyre::position::Sharing> {
  static constexpr std::pair<gyre::position::Sharing, const char*> list[] = {
      {gyre::position::Sharing::None, "none"},
      {gyre::position::Sharing::All, "all"},
      {gyre::position::Sharing::Layer, "layer"},
      {gyre::position::Sharing::Head, "head"}};
};
