// Parameters under gyre's names and layout, made on demand from a checkpoint's tensors: parts of a
// packed projection joined, permuted rows put back, offsets of norms added.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gyre/model/config.h"
#include "gyre/model/load/tensor_names.h"
#include "gyre/model/load/tensor_store.h"
#include "gyre/model/weights.h"

namespace gyre::model {

/// Which linear layers have biases in the file. Where config.bias is set, the others read as zeros.
struct StoredBiases {
  bool qkv = false, out = false, mlp = false;
};

class CheckpointWeights : public WeightSource {
 public:
  /// Error(Format) names the tensor that is missing, of other sizes than the config's, of a type
  /// that cannot be read, or of no parameter of the model.
  CheckpointWeights(std::unique_ptr<TensorStore> store, const TensorNames& names,
                    const Family& family, const ModelConfig& config, const StoredBiases& biases,
                    at::ScalarType dtype);

  /// Reads the files each time it is called; what is stored as it is asked for is a view of the
  /// file, not to be written.
  at::Tensor load(const std::string& name) override;
  at::ScalarType dtype() const override { return dtype_; }

 private:
  /// How one parameter is made.
  struct Recipe {
    std::vector<std::string> parts;  // joined along the rows; empty = zeros
    std::vector<int64_t> sizes;
    int64_t permuted_heads = 0;  // leading heads whose rows are in the order of interleaved pairs
    bool add_one = false;
  };

  std::unique_ptr<TensorStore> store_;
  at::ScalarType dtype_;
  int64_t head_dim_;
  std::map<std::string, Recipe> recipes_;
};

}  // namespace gyre::model
