// The kernels of rotation and frequency gradient: grids, shared memory and launches. What a thread
// does is in kernel_math.h, which also says what makes them fast and reproducible.
#include <cuda_runtime.h>

#include "gyre/attention/cuda/kernel_math.h"

namespace gyre::attention::cuda {
namespace {

template <class T, class A, int V>
__global__ void __launch_bounds__(kThreads) rotate_kernel(const RotateArgs args) {
  rotate_thread<T, A, V>(args, int64_t(blockIdx.x) * kThreads + threadIdx.x);
}

template <class T, class A, int V>
__global__ void __launch_bounds__(kThreads)
    unrotate_kernel(const UnrotateArgs args, int width, int height) {
  __shared__ double shared[kThreads * V];
  const RowBlock block = row_block(args.sizes, blockIdx.x, width, height);
  const int x = int(threadIdx.x) % width, y = int(threadIdx.x) / width;
  const int64_t units = n_units(args.sizes, V);
  for (int64_t first = 0; first < units; first += width) {
    unrotate_thread<T, A, V>(args, block, first, x, y, shared);
    __syncthreads();
    if (y == 0) {
      unrotate_column<V>(args, block, first, x, shared);
    }
    __syncthreads();
  }
}

__global__ void __launch_bounds__(kReduceThreads) reduce_kernel(const ReduceArgs args) {
  __shared__ double shared[kReduceThreads];
  const int i = int(threadIdx.x);
  shared[i] = reduce_thread(args, blockIdx.x, i);
  for (int step = kReduceThreads / 2; step > 0; step /= 2) {
    __syncthreads();
    reduce_step(shared, i, step);
  }
  if (i == 0) {
    reduce_store(args, blockIdx.x, shared[0]);
  }
}

template <class A>
__global__ void __launch_bounds__(kThreads) table_kernel(const TableArgs args) {
  table_thread<A>(args, int64_t(blockIdx.x) * kThreads + threadIdx.x);
}

const char* outcome() {
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

unsigned grid(int64_t n_threads) {
  return unsigned((n_threads + kThreads - 1) / kThreads);
}

const char* rotate(const RotateArgs& args, void* stream) {
  const auto on = static_cast<cudaStream_t>(stream);
  with_types(args.type, args.sizes, args.in, args.out, {}, [&]<class T, class A, int V>() {
    const int64_t n = rotate_threads<V>(args.sizes);
    if (n > 0) {
      rotate_kernel<T, A, V><<<grid(n), kThreads, 0, on>>>(args);
    }
  });
  return outcome();
}

const char* unrotate(const UnrotateArgs& args, void* stream) {
  const auto on = static_cast<cudaStream_t>(stream);
  const Sizes& s = args.sizes;
  const int64_t blocks = s.n_batch * s.n_heads * n_chunks(s.n_tokens);
  if (blocks > 0) {
    with_types(args.type, s, args.grad, args.out, args.rotated, [&]<class T, class A, int V>() {
      const BlockShape shape = block_shape(n_units(s, V));
      unrotate_kernel<T, A, V>
          <<<unsigned(blocks), kThreads, 0, on>>>(args, shape.width, shape.height);
    });
  }
  return outcome();
}

const char* reduce(const ReduceArgs& args, void* stream) {
  const auto on = static_cast<cudaStream_t>(stream);
  const int64_t blocks = args.n_groups * args.n_pairs;
  if (blocks > 0) {
    reduce_kernel<<<unsigned(blocks), kReduceThreads, 0, on>>>(args);
  }
  return outcome();
}

const char* table(const TableArgs& args, void* stream) {
  const auto on = static_cast<cudaStream_t>(stream);
  const int64_t n = args.n_groups * args.n_tokens * args.n_pairs;
  if (n > 0 && args.type == Type::F64) {
    table_kernel<double><<<grid(n), kThreads, 0, on>>>(args);
  } else if (n > 0) {
    table_kernel<float><<<grid(n), kThreads, 0, on>>>(args);
  }
  return outcome();
}

int capability(int device) {
  int major = 0, minor = 0;
  if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess) {
    cudaGetLastError();  // not the next launch's error
    return 0;
  }
  return 10 * major + minor;
}

}  // namespace

const Kernels& device_kernels() {
  static const Kernels kernels{table, rotate, unrotate, reduce, capability};
  return kernels;
}

}  // namespace gyre::attention::cuda
