// Reading order is that of the file: magic, version, two counts, keys, tensor list, data. Every
// length is compared with the bytes that are left before anything is allocated or skipped.
#include "gyre/tensor/gguf.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "gyre/base/error.h"
#include "gyre/tensor/ggml_types.h"
#include "gyre/tensor/header_text.h"

namespace gyre::tensor {
namespace {

constexpr uint64_t kMaxName = 65535;           // the format's own limit on keys
constexpr uint64_t kMaxText = 64 * 1024;       // longer texts (templates, tokenizers) keep no copy
constexpr uint64_t kMaxNumbers = 65536;        // of one array
constexpr uint64_t kMaxAllNumbers = 1U << 20;  // of all arrays of a file together
constexpr uint32_t kMaxDims = 4;
constexpr uint64_t kMinKeyBytes = 8 + 4 + 1;         // length, type, one byte of value
constexpr uint64_t kMinTensorBytes = 8 + 4 + 4 + 8;  // name length, n_dims, type, offset

/// Walks over the header; every read names what it was for when the file ends too soon.
class Cursor {
 public:
  Cursor(std::span<const std::byte> bytes, const std::string& owner)
      : bytes_(bytes), owner_(owner) {}

  uint64_t at() const { return at_; }
  uint64_t left() const { return bytes_.size() - at_; }

