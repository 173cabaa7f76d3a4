// How long this server takes to its first byte, from its own answers: a + b * bytes of the prompt.
#pragma once

#include <cstdint>

namespace gyre::accept {

class FirstByteModel {
 public:
  void add(int64_t prompt_bytes, double seconds);
  /// Prediction; 0 before anything was measured.
  double seconds(int64_t prompt_bytes) const;

 private:
  double n_ = 0, x_ = 0, y_ = 0, xx_ = 0, xy_ = 0;  // sums of least squares
};

}  // namespace gyre::accept
