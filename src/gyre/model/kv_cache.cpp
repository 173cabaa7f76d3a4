#include "gyre/model/kv_cache.h"

#include <ATen/ops/cat.h>

namespace gyre::model {

int64_t KvCache::length() const {
  return keys_.empty() || !keys_.front().defined() ? 0 : keys_.front().size(2);
}

std::pair<at::Tensor, at::Tensor> KvCache::append(int64_t n, const at::Tensor& k,
                                                  const at::Tensor& v) {
  const auto i = static_cast<size_t>(n);
  TORCH_CHECK_INDEX(i < keys_.size(), "kv cache: layer ", n, " of ", keys_.size());
  keys_[i] = keys_[i].defined() ? at::cat({keys_[i], k}, 2) : k;
  values_[i] = values_[i].defined() ? at::cat({values_[i], v}, 2) : v;
  return {keys_[i], values_[i]};
}

void KvCache::truncate(int64_t length) {
  const int64_t held = this->length();
  TORCH_CHECK_VALUE(length >= 0 && length <= held, "kv cache: cannot go back to ", length,
                    " tokens, ", held, " are held; give 0 to ", held);
  for (size_t n = 0; n < keys_.size() && held > 0; ++n) {
    keys_[n] = keys_[n].narrow(2, 0, length);
    values_[n] = values_[n].narrow(2, 0, length);
  }
}

void KvCache::use_plan(const std::vector<position::LayerPlan>& layers) {
  TORCH_CHECK_VALUE(length() == 0 || plan_ == nullptr || *plan_ == layers, "kv cache: the ",
                    length(),
                    " tokens held were rotated by another position plan; start an empty "
                    "cache and run the whole sequence anew");
  if (plan_ == nullptr || *plan_ != layers) {
    plan_ = std::make_shared<const std::vector<position::LayerPlan>>(layers);
  }
}

}  // namespace gyre::model
