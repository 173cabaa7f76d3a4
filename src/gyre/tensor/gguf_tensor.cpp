#include "gyre/tensor/gguf_tensor.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <functional>
#include <numeric>
#include <optional>

#include "gyre/base/error.h"
#include "gyre/tensor/dequantize.h"
#include "gyre/tensor/ggml_types.h"
#include "gyre/tensor/parallel.h"

namespace gyre::tensor {
namespace {

std::optional<at::ScalarType> plain_type(uint32_t type) {
  switch (type) {
    case 0:
      return at::kFloat;
    case 1:
      return at::kHalf;
    case 28:
      return at::kDouble;
    case 30:
      return at::kBFloat16;
    default:
      return std::nullopt;
  }
}

// torch wants items at multiples of their size; GGUF's alignment is at least that in any file seen,
// but may be 1.
bool is_aligned(const std::byte* at, at::ScalarType type) {
  return reinterpret_cast<uintptr_t>(at) % c10::elementSize(type) == 0;
}

// The stored bytes as a tensor; a copy when they lie askew.
at::Tensor plain_tensor(std::span<const std::byte> bytes, const GgufTensor& tensor,
                        at::ScalarType type, const std::function<void(void*)>& release) {
  const std::vector<int64_t> sizes = sizes_of(tensor);
  if (is_aligned(bytes.data(), type)) {
    // from_blob takes a mutable pointer; nobody writes to weights.
    return at::from_blob(const_cast<std::byte*>(bytes.data()), sizes, release, type);
  }
  at::Tensor out = at::empty(sizes, type);
  std::memcpy(out.mutable_data_ptr(), bytes.data(), bytes.size());
  return out;
}

// Rows through a buffer of one row, so that a bfloat16 result needs no float32 tensor beside it.
template <class T>
void dequantize_rows(DequantizeRow row_of, std::span<const std::byte> bytes, int64_t n_rows,
                     int64_t n, T* out) {
  const int64_t row_bytes = n_rows == 0 ? 0 : static_cast<int64_t>(bytes.size()) / n_rows;
  const int64_t grain = std::max<int64_t>(1, 65536 / std::max<int64_t>(n, 1));
  parallel_for(0, n_rows, grain, [&](int64_t begin, int64_t end) {
    std::vector<float> buffer(std::is_same_v<T, float> ? 0 : static_cast<size_t>(n));
    for (int64_t r = begin; r < end; ++r) {
      const std::byte* row = bytes.data() + r * row_bytes;
      if constexpr (std::is_same_v<T, float>) {
        row_of(row, n, out + r * n);
      } else {
        row_of(row, n, buffer.data());
        for (int64_t i = 0; i < n; ++i) {
          out[r * n + i] = T(buffer[static_cast<size_t>(i)]);
        }
      }
    }
  });
}

void check_target(at::ScalarType dtype) {
  TORCH_CHECK_VALUE(dtype == at::kFloat || dtype == at::kBFloat16,
                    "gguf: tensors are read as float32 or bfloat16, not ", dtype);
}

}  // namespace

std::vector<int64_t> sizes_of(const GgufTensor& tensor) {
  return {tensor.dims.rbegin(), tensor.dims.rend()};
}

void check_readable(const GgufFile& file, const GgufTensor& tensor) {
  if (!plain_type(tensor.type).has_value() && find_dequantize(tensor.type) == nullptr) {
    throw Error(Code::Format, file.owner(), ": tensor ", tensor.name, " has ",
                type_words(tensor.type),
                ", expected F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K or Q6_K; "
                "convert with: llama-quantize --allow-requantize FILE OUT Q8_0");
  }
}

void gguf_tensor_into(const GgufFile& file, const GgufTensor& tensor, at::Tensor& out) {
  check_readable(file, tensor);
  check_target(out.scalar_type());
  TORCH_CHECK_VALUE(out.sizes() == at::IntArrayRef(sizes_of(tensor)) && out.is_contiguous(),
                    "gguf: tensor ", tensor.name, " of ", at::IntArrayRef(sizes_of(tensor)),
                    " does not fit ", out.sizes());
  const std::span<const std::byte> bytes = file.data(tensor);
  if (const auto type = plain_type(tensor.type); type.has_value()) {
    out.copy_(plain_tensor(bytes, tensor, *type, [](void*) {}));
    return;
  }
  const int64_t n = tensor.dims.empty() ? 1 : static_cast<int64_t>(tensor.dims[0]);
  const int64_t n_rows = n == 0 ? 0 : out.numel() / n;
  const DequantizeRow row_of = find_dequantize(tensor.type);
  if (out.scalar_type() == at::kFloat) {
    dequantize_rows(row_of, bytes, n_rows, n, out.mutable_data_ptr<float>());
  } else {
    dequantize_rows(row_of, bytes, n_rows, n, out.mutable_data_ptr<at::BFloat16>());
  }
}

at::Tensor gguf_tensor(const std::shared_ptr<const GgufFile>& file, const GgufTensor& tensor,
                       at::ScalarType dtype) {
  check_readable(*file, tensor);
  check_target(dtype);
  if (const auto type = plain_type(tensor.type); type.has_value()) {
    return plain_tensor(file->data(tensor), tensor, *type, [file](void*) {}).to(dtype);
  }
  at::Tensor out = at::empty(sizes_of(tensor), dtype);
  gguf_tensor_into(*file, tensor, out);
  return out;
}

}  // namespace gyre::tensor
