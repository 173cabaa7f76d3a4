// Makes GGUF files for tests, right ones and wrong ones: every count and offset can be overruled.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gyre/tensor/gguf.h"

namespace gyre::tensor {

/// Bytes of a value as they lie in memory, which is little-endian.
template <class T>
std::string raw_bytes(const T& value) {
  std::string out(sizeof(T), '\0');
  std::memcpy(out.data(), &value, sizeof(T));
  return out;
}

inline std::string gguf_text(std::string_view text) {
  return raw_bytes(uint64_t{text.size()}) + std::string(text);
}

class GgufBuilder {
 public:
  uint32_t version = 3;
  uint64_t alignment = 32;
  int64_t n_keys = -1, n_tensors = -1;  // -1 = as many as there are

  GgufBuilder& key(std::string_view name, GgufType type, std::string_view value) {
    keys_.push_back(gguf_text(name) + raw_bytes(static_cast<uint32_t>(type)) + std::string(value));
    return *this;
  }
  GgufBuilder& u32(std::string_view name, uint32_t value) {
    return key(name, GgufType::U32, raw_bytes(value));
  }
  GgufBuilder& f32(std::string_view name, float value) {
    return key(name, GgufType::F32, raw_bytes(value));
  }
  GgufBuilder& boolean(std::string_view name, bool value) {
    return key(name, GgufType::Bool, raw_bytes(static_cast<uint8_t>(value)));
  }
  GgufBuilder& text(std::string_view name, std::string_view value) {
    return key(name, GgufType::String, gguf_text(value));
  }
  GgufBuilder& texts(std::string_view name, const std::vector<std::string>& values) {
    std::string items;
    for (const std::string& each : values) {
      items += gguf_text(each);
    }
    return array(name, GgufType::String, values.size(), items);
  }
  GgufBuilder& u32s(std::string_view name, const std::vector<uint32_t>& values) {
    std::string items;
    for (const uint32_t each : values) {
      items += raw_bytes(each);
    }
    return array(name, GgufType::U32, values.size(), items);
  }
  GgufBuilder& booleans(std::string_view name, const std::vector<int>& values) {
    std::string items;
    for (const int each : values) {
      items += static_cast<char>(each);
    }
    return array(name, GgufType::Bool, values.size(), items);
  }
  GgufBuilder& array(std::string_view name, GgufType item, uint64_t count, std::string_view items) {
    return key(name, GgufType::Array,
               raw_bytes(static_cast<uint32_t>(item)) + raw_bytes(count) + std::string(items));
  }

  /// A line of the tensor list at a given offset; no data.
  GgufBuilder& entry(std::string_view name, const std::vector<uint64_t>& dims, uint32_t type,
                     uint64_t offset) {
    std::string line = gguf_text(name) + raw_bytes(static_cast<uint32_t>(dims.size()));
    for (const uint64_t dim : dims) {
      line += raw_bytes(dim);
    }
    entries_.push_back(line + raw_bytes(type) + raw_bytes(offset));
    return *this;
  }
  /// A tensor with data, placed after those before it.
  GgufBuilder& tensor(std::string_view name, const std::vector<uint64_t>& dims, uint32_t type,
                      std::string_view bytes) {
    data_.resize((data_.size() + alignment - 1) / alignment * alignment);
    entry(name, dims, type, data_.size());
    data_ += bytes;
    return *this;
  }
  GgufBuilder& floats(std::string_view name, const std::vector<float>& values) {
    std::string bytes;
    for (const float each : values) {
      bytes += raw_bytes(each);
    }
    return tensor(name, {values.size()}, 0, bytes);
  }
  /// Bytes of data without a tensor's name on them.
  GgufBuilder& data(size_t n_bytes) {
    data_.resize(data_.size() + n_bytes);
    return *this;
  }

  std::string bytes() const {
    std::string out = "GGUF" + raw_bytes(version);
    out += raw_bytes(n_tensors < 0 ? int64_t(entries_.size()) : n_tensors);
    out += raw_bytes(n_keys < 0 ? int64_t(keys_.size()) : n_keys);
    for (const std::string& each : keys_) {
      out += each;
    }
    for (const std::string& each : entries_) {
      out += each;
    }
    if (!entries_.empty() || !data_.empty()) {
      out.resize((out.size() + alignment - 1) / alignment * alignment);
    }
    return out + data_;
  }

 private:
  std::vector<std::string> keys_, entries_;
  std::string data_;
};

/// `bytes` must outlive the result.
inline GgufFile gguf_of(const std::string& bytes) {
  return GgufFile(std::as_bytes(std::span(bytes)), "m.gguf");
}

}  // namespace gyre::tensor
