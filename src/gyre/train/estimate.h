// What a training run needs, from shapes alone: nothing is allocated.
#pragma once

#include <cstdint>
#include <string>

#include "gyre/base/options.h"
#include "gyre/model/config.h"

namespace gyre::train {

struct PlanOptions {
  int64_t gpus = 1;
  double gpu_tflops = 400.0;   // achieved dense bf16 peak of one device, TFLOP/s
  double mfu = 0.4;            // share of that peak a run reaches
  double gpu_memory_gib = 80;  // of one device
  int64_t tokens = 0;          // 0 = the preset's
  int64_t length = 0;          // 0 = the preset's
  int64_t batch = 0;           // sequences per step over all devices; 0 = the preset's
  int64_t micro_batch = 1;     // sequences per device at once
  bool shard = false;          // weights, gradients and moments split over devices

  template <class V>
  void fields(V& v) {
    v("gpus", gpus, "devices");
    v("gpu-tflops", gpu_tflops, "peak of one device in the compute type, TFLOP/s");
    v("mfu", mfu, "share of the peak that training reaches");
    v("gpu-memory-gib", gpu_memory_gib, "memory of one device, GiB");
    v("tokens", tokens, "training tokens; 0 = the preset's");
    v("length", length, "training sequence length, tokens; 0 = the preset's");
    v("batch", batch, "sequences per step over all devices; 0 = the preset's");
    v("micro-batch", micro_batch, "sequences a device computes at once");
    v("shard", shard, "split weights, gradients and moments over the devices");
  }
};

struct Estimate {
  int64_t params = 0, alpha_params = 0, steps = 0, tokens = 0, length = 0, batch = 0;
  double flops_per_token = 0.0, flops = 0.0;
  double state_bytes = 0.0;       // fp32 weights, gradients, two moments; bf16 copy of the weights
  double activation_bytes = 0.0;  // kept for the backward of one micro batch
  double logits_bytes = 0.0;      // the chunk in flight
  double bytes_per_gpu = 0.0;
  bool fits = false;
  double hours = 0.0;
};

/// Fills `options` zeros from the preset. The parameter count comes from a model on the meta
/// device. Error(Usage) names an option that does not fit.
Estimate estimate(const model::Preset& preset, const std::string& scheme, const std::string& mask,
                  const PlanOptions& options);

}  // namespace gyre::train
