// Checks and autograd of the rotation; tables are built in rotation_table.cpp, the loops are in
// rotation_kernels.cpp.
// Work is cut by (sequence, head), never by thread, so that sums do not depend on threads.
#include "gyre/attention/rotation.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

#include "gyre/attention/cuda/turning.h"
#include "gyre/attention/gauge.h"
#include "gyre/attention/params.h"
#include "gyre/tensor/parallel.h"

namespace gyre::attention {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

Element element_of(const at::Tensor& x) {
  switch (x.scalar_type()) {
    case at::kDouble:
      return Element::F64;
    case at::kFloat:
      return Element::F32;
    default:
      return Element::BF16;
  }
}

// Pairs of one group that change: their frequency or their decay is not 0. decay may be null.
PairRuns turning_runs(const double* theta, const double* decay, int64_t n_pairs) {
  PairRuns runs;
  for (int64_t m = 0; m < n_pairs; ++m) {
    if (theta[m] == 0.0 && (decay == nullptr || decay[m] == 0.0)) {
      continue;
    }
    if (!runs.empty() && runs.back().second == m) {
      runs.back().second = m + 1;
    } else {
      runs.emplace_back(m, m + 1);
    }
  }
  return runs;
}

// decay_P is empty when nothing decays.
std::vector<PairRuns> turning_runs(const at::Tensor& theta_GP, const at::Tensor& decay_P) {
  std::vector<PairRuns> runs;
  const int64_t n_pairs = theta_GP.size(1);
  const double* decay = decay_P.numel() == 0 ? nullptr : decay_P.const_data_ptr<double>();
  for (int64_t g = 0; g < theta_GP.size(0); ++g) {
    runs.push_back(turning_runs(theta_GP.const_data_ptr<double>() + g * n_pairs, decay, n_pairs));
  }
  return runs;
}

// Head h of x uses group h * G / H of the table.
int64_t group_of(int64_t head, const at::Tensor& x, const at::Tensor& table) {
  return head * table.size(0) / x.size(1);
}

const char* at_head(const at::Tensor& x, int64_t b, int64_t h) {
  return static_cast<const char*>(x.const_data_ptr()) +
         (b * x.stride(0) + h * x.stride(1)) * static_cast<int64_t>(x.element_size());
}

at::Tensor with_dense_rows(const at::Tensor& x) {
  return x.size(3) <= 1 || x.stride(3) == 1 ? x : x.contiguous();
}

struct Table {
  at::Tensor theta, decay, cos, sin;  // [G, P], [P] or empty, [G, T, P]
  bool interleaved;
};

at::Tensor turn(const at::Tensor& input_BHTD, const Table& table, double direction) {
  const at::Tensor x_BHTD = with_dense_rows(input_BHTD);
  at::Tensor out_BHTD = with_dense_rows(at::empty_like(x_BHTD));
  const auto runs = turning_runs(table.theta, table.decay);
  const int64_t n_heads = x_BHTD.size(1), n_pairs = table.theta.size(1);
  const int64_t table_bytes = table.cos.stride(0) * static_cast<int64_t>(table.cos.element_size());
  parallel_for(0, x_BHTD.size(0) * n_heads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t b = i / n_heads, h = i % n_heads, g = group_of(h, x_BHTD, table.theta);
      rotate_rows(element_of(x_BHTD),
                  {at_head(x_BHTD, b, h), const_cast<char*>(at_head(out_BHTD, b, h)),
                   x_BHTD.stride(2), out_BHTD.stride(2), x_BHTD.size(2), x_BHTD.size(3), n_pairs,
                   static_cast<const char*>(table.cos.const_data_ptr()) + g * table_bytes,
                   static_cast<const char*>(table.sin.const_data_ptr()) + g * table_bytes,
                   &runs[static_cast<size_t>(g)], table.interleaved, direction});
    }
  });
  return out_BHTD;
}

