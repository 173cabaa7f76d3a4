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

/// Error(Usage) names the nearest fault, or says that the model has nothing that could show it.
CacheUse faulty_cache_use(const std::string& name, const model::Transformer& model);
bool shows(const CacheFault& fault, const position::PositionPlan& plan);

}  // namespace gyre::verify
