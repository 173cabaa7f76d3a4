// Plain structs between the CUDA glue and its kernels: pointers, sizes, strides in elements.
// Read by .cu files, so there is nothing of torch here.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define GYRE_HD __host__ __device__ inline
#else
#define GYRE_HD inline
#endif

namespace gyre::attention::cuda {

enum class Type : int { F64, F32, BF16 };

/// [B, heads, T, D] with any strides but the last, which is 1.
struct View {
  void* data = nullptr;
  int64_t batch = 0, head = 0, token = 0;
};

struct Sizes {
  int64_t n_batch = 0, n_heads = 0, n_tokens = 0;  // B, heads, T
  int64_t head_dim = 0, n_pairs = 0;               // D, P
};

/// Angles of a layer. Head h of n_heads uses group h * n_groups / n_heads.
struct Turn {
  const double* theta = nullptr;  // [G, P]
  const double* decay = nullptr;  // [P]; null = none
  const void* cos = nullptr;      // [G, T, P] float, double for F64
  const void* sin = nullptr;
  const double* gain = nullptr;  // [T], factor on whole rows; null = none
  int64_t n_groups = 1;
  bool interleaved = false;
};

/// out = rotated in. Pairs whose theta and decay are 0, and channels past 2P, are copied.
struct RotateArgs {
  View in, out;
  Sizes sizes;
  Turn turn;
  Type type = Type::F32;
};

/// out = grad rotated back, and per block of rows the sums of pos (rotated x grad), in one pass.
struct UnrotateArgs {
  View grad, out;
  View rotated;  // data null = no sums
  Sizes sizes;
  Turn turn;
  const int64_t* positions = nullptr;  // [T]
  double* partial = nullptr;           // [B, n_chunks(T), heads, P]
  Type type = Type::F32;
};

/// out[g, p] (+)= sum over blocks and heads of group g of partial, in a fixed order.
struct ReduceArgs {
  const double* partial = nullptr;  // [n_blocks, n_heads, P]
  int64_t n_blocks = 0, n_heads = 0, n_pairs = 0, n_groups = 1;
  double* out = nullptr;  // [G, P]
  bool add = false;
};

/// cos and sin of positions times theta, times the amplitude where theta is not 0.
struct TableArgs {
  const double* theta = nullptr;       // [G, P]
  const int64_t* positions = nullptr;  // [T]
  int64_t n_groups = 1, n_tokens = 0, n_pairs = 0;
  double amplitude = 1.0;
  void *cos = nullptr, *sin = nullptr;  // [G, T, P]
  Type type = Type::F32;                // F32 or F64
};

/// What a device offers. Each launch returns null, or what the CUDA runtime says went wrong.
struct Kernels {
  const char* (*table)(const TableArgs&, void* stream);
  const char* (*rotate)(const RotateArgs&, void* stream);
  const char* (*unrotate)(const UnrotateArgs&, void* stream);
  const char* (*reduce)(const ReduceArgs&, void* stream);
  int (*capability)(int device);  // 10 * major + minor; 0 = unknown
};

/// Rows of one block of UnrotateArgs, and how many blocks T tokens make.
constexpr int64_t kChunkRows = 128;
GYRE_HD int64_t n_chunks(int64_t n_tokens) {
  return (n_tokens + kChunkRows - 1) / kChunkRows;
}

/// The kernels of kernels.cu; defined in builds with GYRE_CUDA only.
const Kernels& device_kernels();

}  // namespace gyre::attention::cuda
