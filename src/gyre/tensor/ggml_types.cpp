#include "gyre/tensor/ggml_types.h"

#include <array>

#include "gyre/base/error.h"
#include "gyre/tensor/small_floats.h"

namespace gyre::tensor {
namespace {

constexpr GgmlType kTypes[] = {
    {0, "F32", 1, 4, decode_f32},
    {1, "F16", 1, 2, decode_f16},
    {2, "Q4_0", 32, 18, nullptr},
    {3, "Q4_1", 32, 20, nullptr},
    {6, "Q5_0", 32, 22, nullptr},
    {7, "Q5_1", 32, 24, nullptr},
    {8, "Q8_0", 32, 34, nullptr},
    {9, "Q8_1", 32, 40, nullptr},
    {10, "Q2_K", 256, 84, nullptr},
    {11, "Q3_K", 256, 110, nullptr},
    {12, "Q4_K", 256, 144, nullptr},
    {13, "Q5_K", 256, 176, nullptr},
    {14, "Q6_K", 256, 210, nullptr},
    {15, "Q8_K", 256, 292, nullptr},
    {16, "IQ2_XXS", 256, 66, nullptr},
    {17, "IQ2_XS", 256, 74, nullptr},
    {18, "IQ3_XXS", 256, 98, nullptr},
    {19, "IQ1_S", 256, 50, nullptr},
    {20, "IQ4_NL", 32, 18, nullptr},
    {21, "IQ3_S", 256, 110, nullptr},
    {22, "IQ2_S", 256, 82, nullptr},
    {23, "IQ4_XS", 256, 136, nullptr},
    {24, "I8", 1, 1, nullptr},
    {25, "I16", 1, 2, nullptr},
    {26, "I32", 1, 4, nullptr},
    {27, "I64", 1, 8, nullptr},
    {28, "F64", 1, 8, decode_f64},
    {29, "IQ1_M", 256, 56, nullptr},
    {30, "BF16", 1, 2, decode_bf16},
    // 31 to 33 (Q4_0_4_4, Q4_0_4_8, Q4_0_8_8): Q4_0 in another order, no longer written
    {31, "Q4_0_4_4", 32, 18, nullptr},
    {32, "Q4_0_4_8", 32, 18, nullptr},
    {33, "Q4_0_8_8", 32, 18, nullptr},
    {34, "TQ1_0", 256, 54, nullptr},
    {35, "TQ2_0", 256, 66, nullptr},
    {39, "MXFP4", 32, 17, nullptr},
    {40, "NVFP4", 64, 36, nullptr},
    {41, "Q1_0", 128, 18, nullptr},
};

}  // namespace

const GgmlType* ggml_type(uint32_t id) {
  for (const GgmlType& type : kTypes) {
    if (type.id == id) {
      return &type;
    }
  }
  return nullptr;
}

std::string ggml_type_name(uint32_t id) {
  const GgmlType* type = ggml_type(id);
  return type == nullptr ? str("type ", id) : type->name;
}

std::string type_words(uint32_t id) {
  return ggml_type(id) == nullptr ? ggml_type_name(id) : "type " + ggml_type_name(id);
}

uint64_t gguf_type_bytes(GgufType type) {
  static constexpr std::array<uint8_t, 13> kBytes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return kBytes.at(static_cast<size_t>(type));
}

}  // namespace gyre::tensor
