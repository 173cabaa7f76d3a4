// The tensors of a GGUF model that may be cut into parts.
#include <map>

#include "gyre/base/error.h"
#include "gyre/model/load/tensor_store.h"
#include "gyre/tensor/gguf_tensor.h"

namespace gyre::model {
namespace {

class GgufStore : public TensorStore {
 public:
  explicit GgufStore(const std::vector<std::shared_ptr<const tensor::GgufFile>>& parts)
      : parts_(parts) {
    for (const auto& part : parts_) {
      for (const tensor::GgufTensor& each : part->tensors()) {
        if (!place_.emplace(each.name, Place{part, &each}).second) {
          throw Error(Code::Format, part->owner(), ": tensor ", each.name,
                      " is also in another part of the model");
        }
        tensors_.push_back({each.name, tensor::sizes_of(each), part->owner()});
      }
    }
  }

  const std::vector<StoredInfo>& tensors() const override { return tensors_; }

  void check_type(const std::string& name) const override {
    const Place& place = place_.at(name);
    tensor::check_readable(*place.part, *place.tensor);
  }

  bool same(const std::string& a, const std::string& b) const override { return a == b; }

  at::Tensor load(const std::string& name, at::ScalarType dtype) const override {
    const Place& place = place_.at(name);
    at::Tensor value = tensor::gguf_tensor(place.part, *place.tensor, dtype);
    if (value.const_data_ptr() != place.part->data(*place.tensor).data()) {  // no view of the file
      place.part->let_go(*place.tensor);
    }
    return value;
  }

  void load_into(const std::string& name, at::Tensor out) const override {
    const Place& place = place_.at(name);
    at::Tensor same = out.view(tensor::sizes_of(*place.tensor));
    tensor::gguf_tensor_into(*place.part, *place.tensor, same);
    place.part->let_go(*place.tensor);
  }

 private:
  struct Place {
    std::shared_ptr<const tensor::GgufFile> part;
    const tensor::GgufTensor* tensor;
  };
  std::vector<std::shared_ptr<const tensor::GgufFile>> parts_;
  std::map<std::string, Place> place_;
  std::vector<StoredInfo> tensors_;
};

}  // namespace

std::unique_ptr<TensorStore> gguf_store(
    const std::vector<std::shared_ptr<const tensor::GgufFile>>& parts) {
  return std::make_unique<GgufStore>(parts);
}

}  // namespace gyre::model
