// Blocks of each quantised type. The first byte says which; what it does not fill is left over. Any
// bytes are right blocks: the sanitizers look for reads and writes beyond the row.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "gyre/tensor/dequantize.h"
#include "gyre/tensor/ggml_types.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gyre::tensor;
  if (size == 0) {
    return 0;
  }
  const uint32_t id = data[0] % 48U;
  const GgmlType* type = ggml_type(id);
  const DequantizeRow row_of = find_dequantize(id);
  if (row_of == nullptr) {
    return 0;
  }
  if (type == nullptr) {
    std::fprintf(stderr, "type %u is dequantised and has no block\n", id);
    std::abort();
  }
  // Of the row's own length, so that one byte too many is seen.
  const size_t n_blocks = (size - 1) / type->block_bytes;
  if (n_blocks == 0) {
    return 0;
  }
  std::vector<std::byte> row(n_blocks * type->block_bytes);
  std::memcpy(row.data(), data + 1, row.size());
  std::vector<float> out(n_blocks * type->block_items, -1.0F), again(out);
  row_of(row.data(), static_cast<int64_t>(out.size()), out.data());
  row_of(row.data(), static_cast<int64_t>(out.size()), again.data());
  if (!out.empty() && std::memcmp(out.data(), again.data(), out.size() * sizeof(float)) != 0) {
    std::fprintf(stderr, "the same row gives two answers\n");
    std::abort();
  }
  return 0;
}
