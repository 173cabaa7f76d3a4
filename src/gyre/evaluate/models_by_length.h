// A run's model with the positions that hold for a sequence's length. Every query and key of a
// sequence is rotated with the table of its whole length; tables are never mixed inside one.
#pragma once

#include <map>

#include "gyre/train/run_dir.h"

namespace gyre::evaluate {

class ModelsByLength {
 public:
  /// Borrows the run.
  explicit ModelsByLength(const train::Run& run) : run_(run) {}
  /// The run's own model when its plan has no length rule or it is the training length.
  const model::Transformer& at(int64_t length);

 private:
  const train::Run& run_;
  std::map<int64_t, model::Transformer> others_;  // share the run's parameters
};

}  // namespace gyre::evaluate
