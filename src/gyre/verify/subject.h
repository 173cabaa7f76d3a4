// What is verified: the operations of gyre as they are, or with one known fault put in
// (`gyre verify --fault NAME`). Identities call only these, so that a fault reaches all of them and
// a table faults x checks shows which checks catch it.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gyre/position/plan.h"

namespace gyre::verify {

struct Subject {
  std::string fault;  // "" = none
  /// Angles [T, P] float64 of tokens at positions [T].
  std::function<at::Tensor(const position::LayerPlan&, const std::vector<int64_t>& positions)>
      angles;
  /// Rotated q [B, H, T, D] and k [B, G, T, D].
  std::function<std::pair<at::Tensor, at::Tensor>(
      const at::Tensor& q, const at::Tensor& k, const std::vector<int64_t>& positions,
      const position::PositionPlan& plan, int64_t layer)>
      rotate;
  /// Attention output [B, H, T, D] of rotated q and k.
  std::function<at::Tensor(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           const position::LayerPlan& layer)>
      attention;
  /// Position ids [T] of a prompt of n tokens fed in chunks, and of left-padded rows.
  std::function<std::vector<int64_t>(int64_t n, int64_t chunk)> chunk_positions;
  std::function<std::vector<int64_t>(const std::vector<int64_t>& attention_mask)> padded_positions;
};

struct Fault {
  std::string name;     // "window-off-by-one"
  std::string summary;  // what it changes, and the public report it stands for
  void (*inject)(Subject& subject);
};

const std::vector<Fault>& faults();
Subject sound_subject();

}  // namespace gyre::verify
