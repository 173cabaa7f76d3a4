// What forward.cpp and backward.cpp share: one (sequence, key/value head) of a call, its memory and
// its packed keys.
#pragma once

#include <memory>

#include "gyre/attention/cpu/attend.h"
#include "gyre/attention/cpu/kernels.h"
#include "gyre/attention/cpu/lanes.h"
#include "gyre/tensor/parallel.h"

namespace gyre::attention::cpu {

/// Aligned memory that grows to what a thread once needed and stays: no allocation per step.
class Arena {
 public:
  /// Forgets what was taken; `bytes` can be taken before the next reset.
  void reset(size_t bytes);
  template <class T = char>
  T* take(int64_t n) {
    return reinterpret_cast<T*>(take_bytes(static_cast<size_t>(n) * sizeof(T)));
  }

 private:
  char* take_bytes(size_t bytes);
  struct Free {
    void operator()(char* p) const;
  };
  std::unique_ptr<char, Free> memory_;
  size_t size_ = 0, used_ = 0;
};

/// Per thread, for the units it runs.
Arena& unit_arena();

/// Forces torch's tile products, which machines with AMX use, onto one without; for tests.
void use_torch_tiles(bool on);

/// Gives this thread's AMX state back after torch's tile products; nothing where they are not used.
void release_tiles();

/// Sizes and types of a call.
struct Shape {
  explicit Shape(const Call& call);
  Element type;
  TileType tile;
  const Kernels* kernels;
  TileProduct product;
  int64_t B, H, G, T, S, D, Dp, P, n_tables;
  int64_t tile_bytes, sum_bytes;  // of a tile's and an accumulator's element
  Score score(const Call& call, int64_t head) const;
};

/// Rows of one (b, head) of x; row t has index t + offset among the keys.
RowSet rows_of(const at::Tensor& x, int64_t b, int64_t head);
Turn turn_of(const Shape& shape, const Call& call, int64_t group, bool of_keys);

/// Runs f(i) for i in [0, n): by the thread team when the call has too few units for it.
template <class F>
void for_each(bool split, int64_t n, const F& f) {
  if (!split) {
    for (int64_t i = 0; i < n; ++i) {
      f(i);
    }
    return;
  }
  // From both ends in turn: under a causal mask the work per item grows or falls with i.
  parallel_for(0, n, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      f(i % 2 == 0 ? i / 2 : n - 1 - i / 2);
    }
    release_tiles();
  });
}

/// Runs f(b, g, split) for every unit.
template <class F>
void for_each_unit(const Shape& shape, const F& f) {
  const int64_t units = shape.B * shape.G, threads = at::get_num_threads();
  const bool split = threads > 1 && units < 4 * threads && units % threads != 0;
  for_each(!split, units, [&](int64_t i) { f(i / shape.G, i % shape.G, split); });
}

/// Packs keys and values [begin of tile, ...) of a set; pointers not null are filled.
struct PackedKeys {
  RowSet k, v;  // all keys of the set
  Turn turn;
  KeySet set;
  double* norms = nullptr;  // set.norms
};
size_t packed_bytes(const Shape& shape, int64_t n_keys);
PackedKeys take_keys(const Shape& shape, const Call& call, int64_t b, int64_t g, int64_t first,
                     int64_t stride, int64_t n, bool backward, Arena& arena);
void pack_key_tile(const Shape& shape, const PackedKeys& keys, int64_t tile);

inline int64_t n_tiles(int64_t n) {
  return (n + kKeys - 1) / kKeys;
}

}  // namespace gyre::attention::cpu
