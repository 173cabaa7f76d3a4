#include "gyre/model/many_rows.h"

#include <ATen/ops/empty.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "gyre/model/cpu/many_rows.h"
#include "gyre/tensor/parallel.h"
#include "gyre/tensor/work.h"

namespace gyre::model {
namespace {

constexpr int64_t kPackedTiles = 8;  // of x at once, which bounds the memory of long prompts

cpu::After after(std::optional<Mlp> activation) {
  return !activation                  ? cpu::After::Nothing
         : *activation == Mlp::SwiGlu ? cpu::After::SiluGate
         : *activation == Mlp::GeGlu  ? cpu::After::GeluTanhGate
                                      : cpu::After::Gelu;
}

}  // namespace

bool many_rows(const at::Tensor& x, const LinearLayer& layer) {
  const at::Tensor& weight = layer.weight;
  const bool plain = x.is_cpu() && x.scalar_type() == at::kBFloat16 &&
                     weight.scalar_type() == at::kBFloat16 && weight.is_contiguous();
  return plain && !c10::GradMode::is_enabled() && weight.size(0) > 0 && weight.size(1) > 0 &&
         weight.size(1) % 2 == 0 && x.numel() / x.size(-1) >= cpu::kManyRows && isa() != Isa::Amx &&
         many_rows_kernels().pieces != nullptr;
}

at::Tensor linear_of_many_rows(const at::Tensor& input, const LinearLayer& layer,
                               std::optional<Mlp> activation) {
  const at::Tensor x = input.contiguous();
  const bool gated = activation && *activation != Mlp::Gelu;
  const int64_t n_rows = layer.weight.size(0), K = x.size(-1), M = x.numel() / K;
  TORCH_CHECK_VALUE(!gated || n_rows % 2 == 0,
                    "linear layer: gate and up are halves of the outputs, got ", n_rows);
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes.back() = gated ? n_rows / 2 : n_rows;
  const at::Tensor y = at::empty(sizes, x.options());
  const at::Tensor bias =
      layer.bias.defined() ? layer.bias.to(at::kFloat).contiguous() : at::Tensor();
  const int64_t n_tiles = (M + cpu::kTokens - 1) / cpu::kTokens;
  const at::Tensor packed =
      at::empty({std::min(n_tiles, kPackedTiles) * (K / 2) * cpu::kTokens}, at::kInt);
  const cpu::ManyRows whole{.x = static_cast<const uint16_t*>(x.const_data_ptr()),
                            .w = static_cast<const uint16_t*>(layer.weight.const_data_ptr()),
                            .bias = bias.defined() ? bias.const_data_ptr<float>() : nullptr,
                            .packed_x = static_cast<uint32_t*>(packed.mutable_data_ptr()),
                            .y = static_cast<uint16_t*>(y.mutable_data_ptr()),
                            .M = M,
                            .N = sizes.back(),
                            .K = K,
                            .after = after(activation),
                            .width = gated ? cpu::kOutputs / 2 : cpu::kOutputs};
  const cpu::ManyRowsTable& kernels = many_rows_kernels();
  const int64_t n_blocks = (whole.N + whole.width - 1) / whole.width;
  GYRE_WORK("gyre::many_rows", 2.0 * static_cast<double>(M * n_rows * K),
            x.nbytes() + layer.weight.nbytes() + y.nbytes());
  for (int64_t m = 0; m < M; m += kPackedTiles * cpu::kTokens) {
    cpu::ManyRows part = whole;
    part.M = std::min(M - m, kPackedTiles * cpu::kTokens);
    part.x += m * K;
    part.y += m * part.N;
    const int64_t n = (part.M + cpu::kTokens - 1) / cpu::kTokens;
    parallel_for(0, n, 1, [&](int64_t begin, int64_t end) { kernels.pack(part, begin, end); });
    parallel_for(0, n * n_blocks, 1,
                 [&](int64_t begin, int64_t end) { kernels.pieces(part, begin, end); });
  }
  return y;
}

}  // namespace gyre::model
