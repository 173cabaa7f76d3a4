// Where a model that is only run gets its parameters: a checkpoint behind a WeightSource, either
// loaded whole or read block by block, for models larger than memory.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <unordered_map>

#include "gyre/model/config.h"

namespace gyre::model {

/// One tensor per parameter of model/shapes.h, by gyre's names and in gyre's layout.
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  /// The type of matrices and the embedding: float32, bfloat16 or float64. Norms and biases are
  /// float32 (float64 when this is).
  virtual at::ScalarType dtype() const = 0;
  virtual at::Device device() const { return at::kCPU; }
  /// throws Error(Format) when it cannot be read
  virtual at::Tensor load(const std::string& name) = 0;
};

/// Every parameter of `config`, loaded once, with a progress bar.
class ResidentWeights : public WeightSource {
 public:
  ResidentWeights(WeightSource& source, const ModelConfig& config, at::Device device = at::kCPU);
  at::ScalarType dtype() const override { return dtype_; }
  at::Device device() const override { return device_; }
  at::Tensor load(const std::string& name) override;

 private:
  at::ScalarType dtype_;
  at::Device device_;
  std::unordered_map<std::string, at::Tensor> tensors_;
};

/// Keeps the parameters of one block, and those outside blocks that were asked for last.
class StreamedWeights : public WeightSource {
 public:
  explicit StreamedWeights(std::shared_ptr<WeightSource> source) : source_(std::move(source)) {}
  at::ScalarType dtype() const override { return source_->dtype(); }
  at::Device device() const override { return source_->device(); }
  at::Tensor load(const std::string& name) override;

 private:
  std::shared_ptr<WeightSource> source_;
  std::string block_;  // "blocks.7." of what is held
  std::unordered_map<std::string, at::Tensor> held_;
};

}  // namespace gyre::model