  template <class T>
  T read(std::string_view what) {
    need(sizeof(T), what);
    T value;
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));  // GGUF is little-endian, as we are
    at_ += sizeof(T);
    return value;
  }
  /// Borrowed from the file.
  std::string_view text(std::string_view what) {
    const auto length = read<uint64_t>(what);
    need(length, what);
    const char* begin = reinterpret_cast<const char*>(bytes_.data()) + at_;
    at_ += length;
    return {begin, length};
  }
  void skip(uint64_t n, std::string_view what) { take(n, what); }
  const std::byte* take(uint64_t n, std::string_view what) {
    need(n, what);
    at_ += n;
    return bytes_.data() + at_ - n;
  }
  void need(uint64_t n, std::string_view what) const {
    if (n > left()) {
      fail(what, " needs ", n, " bytes, the file has ", left(), " left");
    }
  }
  template <class... T>
  [[noreturn]] void fail(const T&... parts) const {
    throw Error(Code::Format, owner_, ": at byte ", at_, ": ", parts...);
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& owner_;
  uint64_t at_ = 0;
};

static_assert(std::endian::native == std::endian::little);

double read_number(Cursor& in, GgufType type, std::string_view what) {
  const uint64_t n_bytes = gguf_type_bytes(type);
  if (n_bytes == 0) {
    in.fail(what, " is no number");
  }
  return decode_gguf_number(in.take(n_bytes, what), type);
}

GgufType read_type(Cursor& in, std::string_view what) {
  const auto type = in.read<uint32_t>(what);
  if (type > static_cast<uint32_t>(GgufType::F64)) {
    in.fail(what, " has value type ", type, ", the format has 0 to 12");
  }
  return static_cast<GgufType>(type);
}

/// `budget` numbers may still be kept.
void read_array(Cursor& in, const std::string& key, GgufValue& value, uint64_t& budget) {
  value.item = read_type(in, key);
  value.count = in.read<uint64_t>(key);
  if (value.item == GgufType::Array) {
    in.fail("key ", key, " is an array of arrays, which is not supported");
  }
  value.begin = in.at();
  const bool texts = value.item == GgufType::String;
  const uint64_t item_bytes = texts ? sizeof(uint64_t) : gguf_type_bytes(value.item);
  if (value.count > in.left() / item_bytes) {
    in.fail("key ", key, " counts ", value.count, " items, the file has ", in.left(),
            " bytes left");
  }
  if (texts) {  // vocabularies: hopped over, never copied
    for (uint64_t i = 0; i < value.count; ++i) {
      in.text(key);
    }
  } else if (value.count <= std::min(kMaxNumbers, budget)) {
    budget -= value.count;
    value.numbers.reserve(value.count);
    for (uint64_t i = 0; i < value.count; ++i) {
      value.numbers.push_back(read_number(in, value.item, key));
    }
  } else {
    in.skip(value.count * item_bytes, key);
  }
}

GgufValue read_value(Cursor& in, const std::string& key, uint64_t& budget) {
  GgufValue value;
  value.type = read_type(in, key);
  if (value.type == GgufType::Array) {
    read_array(in, key, value, budget);
  } else if (value.type == GgufType::String) {
    const std::string_view text = in.text(key);
    value.count = text.size();
    if (text.size() <= kMaxText) {
      if (!is_utf8(text)) {
        in.fail("the text of key ", key, " is not UTF-8");
      }
      value.text = text;
    }
  } else {
    value.number = read_number(in, value.type, key);
  }
  return value;
}

std::string read_name(Cursor& in, std::string_view what) {
  const std::string_view name = in.text(what);
  if (name.empty() || name.size() > kMaxName || !is_name(name)) {
    in.fail(what, " '", printable(name), "' is no name (1 to ", kMaxName,
            " bytes of UTF-8 without control characters)");
  }
  return std::string(name);
}

/// Bytes of a tensor; 0 for a type whose blocks this version does not know.
uint64_t tensor_bytes(const Cursor& in, const GgufTensor& tensor) {
  uint64_t n_items = 1;
  for (const uint64_t dim : tensor.dims) {
    // Signed 64 bits, as ggml counts.
    if (dim != 0 && n_items > uint64_t(std::numeric_limits<int64_t>::max()) / dim) {
      in.fail("tensor ", tensor.name, " has more items than 64 bits count");
    }
    n_items *= dim;
  }
  const GgmlType* type = ggml_type(tensor.type);
  if (type == nullptr) {
    return 0;
  }
  const uint64_t row = tensor.dims.empty() ? 1 : tensor.dims[0];
  if (row % type->block_items != 0) {
    in.fail("tensor ", tensor.name, " has rows of ", row, " items, ", type->name, " packs them by ",
            type->block_items);
  }
  const uint64_t n_blocks = n_items / type->block_items;
  if (n_blocks > std::numeric_limits<uint64_t>::max() / type->block_bytes) {
    in.fail("tensor ", tensor.name, " has more bytes than 64 bits count");
  }
  return n_blocks * type->block_bytes;
}

GgufTensor read_tensor(Cursor& in) {
  GgufTensor tensor;
  tensor.name = read_name(in, "tensor name");
  const auto n_dims = in.read<uint32_t>(tensor.name);
  if (n_dims > kMaxDims) {
    in.fail("tensor ", tensor.name, " has ", n_dims, " dimensions, at most ", kMaxDims,
            " are allowed");
  }
  for (uint32_t d = 0; d < n_dims; ++d) {
    tensor.dims.push_back(in.read<uint64_t>(tensor.name));
  }
  tensor.type = in.read<uint32_t>(tensor.name);
  tensor.offset = in.read<uint64_t>(tensor.name);
  tensor.n_bytes = tensor_bytes(in, tensor);
  return tensor;
}

uint32_t read_version(Cursor& in) {
  if (in.left() < 4 || in.read<uint32_t>("magic") != 0x46554747U) {  // "GGUF"
    in.fail("no GGUF file: it does not start with the letters GGUF");
  }
  const auto version = in.read<uint32_t>("version");
  if (version != 0 && (version & 0xFFFFU) == 0) {
    in.fail(
        "big-endian GGUF, only little-endian is supported; convert it with "
        "gguf-py's gguf_convert_endian");
  }
  if (version != 2 && version != 3) {
    in.fail("GGUF version ", version, ", only 2 and 3 are supported",
            version == 1 ? "; convert the model again with a current tool" : "");
  }
  return version;
}

uint64_t read_count(Cursor& in, std::string_view what, uint64_t least_bytes) {
  const auto count = in.read<uint64_t>(what);
  if (count > in.left() / least_bytes) {
    in.fail("header counts ", count, " ", what, ", the file has ", in.left(), " bytes left");
  }
  return count;
}

}  // namespace

GgufFile::GgufFile(const std::filesystem::path& path) : owner_(path.string()) {
  mapped_.emplace_back(path);
  bytes_ = mapped_.front().bytes();
  read();
}

GgufFile::GgufFile(std::span<const std::byte> bytes, std::string owner)
    : bytes_(bytes), owner_(std::move(owner)) {
  read();
}

void GgufFile::read() {
  Cursor in(bytes_, owner_);
  version_ = read_version(in);
  const uint64_t n_tensors = read_count(in, "tensors", kMinTensorBytes);
  const uint64_t n_keys = read_count(in, "keys", kMinKeyBytes);
  uint64_t budget = kMaxAllNumbers;
  for (uint64_t i = 0; i < n_keys; ++i) {
    std::string key = read_name(in, "key");
    if (metadata_.contains(key)) {
      in.fail("key ", key, " stands twice");
    }
    GgufValue value = read_value(in, key, budget);
    metadata_.emplace(std::move(key), std::move(value));
  }
  for (uint64_t i = 0; i < n_tensors; ++i) {
    tensors_.push_back(read_tensor(in));
  }
  const double alignment = number("general.alignment", 32.0);
  if (!(alignment >= 1.0 && alignment <= 1U << 20) ||
      !std::has_single_bit(static_cast<uint64_t>(alignment)) ||
      alignment != static_cast<double>(static_cast<uint64_t>(alignment))) {
    throw Error(Code::Format, owner_, ": general.alignment is ", alignment,
                ", it must be a power of two of at most 1048576");
  }
  check_layout(in.at(), static_cast<uint64_t>(alignment));
}

