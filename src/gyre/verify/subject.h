// What is verified: the operations of gyre as they are, or with one known fault put in
// (`gyre verify --fault NAME`). Identities call only these, so that a fault reaches all of them and
// a table faults x checks shows which checks catch it.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gyre/attention/rotation.h"
#include "gyre/position/plan.h"

namespace gyre::verify {

/// Lengths, in tokens, that a frequency table may be chosen by.
struct TableLengths {
  int64_t when_cached = 0;  // length of the sequence when the key was put into the cache
  int64_t now = 0;          // length of the sequence at hand
  int64_t allocated = 0;    // room of the cache
};

struct Subject {
  std::string fault;   // "" = none
  bool quick = false;  // fewer random draws, for the table of faults

  /// Plan of a scheme under a full mask.
  std::function<position::PositionPlan(const std::string& spec, const position::PlanRequest&)> plan;
  /// Table of one layer for tokens at positions [T]; float64 when exact, else float32.
  std::function<attention::Rotation(const position::PositionPlan& plan, int64_t layer,
                                    const std::vector<int64_t>& positions, bool exact)>
      table;
  /// Rotated q [B, H, T, D] and k [B, G, T, D].
  std::function<std::pair<at::Tensor, at::Tensor>(const at::Tensor& q, const at::Tensor& k,
                                                  const attention::Rotation& rotation)>
      rotate;
  /// Attention output [B, H, T, D] of rotated q and k.
  std::function<at::Tensor(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           const position::LayerPlan& layer)>
      attention;

  /// Positions [n] of a prompt of n tokens fed in chunks.
  std::function<std::vector<int64_t>(int64_t n, int64_t chunk)> chunk_positions;
  /// Positions [n] of n tokens that continue a cache of `cached` tokens.
  std::function<std::vector<int64_t>(int64_t cached, int64_t n)> cache_positions;
  /// Positions of a padded row (1 = token, 0 = padding, whose position is 0) and of n_decoded
  /// tokens after it.
  std::function<std::vector<int64_t>(const std::vector<int64_t>& row, int64_t n_decoded)>
      padded_positions;
  /// Tokens whose keys the next query of a window sees besides its own, oldest first, after
  /// n_tokens were fed and the last n_back taken back.
  std::function<std::vector<int64_t>(int64_t window, int64_t n_tokens, int64_t n_back)> rolled_back;
  /// Length by which the table of a cached key is chosen when the table depends on the length.
  std::function<int64_t(const TableLengths& lengths)> table_length;
};

struct Fault {
  std::string name;     // "window-off-by-one"
  std::string summary;  // what it changes, and the public report it stands for
  void (*inject)(Subject& subject);
};

const std::vector<Fault>& faults();
Subject sound_subject();
/// sound_subject() with one fault; Error(Usage) names the nearest fault.
Subject faulty_subject(const std::string& name);

}  // namespace gyre::verify
