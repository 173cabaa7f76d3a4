// AdamW in groups: decay on matrices only, alpha with its own learning rate and its own clip.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "gyre/model/transformer.h"
#include "gyre/position/plan.h"
#include "gyre/train/train_options.h"

namespace gyre::train {

/// Norms before clipping.
struct StepNorms {
  double grad = 0.0;   // all parameters but alpha
  double alpha = 0.0;  // alpha alone; 0 without alpha
};

class Optimizer {
 public:
  /// Borrows the model's parameters; the model must outlive it and stay where it is.
  Optimizer(model::Transformer& model, const TrainOptions& options);

  /// Steps at share * peak learning rate with clipped gradients (alpha apart from the rest), and
  /// drops the gradients. With norms that are not finite nothing is changed.
  StepNorms step(double share);

  int64_t n_updates() const { return n_updates_; }
  /// Moments by name: "m.<parameter>", "v.<parameter>".
  std::vector<std::pair<std::string, at::Tensor>> state() const;
  /// Takes moments as state() gave them, by lookup(name).
  template <class Lookup>
  void load(int64_t n_updates, const Lookup& lookup) {
    n_updates_ = n_updates;
    for (auto& [name, value] : state()) {
      value.copy_(lookup(name));
    }
  }

 private:
  struct Group {
    double lr = 0.0, decay = 0.0, clip = 0.0;
    std::vector<at::Tensor> values, first, second;
    std::vector<std::string> names;
  };
  Group matrices_, others_, alpha_;  // decayed; not decayed; alpha
  double beta1_, beta2_;
  int64_t n_updates_ = 0;

  std::vector<at::Tensor> gradients(const Group& group) const;
  void update(Group& group, double share, double norm);
};

}  // namespace gyre::train
