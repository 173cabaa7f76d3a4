#include "gyre/bench/our_inference.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/randint.h>

#include <chrono>

#include "gyre/base/error.h"

namespace gyre::bench {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::vector<int64_t> random_tokens(int64_t n, int64_t vocab) {
  const at::Tensor ids = at::randint(vocab, {n}, at::make_generator<at::CPUGeneratorImpl>(n),
                                     at::TensorOptions().dtype(at::kLong));
  return {ids.const_data_ptr<int64_t>(), ids.const_data_ptr<int64_t>() + n};
}

}  // namespace

std::vector<InferCase> cases_of(const InferShape& shape) {
  std::vector<InferCase> out;
  for (const int64_t length : shape.lengths) {
    out.push_back({"prefill", length});
    out.push_back({"decode", length});
  }
  return out;
}

std::string case_words(const InferCase& one) {
  return str(one.kind, " ", one.length);
}

OurInference::OurInference(const InferShape& shape)
    : n_new_(shape.new_tokens),
      any_(train::load_any_model(shape.model,
                                 {.dtype = shape.dtype == "bf16" ? at::kBFloat16 : at::kFloat})) {}

double OurInference::timed_ms(const InferCase& one) {
  const std::vector<int64_t> tokens = random_tokens(one.length, any_.model.config().vocab);
  const model::Transformer model = any_.at_length(one.length + n_new_);
  model::Decoder decoder(model, std::max<int64_t>(one.length, 1));
  auto start = Clock::now();
  at::Tensor logits = decoder.prefill({tokens});
  int64_t id = logits.argmax().item<int64_t>();
  double ms = ms_since(start);
  if (one.kind == "decode") {
    start = Clock::now();
    for (int64_t i = 0; i < n_new_; ++i) {
      id = decoder.step({id}).argmax().item<int64_t>();
    }
    ms = ms_since(start) / static_cast<double>(n_new_);
  }
  cache_mib_ = static_cast<double>(decoder.cache().n_bytes()) / (1 << 20);
  return ms;
}

double OurInference::weights_mib() const {
  const double bytes = any_.model.compute_dtype() == at::kBFloat16 ? 2.0 : 4.0;
  return bytes * static_cast<double>(any_.model.n_parameters()) / (1 << 20);
}

}  // namespace gyre::bench