void GgufFile::check_layout(uint64_t header_end, uint64_t alignment) {
  data_begin_ = (header_end + alignment - 1) / alignment * alignment;
  const uint64_t data_bytes = bytes_.size() > data_begin_ ? bytes_.size() - data_begin_ : 0;
  std::vector<const GgufTensor*> by_name, by_place;
  for (const GgufTensor& tensor : tensors_) {
    if (tensor.offset % alignment != 0) {
      throw Error(Code::Format, owner_, ": tensor ", tensor.name, " starts at offset ",
                  tensor.offset, ", no multiple of ", alignment);
    }
    if (tensor.offset > data_bytes || tensor.n_bytes > data_bytes - tensor.offset) {
      throw Error(Code::Format, owner_, ": tensor ", tensor.name, " of ", tensor.n_bytes,
                  " bytes at offset ", tensor.offset, " lies outside the file's ", data_bytes,
                  " data bytes; the file may be cut short");
    }
    by_name.push_back(&tensor);
    by_place.push_back(&tensor);
  }
  std::sort(by_name.begin(), by_name.end(),
            [](const auto* a, const auto* b) { return a->name < b->name; });
  std::sort(by_place.begin(), by_place.end(), [](const auto* a, const auto* b) {
    return std::pair(a->offset, a->n_bytes) < std::pair(b->offset, b->n_bytes);
  });
  for (size_t i = 1; i < tensors_.size(); ++i) {
    if (by_name[i]->name == by_name[i - 1]->name) {
      throw Error(Code::Format, owner_, ": tensor ", by_name[i]->name, " stands twice");
    }
    const GgufTensor &before = *by_place[i - 1], &after = *by_place[i];
    if (after.offset < before.offset + before.n_bytes) {
      throw Error(Code::Format, owner_, ": tensors ", before.name, " and ", after.name,
                  " overlap at offset ", after.offset);
    }
  }
}

const GgufTensor* GgufFile::find(std::string_view name) const {
  const auto found = std::find_if(tensors_.begin(), tensors_.end(),
                                  [&](const GgufTensor& each) { return each.name == name; });
  return found == tensors_.end() ? nullptr : &*found;
}

std::vector<double> GgufFile::load_small(const GgufTensor& tensor) const {
  static constexpr uint64_t kMostItems = 1'000'000;
  const GgmlType* type = ggml_type(tensor.type);
  if (type == nullptr || type->decode == nullptr) {
    throw Error(Code::Format, owner_, ": tensor ", tensor.name, " has ", type_words(tensor.type),
                ", expected F32, F16, BF16 or F64");
  }
  const uint64_t n_items = tensor.n_bytes / type->block_bytes;
  if (n_items > kMostItems) {
    throw Error(Code::Format, owner_, ": tensor ", tensor.name, " has ", n_items,
                " items, a table of positions has at most ", kMostItems);
  }
  std::vector<double> values(n_items);
  const std::byte* data = bytes_.data() + data_begin_ + tensor.offset;
  for (uint64_t i = 0; i < n_items; ++i) {
    values[i] = type->decode(data + i * type->block_bytes);
  }
  return values;
}

void GgufFile::let_go(const GgufTensor& tensor) const {
  for (const MappedFile& file : mapped_) {
    file.let_go(data(tensor));
  }
}

double GgufFile::number(const std::string& key, double fallback) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) {
    return fallback;
  }
  if (found->second.type == GgufType::String || found->second.type == GgufType::Array) {
    throw Error(Code::Format, owner_, ": key ", key, " is ",
                found->second.type == GgufType::String ? "a text" : "an array",
                ", expected a number");
  }
  return found->second.number;
}

std::string GgufFile::text(const std::string& key, const std::string& fallback) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) {
    return fallback;
  }
  if (found->second.type != GgufType::String) {
    throw Error(Code::Format, owner_, ": key ", key, " is no text");
  }
  return found->second.text;
}

}  // namespace gyre::tensor
