#include "gyre/model/weights.h"

#include <c10/util/Exception.h>

#include "gyre/base/error.h"
#include "gyre/base/progress.h"
#include "gyre/model/shapes.h"

namespace gyre::model {
namespace {

void check_shape(const ParameterShape& shape, const at::Tensor& value) {
  TORCH_CHECK_VALUE(value.sizes() == at::IntArrayRef(shape.sizes), "weights: '", shape.name,
                    "' is ", value.sizes(), ", the model's shape is ",
                    at::IntArrayRef(shape.sizes));
}

// "blocks.7." of "blocks.7.mlp.down.weight"; "" outside blocks.
std::string block_of(const std::string& name) {
  constexpr std::string_view kBlocks = "blocks.";
  return name.starts_with(kBlocks) ? name.substr(0, name.find('.', kBlocks.size()) + 1) : "";
}

}  // namespace

ResidentWeights::ResidentWeights(WeightSource& source, const ModelConfig& config, at::Device device)
    : dtype_(source.dtype()), device_(device) {
  const auto shapes = parameter_shapes(config);
  Progress progress("load", static_cast<int64_t>(shapes.size()), "tensors");
  for (const ParameterShape& shape : shapes) {
    const at::Tensor value = source.load(shape.name);
    check_shape(shape, value);
    tensors_[shape.name] = value.to(device);
    progress.update(static_cast<int64_t>(tensors_.size()));
  }
}

at::Tensor ResidentWeights::load(const std::string& name) {
  const auto found = tensors_.find(name);
  TORCH_CHECK_VALUE(found != tensors_.end(), "weights: no parameter '", name, "'");
  return found->second;
}

at::Tensor StreamedWeights::load(const std::string& name) {
  const std::string block = block_of(name);
  if (block != block_) {
    held_.clear();
    block_ = block;
  }
  at::Tensor& value = held_[name];
  if (!value.defined()) {
    value = source_->load(name);
  }
  return value;
}

}  // namespace gyre::model
