// Whole arrays out of a GGUF file's metadata, read when asked for: vocabularies, scores, merges.
// The reader of the header (gguf.cpp) has walked over every item, so no length here leads outside.
#include <cstring>

#include "gyre/base/error.h"
#include "gyre/tensor/ggml_types.h"
#include "gyre/tensor/gguf.h"

namespace gyre::tensor {
namespace {

template <class T>
T read_as(const std::byte* item) {
  T value;
  std::memcpy(&value, item, sizeof(T));  // GGUF is little-endian, as we are
  return value;
}

const char* kind_of(const GgufValue& value) {
  if (value.type != GgufType::Array) {
    return value.type == GgufType::String ? "a text" : "a number";
  }
  return value.item == GgufType::String ? "an array of texts" : "an array of numbers";
}

}  // namespace

double decode_gguf_number(const std::byte* item, GgufType type) {
  switch (type) {
    case GgufType::U8:
      return read_as<uint8_t>(item);
    case GgufType::I8:
      return read_as<int8_t>(item);
    case GgufType::U16:
      return read_as<uint16_t>(item);
    case GgufType::I16:
      return read_as<int16_t>(item);
    case GgufType::U32:
      return read_as<uint32_t>(item);
    case GgufType::I32:
      return read_as<int32_t>(item);
    case GgufType::F32:
      return read_as<float>(item);
    case GgufType::Bool:
      return read_as<uint8_t>(item) != 0 ? 1.0 : 0.0;
    case GgufType::U64:
      return static_cast<double>(read_as<uint64_t>(item));
    case GgufType::I64:
      return static_cast<double>(read_as<int64_t>(item));
    case GgufType::F64:
      return read_as<double>(item);
    case GgufType::String:
    case GgufType::Array:
      break;
  }
  return 0.0;
}

std::vector<std::string> GgufFile::texts(const std::string& key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) {
    return {};
  }
  const GgufValue& value = found->second;
  if (value.type != GgufType::Array || value.item != GgufType::String) {
    throw Error(Code::Format, owner_, ": key ", key, " is ", kind_of(value),
                ", expected an array of texts");
  }
  std::vector<std::string> out;
  out.reserve(value.count);
  const std::byte* at = bytes_.data() + value.begin;
  for (uint64_t i = 0; i < value.count; ++i) {
    const auto length = read_as<uint64_t>(at);
    at += sizeof(length);
    out.emplace_back(reinterpret_cast<const char*>(at), length);
    at += length;
  }
  return out;
}

std::vector<double> GgufFile::numbers(const std::string& key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) {
    return {};
  }
  const GgufValue& value = found->second;
  if (value.type != GgufType::Array || value.item == GgufType::String) {
    throw Error(Code::Format, owner_, ": key ", key, " is ", kind_of(value),
                ", expected an array of numbers");
  }
  const uint64_t item_bytes = gguf_type_bytes(value.item);
  const std::byte* begin = bytes_.data() + value.begin;
  std::vector<double> out(value.count);
  for (uint64_t i = 0; i < value.count; ++i) {
    out[i] = decode_gguf_number(begin + i * item_bytes, value.item);
  }
  return out;
}

}  // namespace gyre::tensor
