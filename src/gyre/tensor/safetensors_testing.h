// Makes safetensors bytes out of any header text, right or wrong.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "gyre/tensor/safetensors_header.h"

namespace gyre::tensor {

inline std::string safetensors_bytes(const std::string& header, const std::string& data = "") {
  std::string bytes;
  for (int i = 0; i < 8; ++i) {
    bytes += static_cast<char>((uint64_t{header.size()} >> (8 * i)) & 0xFFU);
  }
  return bytes + header + data;
}

/// `bytes` must outlive the result.
inline SafetensorsHeader header_of(const std::string& bytes) {
  return SafetensorsHeader(std::as_bytes(std::span(bytes)), "m.safetensors");
}

}  // namespace gyre::tensor
