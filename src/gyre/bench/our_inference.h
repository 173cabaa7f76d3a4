// Our side of the inference benchmark: one checkpoint, batch 1.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "gyre/bench/options.h"
#include "gyre/model/generate.h"
#include "gyre/train/any_model.h"

namespace gyre::bench {

/// "prefill 512": one pass over that many random tokens. "decode 512": one more token after them.
struct InferCase {
  std::string kind;
  int64_t length = 0;
};
std::vector<InferCase> cases_of(const InferShape& shape);
std::string case_words(const InferCase& one);

class OurInference {
 public:
  explicit OurInference(const InferShape& shape);
  /// ms of a prefill, or of one token of a decoding step (the mean of `new_tokens`).
  double timed_ms(const InferCase& one);
  /// Memory of weights and, after a step, of the cache, MiB.
  double weights_mib() const;
  double cache_mib() const { return cache_mib_; }

 private:
  int64_t n_new_;
  train::AnyModel any_;
  double cache_mib_ = 0.0;
};

}  // namespace gyre::bench
