#include "gyre/train/estimate.h"

#include <algorithm>

#include "gyre/base/error.h"
#include "gyre/model/transformer.h"
#include "gyre/position/scheme.h"

namespace gyre::train {
namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

void check(const PlanOptions& options) {
  const auto positive = [](const char* name, double value) {
    if (!(value > 0)) {
      throw Error(Code::Usage, "--", name, " must be positive, got ", value);
    }
  };
  positive("gpus", static_cast<double>(options.gpus));
  positive("gpu-tflops", options.gpu_tflops);
  positive("gpu-memory-gib", options.gpu_memory_gib);
  positive("micro-batch", static_cast<double>(options.micro_batch));
  if (!(options.mfu > 0 && options.mfu <= 1)) {
    throw Error(Code::Usage, "--mfu must be in (0, 1], got ", options.mfu);
  }
}

/// Tensors kept for the backward, per token, in the 2-byte compute type unless stated:
/// residual stream (4 bytes) twice, both norm outputs, q k v, rotated q k, attention output, MLP
/// input halves and product.
double activation_bytes_per_token(const model::ModelConfig& c) {
  const auto C = static_cast<double>(c.width), F = static_cast<double>(c.hidden);
  const auto q = static_cast<double>(c.heads * c.head_dim);
  const auto kv = static_cast<double>(c.n_kv_heads() * c.head_dim);
  const double gated = c.mlp == model::Mlp::Gelu ? 2.0 : 3.0;
  const double per_layer =
      2.0 * 4.0 * C + 2.0 * (2.0 * C + (q + 2.0 * kv) + (q + kv) + q + gated * F);
  return per_layer * static_cast<double>(c.layers);
}

void fill_sizes(Estimate& out, const model::Preset& preset, const PlanOptions& options) {
  out.length = options.length > 0 ? options.length : preset.length;
  out.batch = options.batch > 0 ? options.batch : preset.batch;
  const int64_t per_step = out.length * out.batch;
  if (options.tokens > 0) {
    out.steps = (options.tokens + per_step - 1) / per_step;
  } else if (preset.steps > 0) {
    out.steps = preset.steps;
  } else {
    throw Error(Code::Usage, "preset ", preset.name, " fixes no token count; give --tokens");
  }
  out.tokens = out.steps * per_step;
}

}  // namespace

Estimate estimate(const model::Preset& preset, const std::string& scheme, const std::string& mask,
                  const PlanOptions& options) {
  check(options);
  Estimate out;
  fill_sizes(out, preset, options);
  const model::ModelConfig& config = preset.config;
  const position::PositionPlan plan =
      position::make_plan(scheme, mask, model::plan_request(config, out.length));
  const model::Transformer shape(config, plan, at::kMeta);
  out.params = shape.n_parameters();
  out.alpha_params = shape.n_alpha();
  out.flops_per_token = model::train_flops_per_token(config, out.length);
  out.flops = out.flops_per_token * static_cast<double>(out.tokens);
  const auto gpus = static_cast<double>(options.gpus);
  constexpr double kBytesPerParameter = 4 + 4 + 4 + 4 + 2;
  out.state_bytes =
      kBytesPerParameter * static_cast<double>(out.params) / (options.shard ? gpus : 1.0);
  out.activation_bytes =
      activation_bytes_per_token(config) * static_cast<double>(options.micro_batch * out.length);
  constexpr double kLogitChunkBytes = 32.0 * 1024 * 1024;
  out.logits_bytes = 2.0 * std::min(kLogitChunkBytes, 4.0 * static_cast<double>(config.vocab) *
                                                          static_cast<double>(out.length));
  out.bytes_per_gpu = out.state_bytes + out.activation_bytes + out.logits_bytes;
  out.fits = out.bytes_per_gpu <= options.gpu_memory_gib * kGiB;
  out.hours = out.flops / (gpus * options.gpu_tflops * 1e12 * options.mfu) / 3600.0;
  return out;
}

}  // namespace gyre::train
