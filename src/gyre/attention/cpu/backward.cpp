// Backward pass. Tiles of keys are the outer loop, so dk and dv of a tile stay in cache; dq of all
// tiles of queries is summed beside it. With a split unit every worker takes each n-th tile of keys
// and sums its own dq; the workers' sums are added in order, so the result does not depend on
// timing.
#include <algorithm>
#include <cstring>
#include <limits>

#include "gyre/attention/cpu/unit.h"

namespace gyre::attention::cpu {
namespace {

struct Unit {
  const Shape& shape;
  const Call& call;
  const at::Tensor &out, &softmax, &grad;
  const Gradients& to;
  int64_t b, g;
  bool split;
  int64_t n_workers;

  int64_t sum_size() const { return to.cross.defined() ? 3 * shape.P : 0; }
};

RowSet rows_at(const at::Tensor& x, int64_t b, int64_t head, int64_t first, int64_t stride,
               int64_t n) {
  RowSet rows = rows_of(x, b, head);
  rows.first = first;
  rows.stride = stride;
  rows.count = n;
  return rows;
}

// Where finish_rows adds the frequency sums of one tile: [3][P] doubles, or nothing.
void set_sums(const Unit& unit, double* sums, FinishRows& finish) {
  if (sums == nullptr || unit.shape.P == 0) {
    finish.rotated = nullptr;
    return;
  }
  finish.positions = unit.call.positions.const_data_ptr<int64_t>();
  finish.origin = finish.positions[unit.shape.T / 2];
  finish.weighted = sums;
  if (unit.to.gauge) {
    finish.plain = sums + unit.shape.P;
    finish.magnitude = sums + 2 * unit.shape.P;
  }
}

// One head's tiles of queries with their memory.
struct Queries {
  std::vector<QueryTile> tiles;
  std::vector<void*> dq;  // [n_workers][tiles]
  char* rows;             // [padded][Dp], for packing and again for the frequency gradient
  char* sums;             // [padded][Dp] accumulate type: gradients as rows
};

size_t query_bytes(const Unit& unit, int64_t n_queries) {
  const Shape& s = unit.shape;
  const int64_t n = round_up(n_queries, kGranule) * s.Dp;
  const int64_t tiles = n_tiles(n_queries);
  return static_cast<size_t>(5 * n * s.tile_bytes + (unit.n_workers + 1) * n * s.sum_bytes +
                             3 * round_up(n_queries, kGranule) * s.sum_bytes) +
         static_cast<size_t>(64 * (8 + unit.n_workers * tiles + 9 * tiles));
}

Queries take_queries(const Unit& unit, const Lane& lane, Arena& arena) {
  const Shape& s = unit.shape;
  Queries q;
  q.tiles = lane.tiles;
  const int64_t padded = round_up(lane.n_queries, kGranule);
  q.rows = arena.take(padded * s.Dp * s.tile_bytes);
  q.sums = arena.take(padded * s.Dp * s.sum_bytes);
  for (QueryTile& tile : q.tiles) {
    const int64_t bytes = tile.columns * s.Dp * s.tile_bytes;
    tile.q_columns = arena.take(bytes);
    tile.q_rows = arena.take(bytes);
    tile.grad_columns = arena.take(bytes);
    tile.grad_rows = arena.take(bytes);
    tile.top = arena.take(tile.columns * s.sum_bytes);
    tile.inverse = arena.take(tile.columns * s.sum_bytes);
    tile.delta = arena.take(tile.columns * s.sum_bytes);
  }
  for (int64_t w = 0; w < unit.n_workers; ++w) {
    for (const QueryTile& tile : q.tiles) {
      q.dq.push_back(arena.take(tile.columns * s.Dp * s.sum_bytes));
    }
  }
  return q;
}

// The softmax of a tile's queries, padded so that probabilities there are 0.
template <class A>
void copy_softmax(const Unit& unit, int64_t head, QueryTile& tile) {
  const Shape& s = unit.shape;
  const A* top = static_cast<const A*>(unit.softmax.const_data_ptr()) + (unit.b * s.H + head) * s.T;
  const A* inverse = top + s.B * s.H * s.T;
  A* top_out = static_cast<A*>(const_cast<void*>(tile.top));
  A* inverse_out = static_cast<A*>(const_cast<void*>(tile.inverse));
  for (int64_t n = 0; n < tile.columns; ++n) {
    const int64_t t = tile.first + n * tile.stride - (s.S - s.T);
    top_out[n] = n < tile.n ? top[t] : std::numeric_limits<A>::infinity();
    inverse_out[n] = n < tile.n ? inverse[t] : A{};
  }
  tile.least_top = *std::min_element(top_out, top_out + tile.n);
}

void pack_queries(const Unit& unit, int64_t head, QueryTile& tile, char* rows) {
  const Shape& s = unit.shape;
  const Kernels& k = *s.kernels;
  const int64_t first = tile.first - (s.S - s.T);
  char* mine = rows + tile.row * s.Dp * s.tile_bytes;
  const auto place = [](const void* p) { return const_cast<void*>(p); };
  const auto rows_in = [&](const at::Tensor& x) {
    return rows_at(x, unit.b, head, first, tile.stride, tile.n);
  };
  const auto pack = [&](const at::Tensor& x, const Turn& turn, const void* columns,
                        const void* pairs) {
    k.pack_rows({s.type, s.tile, rows_in(x), turn, s.D, s.Dp, tile.columns, mine});
    k.pack_columns(s.tile, mine, tile.columns, s.Dp, place(columns));
    k.pack_pairs(s.tile, mine, tile.columns, s.Dp, place(pairs));
  };
  pack(unit.grad, {}, tile.grad_columns, tile.grad_rows);
  pack(unit.call.q, turn_of(s, unit.call, unit.g, false), tile.q_columns, tile.q_rows);
  k.delta_rows(
      {s.type, rows_in(unit.out), rows_in(unit.grad), s.D, tile.columns, place(tile.delta)});
  if (!unit.call.slopes.empty()) {
    tile.norm = k.largest_norm(s.tile, mine, tile.n, s.Dp);
  }
  s.tile == TileType::F64 ? copy_softmax<double>(unit, head, tile)
                          : copy_softmax<float>(unit, head, tile);
}

template <class A>
void add_workers(const Queries& q, size_t i, int64_t n_workers, int64_t size) {
  A* sum = static_cast<A*>(q.dq[i]);
  for (int64_t w = 1; w < n_workers; ++w) {
    const A* other = static_cast<const A*>(q.dq[static_cast<size_t>(w) * q.tiles.size() + i]);
    for (int64_t d = 0; d < size; ++d) {
      sum[d] += other[d];
    }
  }
}

void finish_queries(const Unit& unit, int64_t head, const Queries& q, size_t i, double* sums) {
  const Shape& s = unit.shape;
  const QueryTile& tile = q.tiles[i];
  const int64_t size = tile.columns * s.Dp;
  if (s.tile == TileType::F64) {
    add_workers<double>(q, i, unit.n_workers, size);
  } else {
    add_workers<float>(q, i, unit.n_workers, size);
  }
  char* rows = q.sums + tile.row * s.Dp * s.sum_bytes;
  s.kernels->transpose_sums(s.tile, q.dq[i], tile.columns, s.Dp, rows);
  FinishRows finish{};
  finish.type = s.type;
  finish.tile = s.tile;
  finish.grad = rows;
  finish.rotated = q.rows + tile.row * s.Dp * s.tile_bytes;
  finish.out = rows_at(unit.to.q, unit.b, head, tile.first - (s.S - s.T), tile.stride, tile.n);
  finish.turn = turn_of(s, unit.call, unit.g, false);
  finish.head_dim = s.D;
  finish.Dp = s.Dp;
  finish.scale = unit.call.scale;
  set_sums(unit, sums, finish);
  s.kernels->finish_rows(finish);
}

// A set of keys with its gradients.
struct Keys {
  PackedKeys packed;
  char* dk;
  char* dv;
};

size_t key_bytes(const Unit& unit, int64_t n) {
  const Shape& s = unit.shape;
  return packed_bytes(s, n) + static_cast<size_t>(2 * round_up(n, kKeys) * s.Dp * s.sum_bytes) +
         128;
}

Keys make_keys(const Unit& unit, int64_t first, int64_t stride, int64_t n, Arena& arena) {
  const Shape& s = unit.shape;
  const int64_t bytes = round_up(n, kKeys) * s.Dp * s.sum_bytes;
  Keys keys{take_keys(s, unit.call, unit.b, unit.g, first, stride, n, true, arena),
            arena.take(bytes), arena.take(bytes)};
  for_each(unit.split, n_tiles(n), [&](int64_t i) {
    pack_key_tile(s, keys.packed, i);
    const int64_t offset = i * kKeys * s.Dp * s.sum_bytes;
    std::memset(keys.dk + offset, 0, static_cast<size_t>(kKeys * s.Dp * s.sum_bytes));
    std::memset(keys.dv + offset, 0, static_cast<size_t>(kKeys * s.Dp * s.sum_bytes));
  });
  return keys;
}

// Writes the gradients of keys [begin, end) of a tile.
void finish_keys(const Unit& unit, const Keys& keys, int64_t begin, int64_t end, double* sums) {
  const Shape& s = unit.shape;
  if (begin >= end) {
    return;
  }
  FinishRows finish{};
  finish.type = s.type;
  finish.tile = s.tile;
  finish.grad = keys.dk + begin * s.Dp * s.sum_bytes;
  finish.rotated = static_cast<const char*>(keys.packed.set.rows) + begin * s.Dp * s.tile_bytes;
  const KeySet& set = keys.packed.set;
  finish.out =
      rows_at(unit.to.k, unit.b, unit.g, set.first + set.stride * begin, set.stride, end - begin);
  finish.turn = keys.packed.turn;
  finish.head_dim = s.D;
  finish.Dp = s.Dp;
  finish.scale = unit.call.scale;
  set_sums(unit, sums, finish);
  s.kernels->finish_rows(finish);
  finish.grad = keys.dv + begin * s.Dp * s.sum_bytes;
  finish.rotated = nullptr;
  finish.out.data = rows_of(unit.to.v, unit.b, unit.g).data;
  finish.out.step = unit.to.v.stride(2);
  finish.turn = {};
  finish.scale = 1.0;
  s.kernels->finish_rows(finish);
}

// All tiles of keys of both sets against one head's queries.
void against_keys(const Unit& unit, int64_t head, const Queries& q, const Keys* sets) {
  const Shape& s = unit.shape;
  const int64_t n_prefix = n_tiles(sets[0].packed.set.n);
  const int64_t n_all = n_prefix + n_tiles(sets[1].packed.set.n);
  const KeySet packed[2] = {sets[0].packed.set, sets[1].packed.set};
  for_each(unit.split, unit.n_workers, [&](int64_t w) {
    void* const* dq = q.dq.data() + static_cast<size_t>(w) * q.tiles.size();
    for (size_t i = 0; i < q.tiles.size(); ++i) {
      std::memset(dq[i], 0, static_cast<size_t>(q.tiles[i].columns * s.Dp * s.sum_bytes));
    }
    for (int64_t i = w; i < n_all; i += unit.n_workers) {
      const int64_t part = i < n_prefix ? 0 : 1;
      s.kernels->backward({s.tile, s.product, s.Dp, s.score(unit.call, head), q.tiles.data(),
                           static_cast<int64_t>(q.tiles.size()), packed, part, i - part * n_prefix,
                           sets[part].dk, sets[part].dv, dq});
    }
  });
}

// [tiles][3][P] sums of a lane's queries or keys, zeroed; null when no gradient is wanted.
double* take_sums(const Unit& unit, int64_t tiles, std::vector<double>& memory) {
  memory.assign(static_cast<size_t>(tiles * unit.sum_size()), 0.0);
  return memory.empty() ? nullptr : memory.data();
}

void add_sums(const Unit& unit, const std::vector<double>& memory) {
  const int64_t P = unit.shape.P, units = unit.shape.B * unit.shape.G;
  auto* to = unit.to.cross.defined() ? unit.to.cross.data_ptr<double>() : nullptr;
  const int64_t mine = unit.b * unit.shape.G + unit.g;
  for (size_t i = 0; i < memory.size(); ++i) {
    const auto kind = static_cast<int64_t>(i) / P % 3, m = static_cast<int64_t>(i) % P;
    to[(kind * units + mine) * P + m] += memory[i];
  }
}

double* slot(const Unit& unit, double* sums, int64_t tile) {
  return sums == nullptr ? nullptr : sums + tile * unit.sum_size();
}

void run_lane(const Unit& unit, const Lane& lane, int64_t n_prefix, const Keys& prefix) {
  const Shape& s = unit.shape;
  thread_local Arena arena;
  arena.reset(key_bytes(unit, lane.n_keys) + query_bytes(unit, lane.n_queries));
  const Keys sets[2] = {prefix, make_keys(unit, lane.first, lane.stride, lane.n_keys, arena)};
  Queries q = take_queries(unit, lane, arena);
  std::vector<double> memory;
  const auto tiles = static_cast<int64_t>(q.tiles.size());
  double* sums = take_sums(unit, tiles, memory);
  const int64_t heads = s.H / s.G;
  for (int64_t head = unit.g * heads; head < (unit.g + 1) * heads; ++head) {
    for_each(unit.split, tiles,
             [&](int64_t i) { pack_queries(unit, head, q.tiles[static_cast<size_t>(i)], q.rows); });
    against_keys(unit, head, q, sets);
    for_each(unit.split, tiles, [&](int64_t i) {
      finish_queries(unit, head, q, static_cast<size_t>(i), slot(unit, sums, i));
    });
  }
  add_sums(unit, memory);
  sums = take_sums(unit, n_tiles(lane.n_keys), memory);
  for_each(unit.split, n_tiles(lane.n_keys), [&](int64_t i) {
    // Global tokens have their gradient in the prefix.
    const int64_t own = (n_prefix - lane.first + lane.stride - 1) / lane.stride;
    const int64_t begin = std::max(i * kKeys, own);
    finish_keys(unit, sets[1], begin, std::min((i + 1) * kKeys, lane.n_keys), slot(unit, sums, i));
  });
  add_sums(unit, memory);
}

void run_unit(const Unit& unit, const LanePlan& plan) {
  Arena& arena = unit_arena();
  arena.reset(key_bytes(unit, plan.n_prefix));
  const Keys prefix = make_keys(unit, 0, 1, plan.n_prefix, arena);
  for (const Lane& lane : plan.lanes) {
    run_lane(unit, lane, plan.n_prefix, prefix);
  }
  std::vector<double> memory;
  double* sums = take_sums(unit, n_tiles(plan.n_prefix), memory);
  for (int64_t i = 0; i < n_tiles(plan.n_prefix); ++i) {
    finish_keys(unit, prefix, i * kKeys, std::min((i + 1) * kKeys, plan.n_prefix),
                slot(unit, sums, i));
  }
  add_sums(unit, memory);
}

}  // namespace

void backward(const Call& call, const at::Tensor& out, const at::Tensor& softmax,
              const at::Tensor& grad, Gradients& gradients) {
  const Shape shape(call);
  const bool by_row = call.first_key.defined();
  const LanePlan common = by_row ? LanePlan{} : make_lanes(call.mask, shape.T, shape.S, nullptr);
  for_each_unit(shape, [&](int64_t b, int64_t g, bool split) {
    const Unit unit{shape,     call, out, softmax, grad,
                    gradients, b,    g,   split,   split ? at::get_num_threads() : 1};
    if (by_row) {
      const int64_t* first = call.first_key.const_data_ptr<int64_t>() + b * shape.T;
      run_unit(unit, make_lanes(call.mask, shape.T, shape.S, first));
    } else {
      run_unit(unit, common);
    }
  });
}

}  // namespace gyre::attention::cpu
