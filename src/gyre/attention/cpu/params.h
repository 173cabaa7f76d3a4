// Plain structs between the fused attention's work plan (forward.cpp, backward.cpp) and its kernels
// (*_isa.cpp). Everything is kept transposed, one column per query, so that softmax needs no sum
// across a vector:
//   scores^T [keys, queries] = K [keys, D] Q^T        out^T [D, queries] = V^T [D, keys] P^T
// D is padded with zeros to Dp, a multiple of 16. A matrix on the right of a product is "packed":
// rows that are summed over lie together in groups of kPair (2 for bfloat16 tiles, else 1):
//   packed [K / kPair][N][kPair]
#pragma once

#include <cstdint>

#include "gyre/attention/element.h"

namespace gyre::attention::cpu {

inline constexpr int64_t kQueries = 64;  // columns of a full tile
inline constexpr int64_t kKeys = 64;     // rows of a full tile
inline constexpr int64_t kGranule = 16;  // columns and channels come in multiples of this

/// What tiles are made of. BF16 needs a machine with bfloat16 products; elsewhere F32 stands in.
using TileType = Element;

/// Product of tiles by somebody else's kernel (AMX): C [M, N] (+)= A [M, K] B packed. Null = own.
using TileProduct = void (*)(int64_t M, int64_t N, int64_t K, int64_t lda, int64_t ldb, int64_t ldc,
                             bool add, const void* a, const void* b, float* c);

/// Rotation of rows: one head's table.
struct Turn {
  const void* cos = nullptr;  // [tokens, P] accumulate type; null = no rotation
  const void* sin = nullptr;
  int64_t n_pairs = 0;
  bool interleaved = false;
  const double* gain = nullptr;  // [tokens], factor on whole rows; null = none
};

/// Rows `first`, `first + stride`, ... of a [tokens, D] tensor.
struct RowSet {
  void* data = nullptr;  // row 0
  int64_t step = 0;      // elements between rows
  int64_t first = 0, stride = 1, count = 0;
  RowSet part(int64_t begin, int64_t n) const {
    return {data, step, first + begin * stride, stride, n};
  }
};

/// Reads rows, rotates, pads: out [n_padded][Dp] tile type, zeros below `count`.
struct PackRows {
  Element type;
  TileType tile;
  RowSet rows;
  Turn turn;
  int64_t head_dim, Dp, n_padded;
  void* out;
};

/// Keys and values of one lane (or the global prefix), packed.
struct KeySet {
  int64_t n = 0;                        // keys
  int64_t first = 0, stride = 1;        // key c has index first + stride * c
  const void* rows = nullptr;           // [n][Dp] rotated keys
  const void* values = nullptr;         // [n][Dp]; backward only
  const void* key_columns = nullptr;    // per tile [Dp][kKeys] = K^T; backward only
  const void* value_columns = nullptr;  // per tile [Dp][kKeys] = V^T; forward only
  const double* norms = nullptr;        // per tile, the largest |k|; with a bias only
};

/// Which keys of a set the queries of a tile see: column n sees lo[n] <= c < hi[n].
struct Visible {
  const int32_t* lo = nullptr;
  const int32_t* hi = nullptr;
  int64_t begin = 0, end = 0;            // keys seen by any query
  int64_t open_begin = 0, open_end = 0;  // keys seen by all of them
};

/// 64 queries or fewer of one head.
struct QueryTile {
  int64_t n = 0, columns = 0;          // queries, and rounded up to kGranule
  int64_t first = 0, stride = 1;       // column n has index first + stride * n among the keys
  int64_t row = 0;                     // its row in the set of queries
  Visible seen[2];                     // of the prefix, of the lane
  const void* q_columns = nullptr;     // packed [Dp][columns]
  const void* q_rows = nullptr;        // packed [columns][Dp]; backward only, as the rest
  const void* grad_columns = nullptr;  // packed [Dp][columns], of the output's gradient
  const void* grad_rows = nullptr;     // packed [columns][Dp]
  const void* top = nullptr;           // [columns] accumulate type; +inf where padded
  const void* inverse = nullptr;       // [columns], 1 / sum
  const void* delta = nullptr;         // [columns], sum over d of out * its gradient
  void* dq = nullptr;                  // [Dp][columns] accumulate type
  double norm = 0.0;                   // the largest |q|; with a bias only, as the next
  double least_top = 0.0;              // the smallest `top`; backward only
};

/// How scores are made: s = scale * q.k - slope * (i - j), in units of log 2. With a cap,
/// cap * tanh(scale * q.k / cap) stands in for the product.
struct Score {
  double scale = 1.0, slope = 0.0, cap = 0.0;
};

struct ForwardTile {
  Element type;
  TileType tile;
  TileProduct product;
  int64_t head_dim, Dp;
  Score score;
  const QueryTile* queries;
  const KeySet* keys;  // [2]: prefix, lane
  RowSet out;          // rows of this tile
  // Of the head's [T] rows, accumulate type: the largest score, and 1 / sum of exp2(s - top). Kept
  // apart, so that the backward makes the very probabilities of the forward.
  void* top;
  void* inverse;
  void* scratch;  // [2][Dp][kQueries] accumulate type
};

/// One tile of keys against the tiles of queries that see it; adds to dk, dv and the tiles' dq.
struct BackwardTile {
  TileType tile;
  TileProduct product;
  int64_t Dp;
  Score score;
  const QueryTile* queries;
  int64_t n_query_tiles;
  const KeySet* keys;
  int64_t part;      // which of a tile's `seen` speaks of these keys
  int64_t key_tile;  // number of the tile in `keys`
  void* dk;          // [n][Dp] accumulate type, of the whole set
  void* dv;
  void* const* dq;  // [n_query_tiles]: where this worker adds the queries' gradients
};

/// Delta of a query tile.
struct DeltaRows {
  Element type;
  RowSet out, grad;  // `count` rows each
  int64_t head_dim, columns;
  void* delta;  // [columns] accumulate type
};

/// Rounds, rotates back and stores gradient rows, and sums the frequency gradient.
struct FinishRows {
  Element type;
  TileType tile;
  const void* grad;     // [count][Dp] accumulate type, of rotated rows
  const void* rotated;  // [count][Dp] tile type; null = no frequency gradient
  RowSet out;
  Turn turn;
  int64_t head_dim, Dp;
  double scale;              // factor on grad
  const int64_t* positions;  // [tokens], for the sums; counted from `origin`, which is free to
  int64_t origin;            // choose (gauge.h) and best in the middle
  double* weighted;          // [P] += sum_i pos_i (rotated x grad); null = not wanted
  double* plain;             // [P] += sum_i (rotated x grad); null = not wanted
  double* magnitude;         // [P] += sum_i |rotated| |grad|
};

struct Kernels {
  void (*pack_rows)(const PackRows&);
  /// rows [n][Dp] -> packed [Dp][n] (n a multiple of kGranule).
  void (*pack_columns)(TileType, const void* rows, int64_t n, int64_t Dp, void* out);
  /// rows [n][Dp] -> packed [n][Dp] (n even).
  void (*pack_pairs)(TileType, const void* rows, int64_t n, int64_t Dp, void* out);
  /// rows [n][Dp] of at most kKeys -> [Dp][kKeys], zeros after n.
  void (*transpose)(TileType, const void* rows, int64_t n, int64_t Dp, void* out);
  /// accumulate type: in [Dp][columns] -> out [columns][Dp].
  void (*transpose_sums)(TileType, const void* in, int64_t columns, int64_t Dp, void* out);
  void (*forward)(const ForwardTile&);
  void (*delta_rows)(const DeltaRows&);
  void (*backward)(const BackwardTile&);
  void (*finish_rows)(const FinishRows&);
  /// The largest |row| of rows [n][Dp].
  double (*largest_norm)(TileType, const void* rows, int64_t n, int64_t Dp);
  TileType bf16_tile;  // the tile type for bfloat16 tensors
};

}  // namespace gyre::attention::cpu
