// The element types of ggml, as GGUF stores them: id, name, how many items one block packs into how
// many bytes. Facts of ggml/include/ggml.h and gguf-py's GGML_QUANT_SIZES (gguf 0.19).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "gyre/tensor/gguf.h"

namespace gyre::tensor {

struct GgmlType {
  uint32_t id;
  const char* name;
  uint32_t block_items, block_bytes;
  double (*decode)(const std::byte* item);  // one item of a plain floating type; null for others
};

/// Null for an id this version does not know.
const GgmlType* ggml_type(uint32_t id);

/// Bytes of one metadata number; 0 for texts and arrays.
uint64_t gguf_type_bytes(GgufType type);

/// One little-endian metadata number; Bool as 0 or 1. `type` is neither String nor Array.
double decode_gguf_number(const std::byte* item, GgufType type);

/// "type Q4_K", "type 99": for messages.
std::string type_words(uint32_t type);

}  // namespace gyre::tensor
