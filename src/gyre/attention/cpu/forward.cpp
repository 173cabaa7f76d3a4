// Forward pass: units of one (sequence, key/value head), or, when those are too few for the
// threads, tiles of queries inside each unit.
#include "gyre/attention/cpu/unit.h"

namespace gyre::attention::cpu {
namespace {

struct Unit {
  const Shape& shape;
  const Call& call;
  int64_t b, g;
  bool split;
};

// Scratch for one tile of queries: its rows and the packed columns.
struct QuerySpace {
  char* rows;
  char* columns;
  char* sums;  // the transposed output, and the output as rows
};

void attend_tile(const Unit& unit, int64_t head, const QueryTile& plain, const KeySet* sets,
                 const at::Tensor& out, const at::Tensor& softmax, const QuerySpace& space) {
  const Shape& s = unit.shape;
  const int64_t first_index = s.S - s.T;
  RowSet rows = rows_of(unit.call.q, unit.b, head);
  rows.first = plain.first - first_index;
  rows.stride = plain.stride;
  rows.count = plain.n;
  s.kernels->pack_rows({s.type, s.tile, rows, turn_of(s, unit.call, unit.g, false), s.D, s.Dp,
                        plain.columns, space.rows});
  s.kernels->pack_columns(s.tile, space.rows, plain.columns, s.Dp, space.columns);
  QueryTile tile = plain;
  tile.q_columns = space.columns;
  if (!unit.call.slopes.empty()) {
    tile.norm = s.kernels->largest_norm(s.tile, space.rows, plain.n, s.Dp);
  }
  RowSet to = rows_of(out, unit.b, head);
  to.first = rows.first;
  to.stride = rows.stride;
  to.count = rows.count;
  char* top = static_cast<char*>(softmax.data_ptr()) + (unit.b * s.H + head) * s.T * s.sum_bytes;
  s.kernels->forward({s.type, s.tile, s.product, s.D, s.Dp, s.score(unit.call, head), &tile, sets,
                      to, top, top + s.B * s.H * s.T * s.sum_bytes, space.sums});
}

// Rows and columns of one tile of queries, per thread.
QuerySpace query_space(const Shape& s) {
  thread_local Arena arena;
  const int64_t bytes = kQueries * s.Dp * s.tile_bytes, sums = 2 * kQueries * s.Dp * s.sum_bytes;
  arena.reset(static_cast<size_t>(2 * bytes + sums) + 256);
  char* rows = arena.take(bytes);
  char* columns = arena.take(bytes);
  return {rows, columns, arena.take(sums)};
}

void attend_lane(const Unit& unit, const Lane& lane, const PackedKeys& prefix,
                 const at::Tensor& out, const at::Tensor& softmax) {
  const Shape& s = unit.shape;
  if (lane.tiles.empty()) {
    return;
  }
  thread_local Arena arena;
  arena.reset(packed_bytes(s, lane.n_keys));
  const PackedKeys near =
      take_keys(s, unit.call, unit.b, unit.g, lane.first, lane.stride, lane.n_keys, false, arena);
  for_each(unit.split, n_tiles(lane.n_keys), [&](int64_t i) { pack_key_tile(s, near, i); });
  const KeySet sets[2] = {prefix.set, near.set};
  const int64_t heads = s.H / s.G, tiles = static_cast<int64_t>(lane.tiles.size());
  for_each(unit.split, heads * tiles, [&](int64_t i) {
    attend_tile(unit, unit.g * heads + i % heads, lane.tiles[static_cast<size_t>(i / heads)], sets,
                out, softmax, query_space(s));
  });
}

void attend_unit(const Unit& unit, const LanePlan& plan, const at::Tensor& out,
                 const at::Tensor& softmax) {
  const Shape& s = unit.shape;
  Arena& arena = unit_arena();
  arena.reset(packed_bytes(s, plan.n_prefix));
  const PackedKeys prefix =
      take_keys(s, unit.call, unit.b, unit.g, 0, 1, plan.n_prefix, false, arena);
  for_each(unit.split, n_tiles(plan.n_prefix), [&](int64_t i) { pack_key_tile(s, prefix, i); });
  for (const Lane& lane : plan.lanes) {
    attend_lane(unit, lane, prefix, out, softmax);
  }
}

}  // namespace

void forward(const Call& call, at::Tensor& out, at::Tensor& softmax) {
  const Shape shape(call);
  const bool by_row = call.first_key.defined();
  const LanePlan common = by_row ? LanePlan{} : make_lanes(call.mask, shape.T, shape.S, nullptr);
  for_each_unit(shape, [&](int64_t b, int64_t g, bool split) {
    const Unit unit{shape, call, b, g, split};
    if (by_row) {
      const int64_t* first = call.first_key.const_data_ptr<int64_t>() + b * shape.T;
      attend_unit(unit, make_lanes(call.mask, shape.T, shape.S, first), out, softmax);
    } else {
      attend_unit(unit, common, out, softmax);
    }
  });
}

}  // namespace gyre::attention::cpu
