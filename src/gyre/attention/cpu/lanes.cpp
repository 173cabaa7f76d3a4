#include "gyre/attention/cpu/lanes.h"

#include <algorithm>
#include <limits>

namespace gyre::attention::cpu {
namespace {

struct Range {
  int64_t lo = 0, hi = 0;
};

// The first c >= 0 with first + stride * c >= index.
int64_t at_or_after(int64_t index, const Lane& lane) {
  return std::max<int64_t>(0, (index - lane.first + lane.stride - 1) / lane.stride);
}

Range near_keys(const position::MaskSpec& mask, const Lane& lane, int64_t i, int64_t from) {
  const int64_t self = (i - lane.first) / lane.stride;
  int64_t lo = std::max(at_or_after(from, lane), at_or_after(mask.n_global, lane));
  if (mask.window > 0) {
    lo = std::max(lo, self - mask.window + 1);
  }
  if (mask.chunk > 0) {
    lo = std::max(lo, at_or_after(i / mask.chunk * mask.chunk, lane));
  }
  return {std::min(lo, self + 1), self + 1};
}

Range prefix_keys(int64_t n_prefix, int64_t i, int64_t from) {
  const int64_t hi = std::min(i + 1, n_prefix);
  return {std::min(from, hi), hi};
}

// Columns [tile.row, tile.row + tile.columns) of part: keys seen by any, keys seen by all.
void bound(Lane& lane, QueryTile& tile, size_t part) {
  Visible& seen = tile.seen[part];
  seen.begin = std::numeric_limits<int64_t>::max();
  seen.open_end = std::numeric_limits<int64_t>::max();
  for (int64_t n = 0; n < tile.n; ++n) {
    const int64_t lo = lane.lo[part][static_cast<size_t>(tile.row + n)];
    const int64_t hi = lane.hi[part][static_cast<size_t>(tile.row + n)];
    if (lo < hi) {
      seen.begin = std::min(seen.begin, lo);
      seen.end = std::max(seen.end, hi);
    }
    seen.open_begin = std::max(seen.open_begin, lo);
    seen.open_end = std::min(seen.open_end, hi);
  }
  seen.begin = std::min(seen.begin, seen.end);
}

void fill(const position::MaskSpec& mask, int64_t n_prefix, int64_t first_index,
          const int64_t* first_key, Lane& lane) {
  // Padded columns see everything; what they compute is never read.
  const auto padded = static_cast<size_t>(round_up(lane.n_queries, kGranule));
  for (size_t part = 0; part < 2; ++part) {
    lane.lo[part].assign(padded, 0);
    lane.hi[part].assign(padded, std::numeric_limits<int32_t>::max());
  }
  for (int64_t n = 0; n < lane.n_queries; ++n) {
    const int64_t i = lane.first_query + lane.stride * n;
    const int64_t from =
        first_key == nullptr ? 0 : std::clamp<int64_t>(first_key[i - first_index], 0, i);
    const Range ranges[2] = {prefix_keys(n_prefix, i, from), near_keys(mask, lane, i, from)};
    for (size_t part = 0; part < 2; ++part) {
      lane.lo[part][static_cast<size_t>(n)] = static_cast<int32_t>(ranges[part].lo);
      lane.hi[part][static_cast<size_t>(n)] = static_cast<int32_t>(ranges[part].hi);
    }
  }
}

void cut(Lane& lane) {
  for (int64_t row = 0; row < lane.n_queries; row += kQueries) {
    QueryTile tile;
    tile.n = std::min(kQueries, lane.n_queries - row);
    tile.columns = round_up(tile.n, kGranule);
    tile.row = row;
    tile.first = lane.first_query + lane.stride * row;
    tile.stride = lane.stride;
    lane.tiles.push_back(tile);
  }
  for (QueryTile& tile : lane.tiles) {
    for (size_t part = 0; part < 2; ++part) {
      tile.seen[part].lo = lane.lo[part].data() + tile.row;
      tile.seen[part].hi = lane.hi[part].data() + tile.row;
      bound(lane, tile, part);
    }
  }
}

}  // namespace

LanePlan make_lanes(const position::MaskSpec& mask, int64_t n_queries, int64_t n_keys,
                    const int64_t* first_key) {
  LanePlan plan;
  const bool all = mask.full();
  plan.n_prefix = all ? 0 : std::min(mask.n_global, n_keys);
  position::MaskSpec rule = mask;
  rule.n_global = plan.n_prefix;
  const int64_t stride = mask.window > 0 ? mask.dilation : 1;
  const int64_t first_index = n_keys - n_queries;
  for (int64_t r = 0; r < std::min(stride, n_keys); ++r) {
    Lane lane;
    lane.first = r;
    lane.stride = stride;
    lane.n_keys = (n_keys - r + stride - 1) / stride;
    lane.first_query = r + stride * at_or_after(first_index, lane);
    lane.n_queries =
        lane.first_query >= n_keys ? 0 : (n_keys - lane.first_query + stride - 1) / stride;
    fill(rule, plan.n_prefix, first_index, first_key, lane);
    plan.lanes.push_back(std::move(lane));
    cut(plan.lanes.back());  // after the move: tiles point into the lane's own lists
  }
  return plan;
}

}  // namespace gyre::attention::cpu