// Sums over tokens for every (sequence, head): [3][B][H][P] of weighted, plain, magnitude.
at::Tensor cross_sums(const at::Tensor& rotated_BHTD, const at::Tensor& grad, const Table& table,
                      const at::Tensor& positions, bool gauge) {
  const at::Tensor grad_BHTD = with_dense_rows(grad);
  const int64_t n_batch = rotated_BHTD.size(0), n_heads = rotated_BHTD.size(1);
  const int64_t n_pairs = table.theta.size(1);
  at::Tensor sums = at::zeros({3, n_batch, n_heads, n_pairs}, at::kDouble);
  auto* out = sums.mutable_data_ptr<double>();
  const int64_t plane = n_batch * n_heads * n_pairs;
  parallel_for(0, n_batch * n_heads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t b = i / n_heads, h = i % n_heads;
      double* row = out + i * n_pairs;
      cross_rows(element_of(rotated_BHTD),
                 {at_head(rotated_BHTD, b, h), at_head(grad_BHTD, b, h), rotated_BHTD.stride(2),
                  grad_BHTD.stride(2), rotated_BHTD.size(2), n_pairs,
                  positions.const_data_ptr<int64_t>(), table.interleaved, row,
                  gauge ? row + plane : nullptr, gauge ? row + 2 * plane : nullptr});
    }
  });
  return sums;
}

// [B][H][P] -> [G][P], in a fixed order.
void add_to_groups(const at::Tensor& sums_BHP, at::Tensor& out_GP) {
  const int64_t n_heads = sums_BHP.size(1), n_groups = out_GP.size(0), n_pairs = out_GP.size(1);
  const auto* in = sums_BHP.const_data_ptr<double>();
  auto* out = out_GP.mutable_data_ptr<double>();
  for (int64_t i = 0; i < sums_BHP.size(0) * n_heads; ++i) {
    const int64_t g = (i % n_heads) * n_groups / n_heads;
    for (int64_t m = 0; m < n_pairs; ++m) {
      out[g * n_pairs + m] += in[i * n_pairs + m];
    }
  }
}

// Gauge sums of queries and keys, per sequence and key/value head.
void check_sums(const at::Tensor& q_sums, const at::Tensor& k_sums, at::ScalarType type) {
  const int64_t n_batch = k_sums.size(1), n_groups = k_sums.size(2), n_pairs = k_sums.size(3);
  at::Tensor total = at::zeros({2, n_batch, n_groups, n_pairs}, at::kDouble);
  for (int64_t kind = 0; kind < 2; ++kind) {
    for (int64_t b = 0; b < n_batch; ++b) {
      at::Tensor plane = total[kind][b];
      add_to_groups(q_sums[kind + 1].narrow(0, b, 1), plane);
      add_to_groups(k_sums[kind + 1].narrow(0, b, 1), plane);
    }
  }
  check_gauge(total[0], total[1], type);
}

struct Rotate : torch::autograd::Function<Rotate> {
  // tables: theta [G, P], decay [P] or empty, cos and sin of queries, cos and sin of keys.
  static variable_list forward(AutogradContext* ctx, const at::Tensor& q, const at::Tensor& k,
                               const at::Tensor& theta, const at::Tensor& positions,
                               const at::Tensor& decay, const at::Tensor& cos,
                               const at::Tensor& sin, const at::Tensor& key_cos,
                               const at::Tensor& key_sin, bool interleaved) {
    variable_list saved{theta.detach(), decay, cos, sin, key_cos, key_sin, positions};
    at::Tensor q_out = turn(q, table_of(saved, 0, interleaved), 1.0),
               k_out = turn(k, table_of(saved, 1, interleaved), 1.0);
    ctx->saved_data["interleaved"] = interleaved;
    if (theta.requires_grad() || kCheckGauge) {
      saved.insert(saved.end(), {q_out, k_out});
    }
    ctx->saved_data["learned"] = theta.requires_grad();
    ctx->set_materialize_grads(false);  // backward leaves out a side that no loss reads
    ctx->save_for_backward(saved);
    return {q_out, k_out};
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const bool interleaved = ctx->saved_data["interleaved"].toBool();
    variable_list out(10);
    for (size_t i = 0; i < 2; ++i) {
      if (grads[i].defined()) {
        out[i] = turn(grads[i], table_of(saved, i, interleaved), -1.0);
      }
    }
    if (saved.size() > kFirstRotated) {
      at::Tensor d_theta = theta_gradient(grads, saved, table_of(saved, 0, interleaved));
      if (ctx->saved_data["learned"].toBool()) {
        out[2] = d_theta;
      }
    }
    return out;
  }

  static constexpr size_t kPositions = 6, kFirstRotated = 7;  // places in `saved`

  // side: 0 queries, 1 keys.
  static Table table_of(const variable_list& saved, size_t side, bool interleaved) {
    return {saved[0], saved[1], saved[2 + 2 * side], saved[3 + 2 * side], interleaved};
  }

