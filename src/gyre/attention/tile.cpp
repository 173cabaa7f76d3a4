#include "gyre/attention/tile.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <bit>
#include <limits>
#include <list>
#include <mutex>

namespace gyre::attention {
namespace {

struct Key {
  std::vector<double> slopes;  // per step
  int64_t window, n_rows, n_columns;
  at::ScalarType dtype;
  bool operator==(const Key&) const = default;
};

// Row a, column c: distance (n_columns - n_rows) + a - c in steps.
template <class T>
void fill(const Key& key, T* out) {
  const size_t n_heads = std::max<size_t>(1, key.slopes.size());
  for (size_t h = 0; h < n_heads; ++h) {
    const double slope = key.slopes.empty() ? 0.0 : key.slopes[h];
    for (int64_t a = 0; a < key.n_rows; ++a) {
      for (int64_t c = 0; c < key.n_columns; ++c) {
        const int64_t distance = key.n_columns - key.n_rows + a - c;
        const bool seen = distance >= 0 && (key.window == 0 || distance < key.window);
        *out++ = seen ? static_cast<T>(-slope * static_cast<double>(distance))
                      : -std::numeric_limits<T>::infinity();
      }
    }
  }
}

at::Tensor build(const Key& key) {
  const auto n_heads = std::max<int64_t>(1, static_cast<int64_t>(key.slopes.size()));
  at::Tensor tile = at::empty({1, n_heads, key.n_rows, key.n_columns}, key.dtype);
  if (key.dtype == at::kDouble) {
    fill(key, tile.mutable_data_ptr<double>());
  } else {
    fill(key, tile.mutable_data_ptr<float>());
  }
  return tile;
}

// Tiles of the last few layer shapes, so that training builds each once. Shared by all threads.
at::Tensor cached(const Key& key) {
  constexpr size_t kEntries = 8;
  constexpr size_t kLargestBytes = size_t{32} << 20;
  static std::mutex mutex;
  static std::list<std::pair<Key, at::Tensor>> entries;  // most recently used first
  const std::lock_guard lock(mutex);
  for (auto entry = entries.begin(); entry != entries.end(); ++entry) {
    if (entry->first == key) {
      entries.splice(entries.begin(), entries, entry);
      return entry->second;
    }
  }
  at::Tensor tile = build(key);
  if (tile.nbytes() <= kLargestBytes) {
    entries.emplace_front(key, tile);
    if (entries.size() > kEntries) {
      entries.pop_back();
    }
  }
  return tile;
}

}  // namespace

TileSource::TileSource(const std::vector<Reach>& blocks, std::vector<double> slopes,
                       at::ScalarType dtype)
    : slopes_(std::move(slopes)), dtype_(dtype == at::kDouble ? at::kDouble : at::kFloat) {
  for (const Reach& block : blocks) {
    n_rows_ = std::max(n_rows_, block.n_queries);
    max_offset_ = std::max(max_offset_, block.offset());
  }
  // Rounded up, so that a growing cache of keys does not need a new tile at every token.
  max_offset_ = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(max_offset_ + 1)) - 1);
}

const at::Tensor& TileSource::base(const Reach& block) const {
  at::Tensor& tile = block.window == 0 ? full_ : windowed_;
  if (!tile.defined()) {
    std::vector<double> per_step = slopes_;
    for (double& slope : per_step) {
      slope *= static_cast<double>(block.step);
    }
    tile = cached({per_step, block.window, n_rows_, max_offset_ + n_rows_, dtype_});
  }
  return tile;
}

// [1, H or 1, n_queries, n_prefix]: seen by all, biased by the distance.
at::Tensor TileSource::prefix(const Reach& block) const {
  const auto n_heads = std::max<int64_t>(1, static_cast<int64_t>(slopes_.size()));
  at::Tensor tile = at::zeros({1, n_heads, block.n_queries, block.n_prefix}, at::kDouble);
  auto* out = tile.mutable_data_ptr<double>();
  for (const double slope : slopes_) {
    for (int64_t a = 0; a < block.n_queries; ++a) {
      for (int64_t j = 0; j < block.n_prefix; ++j) {
        *out++ = -slope * static_cast<double>(block.q_begin + a * block.step - j);
      }
    }
  }
  return tile.to(dtype_);
}

at::Tensor TileSource::tile(const Reach& block) const {
  if (slopes_.empty() && block.n_queries == 1) {
    return {};
  }
  const at::Tensor range = base(block)
                               .narrow(2, 0, block.n_queries)
                               .narrow(3, max_offset_ - block.offset(), block.n_keys);
  return block.n_prefix == 0 ? range : at::cat({prefix(block), range}, 3);
}

}  // namespace gyre::attention
