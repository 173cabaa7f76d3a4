#include "gyre/attention/cpu/unit.h"

#include <ATen/native/CPUBlas.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace gyre::attention::cpu {
namespace {

constexpr size_t kAlign = 64;
constexpr double kLog2E = 1.4426950408889634;

size_t aligned(size_t bytes) {
  return (bytes + kAlign - 1) / kAlign * kAlign;
}

Element element_of(at::ScalarType type) {
  return type == at::kDouble ? Element::F64 : type == at::kFloat ? Element::F32 : Element::BF16;
}

// torch's tiles: AMX where the machine has it.
void torch_product(int64_t M, int64_t N, int64_t K, int64_t lda, int64_t ldb, int64_t ldc, bool add,
                   const void* a, const void* b, float* c) {
  at::native::cpublas::brgemm(M, N, K, lda, ldb, ldc, add, static_cast<const at::BFloat16*>(a),
                              static_cast<const at::BFloat16*>(b), c);
}

std::atomic<bool> torch_tiles{false};

bool uses_torch_tiles() {
  return gyre::isa() == Isa::Amx || torch_tiles;
}

}  // namespace

void use_torch_tiles(bool on) {
  torch_tiles = on;
}

void release_tiles() {
  if (uses_torch_tiles()) {
    at::native::cpublas::brgemm_release();
  }
}

void Arena::Free::operator()(char* p) const {
  std::free(p);
}

void Arena::reset(size_t bytes) {
  used_ = 0;
  if (bytes > size_) {
    memory_.reset();
    size_ = 0;
    memory_.reset(static_cast<char*>(std::aligned_alloc(kAlign, aligned(bytes))));
    if (memory_ == nullptr) {
      throw std::bad_alloc();
    }
    size_ = aligned(bytes);
  }
}

char* Arena::take_bytes(size_t bytes) {
  char* p = memory_.get() + used_;
  used_ += aligned(bytes);
  TORCH_INTERNAL_ASSERT(used_ <= size_, "attention: scratch of ", size_, " bytes, ", used_,
                        " needed");
  return p;
}

Arena& unit_arena() {
  thread_local Arena arena;
  return arena;
}

Shape::Shape(const Call& call)
    : type(element_of(call.q.scalar_type())),
      tile(type),
      kernels(&cpu::kernels()),
      product(uses_torch_tiles() ? torch_product : nullptr),
      B(call.q.size(0)),
      H(call.q.size(1)),
      G(call.k.size(1)),
      T(call.q.size(2)),
      S(call.k.size(2)),
      D(call.q.size(3)),
      Dp(round_up(D, kGranule)),
      P(call.cos.defined() ? call.cos.size(2) : 0),
      n_tables(call.cos.defined() ? call.cos.size(0) : 1) {
  if (type == Element::BF16) {
    tile = kernels->bf16_tile;
  }
  tile_bytes = tile == TileType::F64 ? 8 : tile == TileType::F32 ? 4 : 2;
  sum_bytes = tile == TileType::F64 ? 8 : 4;
}

Score Shape::score(const Call& call, int64_t head) const {
  const double slope = call.slopes.empty() ? 0.0 : call.slopes[static_cast<size_t>(head)];
  return {call.scale * kLog2E, slope * kLog2E, call.cap * kLog2E};
}

RowSet rows_of(const at::Tensor& x, int64_t b, int64_t head) {
  char* data = static_cast<char*>(x.data_ptr()) +
               (b * x.stride(0) + head * x.stride(1)) * static_cast<int64_t>(x.element_size());
  return {data, x.stride(2), 0, 1, x.size(2)};
}

Turn turn_of(const Shape& shape, const Call& call, int64_t group, bool of_keys) {
  Turn turn;
  if (!of_keys && call.query_gain.defined()) {
    turn.gain = call.query_gain.const_data_ptr<double>();
  }
  if (!call.cos.defined()) {
    return turn;
  }
  const at::Tensor& cos = of_keys ? call.key_cos : call.cos;
  const at::Tensor& sin = of_keys ? call.key_sin : call.sin;
  const int64_t bytes = group * shape.n_tables / shape.G * cos.stride(0) * shape.sum_bytes;
  turn.cos = static_cast<const char*>(cos.const_data_ptr()) + bytes;
  turn.sin = static_cast<const char*>(sin.const_data_ptr()) + bytes;
  turn.n_pairs = shape.P;
  turn.interleaved = call.interleaved;
  return turn;
}

size_t packed_bytes(const Shape& shape, int64_t n_keys) {
  const int64_t rows = round_up(n_keys, kKeys);
  return static_cast<size_t>(rows * shape.Dp * shape.tile_bytes) * 3 + 5 * kAlign +
         static_cast<size_t>(n_tiles(n_keys)) * sizeof(double);
}

PackedKeys take_keys(const Shape& shape, const Call& call, int64_t b, int64_t g, int64_t first,
                     int64_t stride, int64_t n, bool backward, Arena& arena) {
  PackedKeys keys;
  keys.k = rows_of(call.k, b, g);
  keys.v = rows_of(call.v, b, g);
  for (RowSet* rows : {&keys.k, &keys.v}) {
    rows->first = first;
    rows->stride = stride;
    rows->count = n;
  }
  keys.turn = turn_of(shape, call, g, true);
  keys.set.n = n;
  keys.set.first = first;
  keys.set.stride = stride;
  const int64_t bytes = round_up(n, kKeys) * shape.Dp * shape.tile_bytes;
  keys.set.rows = arena.take(bytes);
  keys.set.values = arena.take(bytes);
  void* columns = arena.take(bytes);
  (backward ? keys.set.key_columns : keys.set.value_columns) = columns;
  keys.norms = call.slopes.empty() ? nullptr : arena.take<double>(n_tiles(n));
  keys.set.norms = keys.norms;
  return keys;
}

void pack_key_tile(const Shape& shape, const PackedKeys& keys, int64_t tile) {
  const int64_t c0 = tile * kKeys, n = std::min(kKeys, keys.set.n - c0);
  const int64_t offset = c0 * shape.Dp * shape.tile_bytes;
  const auto place = [&](const void* p) {
    return const_cast<char*>(static_cast<const char*>(p)) + offset;
  };
  const Kernels& kernel = *shape.kernels;
  kernel.pack_rows({shape.type, shape.tile, keys.k.part(c0, n), keys.turn, shape.D, shape.Dp, n,
                    place(keys.set.rows)});
  kernel.pack_rows({shape.type,
                    shape.tile,
                    keys.v.part(c0, n),
                    {},
                    shape.D,
                    shape.Dp,
                    n,
                    place(keys.set.values)});
  if (keys.norms != nullptr) {
    keys.norms[tile] = kernel.largest_norm(shape.tile, place(keys.set.rows), n, shape.Dp);
  }
  if (keys.set.key_columns != nullptr) {
    kernel.transpose(shape.tile, place(keys.set.rows), n, shape.Dp, place(keys.set.key_columns));
  } else {
    kernel.transpose(shape.tile, place(keys.set.values), n, shape.Dp,
                     place(keys.set.value_columns));
  }
}

}  // namespace gyre::attention::cpu
