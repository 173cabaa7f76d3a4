#include "gyre/tensor/safetensors_header.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "gyre/base/error.h"
#include "gyre/tensor/safetensors_json.h"
#include "gyre/tensor/small_floats.h"

namespace gyre::tensor {
namespace {

constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // limit of the reference implementation

struct TypeBits {
  std::string_view name;
  uint64_t bits;
};
// Types of the reference implementation, huggingface/safetensors 0.7, tensor.rs.
constexpr TypeBits kTypes[] = {
    {"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6},     {"U8", 8},
    {"I8", 8},      {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8},
    {"F8_E8M0", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16},        {"BF16", 16},
    {"I32", 32},    {"U32", 32},    {"F32", 32},    {"C64", 64},        {"F64", 64},
    {"I64", 64},    {"U64", 64}};

/// Bytes of a shape, or throws when they do not fit 64 bits or end within a byte.
uint64_t shape_bytes(const StoredTensor& tensor, uint64_t bits, const std::string& owner) {
  const uint64_t most = std::numeric_limits<int64_t>::max();
  uint64_t n = bits;
  bool empty = false;
  for (const int64_t size : tensor.shape) {
    empty = empty || size == 0;  // the strides of [0, n, n] must fit too
    const auto factor = std::max<uint64_t>(static_cast<uint64_t>(size), 1);
    if (n > most / factor) {
      throw Error(Code::Format, owner, ": tensor ", tensor.name, ": impossible shape");
    }
    n *= factor;
  }
  if (empty) {
    return 0;
  }
  if (n % 8 != 0) {
    throw Error(Code::Format, owner, ": tensor ", tensor.name, " of type ", tensor.dtype,
                " ends within a byte");
  }
  return n / 8;
}

std::string_view json_part(std::span<const std::byte> file, const std::string& owner) {
  if (file.size() < 8) {
    throw Error(Code::Format, owner, ": ", file.size(), " bytes is too short for safetensors");
  }
  uint64_t length = 0;
  for (size_t i = 0; i < 8; ++i) {
    length |= static_cast<uint64_t>(file[i]) << (8 * i);
  }
  if (length > kMaxHeaderBytes || length > file.size() - 8) {
    throw Error(Code::Format, owner, ": header of ", length, " bytes in a file of ", file.size());
  }
  return {reinterpret_cast<const char*>(file.data()) + 8, length};
}

}  // namespace

uint64_t safetensors_type_bits(std::string_view dtype) {
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const TypeBits& each) { return each.name == dtype; });
  return found == std::end(kTypes) ? 0 : found->bits;
}

SafetensorsHeader::SafetensorsHeader(std::span<const std::byte> file, std::string owner)
    : file_(file), owner_(std::move(owner)) {
  const std::string_view text = json_part(file_, owner_);
  SafetensorsJson json = parse_safetensors_json(text, owner_);
  tensors_ = std::move(json.tensors);
  metadata_ = std::move(json.metadata);
  const uint64_t data_begin = 8 + text.size();
  check_sizes(data_begin);
  check_layout(data_begin);
  for (size_t i = 0; i < tensors_.size(); ++i) {
    index_.emplace(tensors_[i].name, i);
  }
}

/// Turns data_offsets into places in the file.
void SafetensorsHeader::check_sizes(uint64_t data_begin) {
  const uint64_t data_bytes = file_.size() - data_begin;
  for (StoredTensor& tensor : tensors_) {
    if (tensor.begin > tensor.end || tensor.end > data_bytes) {
      throw Error(Code::Format, owner_, ": tensor ", tensor.name, " lies outside the file's ",
                  data_bytes, " data bytes");
    }
    const uint64_t bits = safetensors_type_bits(tensor.dtype);
    const uint64_t wanted =
        bits == 0 ? tensor.end - tensor.begin : shape_bytes(tensor, bits, owner_);
    if (wanted != tensor.end - tensor.begin) {
      throw Error(Code::Format, owner_, ": tensor ", tensor.name, " holds ",
                  tensor.end - tensor.begin, " bytes, its shape and type need ", wanted);
    }
    tensor.begin += data_begin;
    tensor.end += data_begin;
  }
}

void SafetensorsHeader::check_layout(uint64_t data_begin) {
  std::sort(tensors_.begin(), tensors_.end(), [](const StoredTensor& a, const StoredTensor& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  uint64_t position = data_begin;
  for (const StoredTensor& tensor : tensors_) {
    if (tensor.begin != position) {
      throw Error(Code::Format, owner_, ": tensor ", tensor.name,
                  tensor.begin < position ? " overlaps another" : " follows a gap");
    }
    position = tensor.end;
  }
  if (position != file_.size()) {
    throw Error(Code::Format, owner_, ": ", file_.size() - position,
                " bytes after the last tensor");
  }
}

const StoredTensor* SafetensorsHeader::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

std::vector<double> SafetensorsHeader::load_small(const StoredTensor& tensor) const {
  static constexpr uint64_t kMostItems = 1'000'000;
  struct Decoder {
    std::string_view dtype;
    double (*decode)(const std::byte*);
  };
  static constexpr Decoder kDecoders[] = {
      {"F64", decode_f64}, {"F32", decode_f32}, {"F16", decode_f16}, {"BF16", decode_bf16}};
  const auto* found = std::find_if(std::begin(kDecoders), std::end(kDecoders),
                                   [&](const Decoder& each) { return each.dtype == tensor.dtype; });
  if (found == std::end(kDecoders)) {
    throw Error(Code::Format, owner_, ": tensor ", tensor.name, " has type ", tensor.dtype,
                ", expected F64, F32, F16 or BF16");
  }
  const uint64_t item_bytes = safetensors_type_bits(tensor.dtype) / 8;
  const uint64_t n_items = (tensor.end - tensor.begin) / item_bytes;
  if (n_items > kMostItems) {
    throw Error(Code::Format, owner_, ": tensor ", tensor.name, " has ", n_items,
                " items, a table of positions has at most ", kMostItems);
  }
  std::vector<double> values(n_items);
  for (uint64_t i = 0; i < n_items; ++i) {
    values[i] = found->decode(file_.data() + tensor.begin + i * item_bytes);
  }
  return values;
}

}  // namespace gyre::tensor
