#include "gyre/accept/first_byte.h"

#include <algorithm>

namespace gyre::accept {

void FirstByteModel::add(int64_t prompt_bytes, double seconds) {
  const auto x = static_cast<double>(prompt_bytes);
  n_ += 1;
  x_ += x;
  y_ += seconds;
  xx_ += x * x;
  xy_ += x * seconds;
}

double FirstByteModel::seconds(int64_t prompt_bytes) const {
  if (n_ == 0) {
    return 0;
  }
  const auto x = static_cast<double>(prompt_bytes);
  const double spread = n_ * xx_ - x_ * x_;
  const double slope = spread > 1e-9 * n_ * xx_ ? (n_ * xy_ - x_ * y_) / spread : -1;
  const double start = (y_ - slope * x_) / n_;
  if (slope < 0 || start < 0) {  // one length only, or nonsense: all of it grows with the prompt
    return x_ > 0 ? y_ * std::max(1.0, x * n_ / x_) / n_ : y_ / n_;
  }
  return start + slope * x;
}

}  // namespace gyre::accept
