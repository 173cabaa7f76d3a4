#include "gyre/model/kv_cache.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>

#include <algorithm>

namespace gyre::model {
namespace {

// Keys that one query sees under a mask that is a window and nothing else; 0 = no such mask.
int64_t reach_of(const position::MaskSpec& mask) {
  const bool plain = mask.window > 0 && mask.n_global == 0 && mask.chunk == 0;
  return plain ? (mask.window - 1) * mask.dilation + 1 : 0;
}

}  // namespace

KvCache::KvCache(const position::PositionPlan& plan, int64_t slack)
    : layers_(plan.layers.size()), slack_(slack) {
  for (size_t n = 0; n < layers_.size(); ++n) {
    layers_[n].reach = reach_of(plan.layers[n].mask);
  }
}

// Room for the tokens of k after those held. A window drops what lies before its reach and the
// slack when the buffer is full, which is once in at least as many tokens as it keeps.
void KvCache::make_room(Layer& layer, const at::Tensor& k) const {
  const int64_t n_new = k.size(2), n_held = layer.length - layer.first;
  const int64_t keep = layer.reach == 0 ? n_held : std::min(n_held, layer.reach - 1 + slack_);
  const bool fits = layer.buffer != nullptr && layer.buffer->k.size(2) >= n_held + n_new;
  if (fits && layer.buffer.use_count() == 1) {
    return;
  }
  TORCH_CHECK_VALUE(layer.buffer == nullptr || layer.buffer->k.size(0) == k.size(0),
                    "kv cache: holds ", layer.buffer == nullptr ? 0 : layer.buffer->k.size(0),
                    " sequences, got keys of ", k.size(0));
  const bool growing = layer.reach == 0 || keep == n_held;
  const int64_t spare = growing ? (keep + n_new) / 2 : keep;
  // A new buffer even when the old one would do: its views may still be read.
  auto buffer = std::make_shared<Buffer>();
  const std::vector<int64_t> sizes{k.size(0), k.size(1), keep + n_new + spare, k.size(3)};
  buffer->k = at::empty(sizes, k.options());
  buffer->v = at::empty(sizes, k.options());
  if (keep > 0) {
    buffer->k.narrow(2, 0, keep).copy_(layer.buffer->k.narrow(2, n_held - keep, keep));
    buffer->v.narrow(2, 0, keep).copy_(layer.buffer->v.narrow(2, n_held - keep, keep));
  }
  layer.buffer = std::move(buffer);
  layer.first = layer.length - keep;
}

KvCache::Held KvCache::append(int64_t n, const at::Tensor& k, const at::Tensor& v) {
  const auto i = static_cast<size_t>(n);
  TORCH_CHECK_INDEX(i < layers_.size(), "kv cache: layer ", n, " of ", layers_.size());
  Layer& layer = layers_[i];
  make_room(layer, k);
  const int64_t n_new = k.size(2), at_ = layer.length - layer.first;
  layer.buffer->k.narrow(2, at_, n_new).copy_(k);
  layer.buffer->v.narrow(2, at_, n_new).copy_(v);
  layer.length += n_new;
  if (i + 1 == layers_.size()) {
    length_ = layer.length;
  }
  const int64_t n_held = at_ + n_new;
  const int64_t seen = layer.reach == 0 ? n_held : std::min(n_held, layer.reach - 1 + n_new);
  return {layer.buffer->k.narrow(2, n_held - seen, seen),
          layer.buffer->v.narrow(2, n_held - seen, seen), layer.length - seen};
}

void KvCache::set_padding(const at::Tensor& padding_B) {
  TORCH_CHECK_VALUE(length_ == 0, "kv cache: padding is told before the first tokens, ", length_,
                    " are held");
  padding_B_ = padding_B;
}

at::Tensor KvCache::first_key(const Held& held, int64_t n_queries) const {
  if (!padding_B_.defined()) {
    return {};
  }
  return (padding_B_ - held.first).clamp_min(0).unsqueeze(1).expand({-1, n_queries});
}

void KvCache::truncate(int64_t length) {
  TORCH_CHECK_VALUE(length >= 0 && length <= length_, "kv cache: cannot go back to ", length,
                    " tokens, ", length_, " are held; give 0 to ", length_);
  for (const Layer& layer : layers_) {
    const int64_t needed = layer.reach == 0 ? 0 : std::max<int64_t>(length - layer.reach + 1, 0);
    TORCH_CHECK_VALUE(length == 0 || layer.first <= needed, "kv cache: cannot go back to ", length,
                      " tokens: a window needs the keys from ", needed, " on and those before ",
                      layer.first, " are dropped; make the cache with more slack than ", slack_,
                      " tokens, or run the sequence anew");
  }
  for (Layer& layer : layers_) {
    layer.length = length;
    layer.first = std::min(layer.first, length);
  }
  length_ = length;
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

int64_t KvCache::n_bytes() const {
  int64_t bytes = 0;
  for (const Layer& layer : layers_) {
    bytes += layer.buffer == nullptr ? 0 : 2 * static_cast<int64_t>(layer.buffer->k.nbytes());
  }
  return bytes;
}

}  // namespace gyre::model
