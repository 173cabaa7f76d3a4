// What a CUDA tensor is computed with: gyre's own kernels and the vendor's flash attention. A
// value, so that tests put host emulations of both in its place.
#pragma once

#include <ATen/core/Tensor.h>

#include "gyre/attention/cuda/kernel_args.h"

namespace gyre::attention::cuda {

/// One call of a flash attention: query row a of n sees key column c of m when
/// c <= a + m - n (causal) and c > a + m - n - window (window > 0).
struct VendorCall {
  bool causal = true;
  int64_t window = 0;  // keys per query, itself included; 0 = all. Only with causal
  double scale = 1.0;
};

struct VendorOutput {
  at::Tensor out;           // [B, T, H, D]
  at::Tensor lse;           // [B, H, T] float32, natural log
  at::Tensor seed, offset;  // of a dropout that is never used; the backward wants them back
};

struct VendorGradients {
  at::Tensor q, k, v;
};

/// q [B, T, H, D], k and v [B, S, G, D], bfloat16, D a multiple of 8. The gradients of a part of
/// the keys are right when out and lse are those of all keys.
struct Vendor {
  VendorOutput (*forward)(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          const VendorCall& call);
  VendorGradients (*backward)(const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k,
                              const at::Tensor& v, const VendorOutput& output,
                              const VendorCall& call);
};

/// torch's flash attention for CUDA, with a backward that gives equal bits in equal runs.
const Vendor& torch_flash();

struct Backend {
  const Kernels* kernels = nullptr;
  const Vendor* vendor = nullptr;
};

/// Whether this build of gyre has CUDA kernels.
bool built();

/// throws c10::NotImplementedError when it has none
const Backend& cuda_backend();

/// The current stream of x's device as a cudaStream_t; null for tensors of the CPU.
void* stream_of(const at::Tensor& x);

}  // namespace gyre::attention::cuda
