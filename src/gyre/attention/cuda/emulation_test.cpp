// Bodies of emulation_testing.h; the name puts it into the test program only.
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/matmul.h>

#include <limits>
#include <vector>

#include "gyre/attention/cuda/emulation_testing.h"
#include "gyre/attention/cuda/kernel_math.h"

namespace gyre::attention::cuda::testing {
namespace {

const char* rotate(const RotateArgs& args, void*) {
  with_types(args.type, args.sizes, args.in, args.out, {}, [&]<class T, class A, int V>() {
    const int64_t n = (rotate_threads<V>(args.sizes) + kThreads - 1) / kThreads * kThreads;
    for (int64_t i = 0; i < n; ++i) {  // whole blocks: threads past the end must do nothing
      rotate_thread<T, A, V>(args, i);
    }
  });
  return nullptr;
}

template <class T, class A, int V>
void unrotate_block(const UnrotateArgs& args, int64_t index, const BlockShape& shape) {
  std::vector<double> shared(static_cast<size_t>(kThreads * V),
                             std::numeric_limits<double>::quiet_NaN());
  const RowBlock block = row_block(args.sizes, index, shape.width, shape.height);
  for (int64_t first = 0; first < n_units(args.sizes, V); first += shape.width) {
    for (int thread = 0; thread < kThreads; ++thread) {
      unrotate_thread<T, A, V>(args, block, first, thread % shape.width, thread / shape.width,
                               shared.data());
    }
    for (int x = 0; x < shape.width; ++x) {
      unrotate_column<V>(args, block, first, x, shared.data());
    }
  }
}

const char* unrotate(const UnrotateArgs& args, void*) {
  const Sizes& s = args.sizes;
  with_types(args.type, s, args.grad, args.out, args.rotated, [&]<class T, class A, int V>() {
    const BlockShape shape = block_shape(n_units(s, V));
    for (int64_t i = 0; i < s.n_batch * s.n_heads * n_chunks(s.n_tokens); ++i) {
      unrotate_block<T, A, V>(args, i, shape);
    }
  });
  return nullptr;
}

const char* reduce(const ReduceArgs& args, void*) {
  for (int64_t block = 0; block < args.n_groups * args.n_pairs; ++block) {
    double shared[kReduceThreads];
    for (int i = 0; i < kReduceThreads; ++i) {
      shared[i] = reduce_thread(args, block, i);
    }
    for (int step = kReduceThreads / 2; step > 0; step /= 2) {
      for (int i = 0; i < kReduceThreads; ++i) {
        reduce_step(shared, i, step);
      }
    }
    reduce_store(args, block, shared[0]);
  }
  return nullptr;
}

const char* table(const TableArgs& args, void*) {
  const int64_t n = args.n_groups * args.n_tokens * args.n_pairs;
  for (int64_t i = 0; i < (n + kThreads - 1) / kThreads * kThreads; ++i) {
    args.type == Type::F64 ? table_thread<double>(args, i) : table_thread<float>(args, i);
  }
  return nullptr;
}

int capability(int) {
  return 90;
}

// Dense flash attention in float64. As the vendor's it rounds weights and score gradients to the
// input type before the second product, and outputs at the end.
struct Dense {
  at::Tensor q, k, v;  // [B, H, T, D] and [B, H, S, D], float64

  Dense(const at::Tensor& q_BTHD, const at::Tensor& k_BSGD, const at::Tensor& v_BSGD) {
    const int64_t repeat = q_BTHD.size(2) / k_BSGD.size(2);
    q = q_BTHD.transpose(1, 2).to(at::kDouble);
    k = k_BSGD.transpose(1, 2).to(at::kDouble).repeat_interleave(repeat, 1);
    v = v_BSGD.transpose(1, 2).to(at::kDouble).repeat_interleave(repeat, 1);
  }

  at::Tensor scores(const VendorCall& call) const {
    const int64_t n = q.size(2), m = k.size(2);
    const at::Tensor row = at::arange(m - n, m, at::TensorOptions(at::kLong)).unsqueeze(1);
    const at::Tensor distance = row - at::arange(m, at::TensorOptions(at::kLong)).unsqueeze(0);
    at::Tensor hidden = call.causal ? distance < 0 : (distance < 0).logical_and(distance > 0);
    if (call.window > 0) {
      hidden = hidden.logical_or(distance >= call.window);
    }
    return (at::matmul(q, k.transpose(2, 3)) * call.scale)
        .masked_fill(hidden, -std::numeric_limits<double>::infinity());
  }
};

VendorOutput forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const VendorCall& call) {
  TORCH_CHECK(q.size(3) % 8 == 0 && q.stride(3) == 1 && k.stride(3) == 1 && v.stride(3) == 1 &&
                  q.size(3) == k.size(3) && q.size(3) == v.size(3),
              "flash attention: head dims or strides");
  TORCH_CHECK(call.window == 0 || call.causal, "flash attention: a window without causal");
  const Dense d(q, k, v);
  const at::Tensor s = d.scores(call), lse = s.logsumexp(3);
  const at::Tensor weights = (s - lse.unsqueeze(3)).exp().to(q.scalar_type()).to(at::kDouble);
  const at::Tensor out = at::matmul(weights, d.v).transpose(1, 2);
  return {out.to(q.scalar_type()).contiguous(), lse.to(at::kFloat).contiguous(), {}, {}};
}

VendorGradients backward(const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k,
                         const at::Tensor& v, const VendorOutput& output, const VendorCall& call) {
  const auto type = q.scalar_type();
  const auto rounded = [&](const at::Tensor& x) { return x.to(type).to(at::kDouble); };
  const Dense d(q, k, v);
  const at::Tensor g = grad.transpose(1, 2).to(at::kDouble);
  const at::Tensor y = output.out.transpose(1, 2).to(at::kDouble);
  const at::Tensor weights = (d.scores(call) - output.lse.to(at::kDouble).unsqueeze(3)).exp();
  const at::Tensor d_weights = at::matmul(g, d.v.transpose(2, 3)) - (g * y).sum(3, true);
  const at::Tensor ds = rounded(weights * d_weights);
  const auto grouped = [&](const at::Tensor& x_BHSD) {
    const at::Tensor x = rounded(x_BHSD).unflatten(1, {k.size(2), -1}).sum(2);
    return x.transpose(1, 2).to(type).contiguous();
  };
  return {(at::matmul(ds, d.k) * call.scale).transpose(1, 2).to(type).contiguous(),
          grouped(at::matmul(ds.transpose(2, 3), d.q) * call.scale),
          grouped(at::matmul(rounded(weights).transpose(2, 3), g))};
}

}  // namespace

const Backend& emulated_backend() {
  static const Kernels kernels{table, rotate, unrotate, reduce, capability};
  static const Vendor vendor{forward, backward};
  static const Backend backend{&kernels, &vendor};
  return backend;
}

}  // namespace gyre::attention::cuda::testing