  static at::Tensor theta_gradient(const variable_list& grads, const variable_list& saved,
                                   const Table& table) {
    at::Tensor d_theta = at::zeros_like(table.theta);
    const bool gauge = kCheckGauge && grads[0].defined() && grads[1].defined();
    at::Tensor sums[2];
    for (size_t i = 0; i < 2; ++i) {
      if (grads[i].defined()) {
        sums[i] = cross_sums(saved[kFirstRotated + i], grads[i], table, saved[kPositions], gauge);
        add_to_groups(sums[i][0], d_theta);
      }
    }
    if (gauge) {
      check_sums(sums[0], sums[1], grads[0].scalar_type());
    }
    return d_theta;
  }
};

void check_input(const char* name, const at::Tensor& x, const Rotation& rotation) {
  TORCH_CHECK_VALUE(x.dim() == 4, "rotate: ", name, " must be [B, heads, T, D], got ", x.sizes());
  const auto type = x.scalar_type();
  TORCH_CHECK_VALUE(type == at::kDouble || type == at::kFloat || type == at::kBFloat16,
                    "rotate: ", name, " must be float64, float32 or bfloat16, got ", type);
  TORCH_CHECK_VALUE(x.is_cpu() || x.is_cuda(), "rotate: ", name,
                    " must be on the cpu or a cuda device, got ", x.device());
  TORCH_CHECK_VALUE(rotation.positions.device() == x.device(), "rotate: ", name, " is on ",
                    x.device(), ", its table on ", rotation.positions.device());
  const int64_t rotary_dim = rotation.theta.defined() ? 2 * rotation.theta.size(1) : 0;
  TORCH_CHECK_VALUE(x.size(3) >= rotary_dim, "rotate: ", name, " has ", x.size(3),
                    " channels per head, the table rotates ", rotary_dim);
  TORCH_CHECK_VALUE(x.size(2) == rotation.positions.size(0), "rotate: ", name, " has ", x.size(2),
                    " tokens, the table has ", rotation.positions.size(0), " positions");
  const auto wanted = type == at::kDouble ? at::kDouble : at::kFloat;
  TORCH_CHECK_VALUE(rotary_dim == 0 || rotation.cos.scalar_type() == wanted, "rotate: ", name,
                    " is ", type, ", its table must be ", wanted, ", got ",
                    rotation.cos.scalar_type());
}

// Queries times their gain; a product in float32 is rounded once to bfloat16.
at::Tensor with_gain(const at::Tensor& q, const at::Tensor& gain) {
  if (!gain.defined()) {
    return q;
  }
  const auto wide = q.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  return (q.to(wide) * gain.to(wide).view({-1, 1})).to(q.scalar_type());
}

}  // namespace

std::pair<at::Tensor, at::Tensor> rotate(const at::Tensor& q, const at::Tensor& k,
                                         const Rotation& rotation) {
  if (rotation.identity()) {
    return {q, k};
  }
  check_input("q", q, rotation);
  check_input("k", k, rotation);
  TORCH_CHECK_VALUE(q.scalar_type() == k.scalar_type() && q.size(0) == k.size(0),
                    "rotate: q and k differ: ", q.sizes(), " ", q.scalar_type(), " and ", k.sizes(),
                    " ", k.scalar_type());
  TORCH_CHECK_VALUE(q.size(1) % k.size(1) == 0, "rotate: ", q.size(1),
                    " query heads are no multiple of ", k.size(1), " key/value heads");
  const int64_t n_groups = rotation.theta.defined() ? rotation.theta.size(0) : 1;
  TORCH_CHECK_VALUE(n_groups == 1 || n_groups == k.size(1), "rotate: the table has ", n_groups,
                    " groups, k has ", k.size(1), " heads; use 1 or one per key/value head");
  if (q.is_cuda()) {
    return cuda::rotate(cuda::cuda_backend(), q, k, rotation);
  }
  const at::Tensor grown = with_gain(q, rotation.query_gain);
  if (!rotation.theta.defined()) {
    return {grown, k};
  }
  const at::Tensor decay = rotation.decay.defined() ? rotation.decay : at::empty({0}, at::kDouble);
  const variable_list out = Rotate::apply(
      grown, k, rotation.theta, rotation.positions, decay, rotation.cos, rotation.sin,
      rotation.key_cos, rotation.key_sin, rotation.layout == position::PairLayout::Interleaved);
  return {out[0], out[1]};
}

}  // namespace gyre::attention
