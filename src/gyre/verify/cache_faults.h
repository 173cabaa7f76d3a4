// Known faults of key/value caches, put into a model's own cache: `gyre verify --model M --fault
// NAME`. A check that passes under all of them would check nothing.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gyre/model/transformer.h"

namespace gyre::verify {

/// What a model is continued with.
struct CacheUse {
  /// A cache for the model's plan.
  std::function<std::unique_ptr<model::KvCache>(const position::PositionPlan&)> make;
  /// The model that decodes: the one at hand, or the same with another plan.
  std::function<model::Transformer(const model::Transformer&)> decoder;
};
CacheUse sound_cache_use();

struct CacheFault {
  std::string name;
  std::string summary;          // what it changes, and the claim or public report it stands for
  bool needs_window = false;    // shows only in layers with a window
  bool needs_rotation = false;  // shows only where something depends on position
  CacheUse (*use)();
};
const std::vector<CacheFault>& cache_faults();

/// What a model needs to show a fault.
struct Showing {
  bool possible = false;  // at some length
  int64_t more_than = 0;  // tokens that are too few; 0 = any number shows it
  bool in(int64_t n_tokens) const { return possible && n_tokens > more_than; }
};
/// A fault of windows shows once a token is outside the shortest of them.
Showing shows(const CacheFault& fault, const position::PositionPlan& plan);

/// Error(Usage) names the nearest fault, or says what the model or the run lacks to show it.
CacheUse faulty_cache_use(const std::string& name, const model::Transformer& model,
                          int64_t n_tokens);

}  // namespace gyre::verify
