// torch's flash attention for CUDA behind the interface of backend.h. What it offers in 2.13, from
// its sources: windows and grouped heads in both directions, masks aligned to the last query and
// the last key, slopes in the forward alone (its backward passes none), head dims that are
// multiples of 8 up to 256, rows read 16 bytes at a time without a check of their alignment.
#include <ATen/Context.h>
#include <ATen/ops/_flash_attention_backward.h>
#include <ATen/ops/_flash_attention_forward.h>

#include "gyre/attention/cuda/backend.h"

namespace gyre::attention::cuda {
namespace {

constexpr int64_t kRowAlignment = 8;  // elements of bfloat16: 16 bytes

bool aligned(const at::Tensor& x) {
  bool fits = reinterpret_cast<uintptr_t>(x.const_data_ptr()) % (2 * kRowAlignment) == 0 &&
              x.stride(3) == 1;
  for (int64_t dim = 0; dim < 3; ++dim) {
    fits = fits && (x.size(dim) == 1 || x.stride(dim) % kRowAlignment == 0);
  }
  return fits;
}

at::Tensor rows(const at::Tensor& x) {
  return aligned(x) ? x : x.clone(at::MemoryFormat::Contiguous);
}

// The default backward adds to dq in whatever order blocks finish. The switch is torch's and
// global; it is put back at once, and fills of fresh memory, which come with it, are left out.
class Deterministic {
 public:
  Deterministic()
      : on_(at::globalContext().deterministicAlgorithms()),
        warn_(at::globalContext().deterministicAlgorithmsWarnOnly()),
        fill_(at::globalContext().deterministicFillUninitializedMemory()) {
    at::globalContext().setDeterministicFillUninitializedMemory(false);
    at::globalContext().setDeterministicAlgorithms(true, false);
  }
  ~Deterministic() {
    at::globalContext().setDeterministicAlgorithms(on_, warn_);
    at::globalContext().setDeterministicFillUninitializedMemory(fill_);
  }
  Deterministic(const Deterministic&) = delete;
  Deterministic& operator=(const Deterministic&) = delete;

 private:
  bool on_, warn_, fill_;
};

struct Window {
  std::optional<int64_t> left, right;
};

Window window_of(const VendorCall& call) {
  Window out;
  if (call.window > 0) {
    out.left = call.window - 1;
  }
  if (call.causal) {
    out.right = 0;
  }
  return out;
}

VendorOutput forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const VendorCall& call) {
  const Window window = window_of(call);
  auto [out, lse, seed, offset, unused] = at::_flash_attention_forward(
      rows(q), rows(k), rows(v), std::nullopt, std::nullopt, q.size(1), k.size(1), 0.0, call.causal,
      false, call.scale, window.left, window.right);
  return {out, lse, seed, offset};
}

VendorGradients backward(const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k,
                         const at::Tensor& v, const VendorOutput& output, const VendorCall& call) {
  const Window window = window_of(call);
  const Deterministic scope;
  auto [dq, dk, dv] = at::_flash_attention_backward(
      rows(grad), rows(q), rows(k), rows(v), rows(output.out), output.lse.contiguous(), {}, {},
      q.size(1), k.size(1), 0.0, call.causal, output.seed, output.offset, call.scale, window.left,
      window.right);
  return {dq, dk, dv};
}

}  // namespace

const Vendor& torch_flash() {
  static const Vendor vendor{forward, backward};
  return vendor;
}

}  // namespace gyre::attention::cuda
