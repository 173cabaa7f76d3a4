// The JSON part of a safetensors header to plain values, in one pass without a tree.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gyre/tensor/safetensors_header.h"

namespace gyre::tensor {

struct SafetensorsJson {
  std::vector<StoredTensor> tensors;  // begin and end are data_offsets: from the data part's start
  Metadata metadata;
};

/// Error(Format) names `owner` and the tensor: no JSON, not UTF-8, a name twice, a field missing or
/// of the wrong kind, negative or fractional sizes, nesting that the format does not have.
SafetensorsJson parse_safetensors_json(std::string_view text, const std::string& owner);

}  // namespace gyre::tensor
