#include "gyre/tensor/safetensors.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "gyre/base/error.h"

namespace gyre::tensor {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // limit of the reference implementation

struct TypeName {
  at::ScalarType type;
  const char* name;
};
constexpr TypeName kTypes[] = {{at::kDouble, "F64"},    {at::kFloat, "F32"}, {at::kHalf, "F16"},
                               {at::kBFloat16, "BF16"}, {at::kLong, "I64"},  {at::kInt, "I32"},
                               {at::kByte, "U8"},       {at::kBool, "BOOL"}};

const char* name_of(at::ScalarType type, const std::string& tensor) {
  for (const TypeName& each : kTypes) {
    if (each.type == type) {
      return each.name;
    }
  }
  throw Error(Code::Usage, "safetensors: tensor ", tensor, " has type ", c10::toString(type),
              ", which the format does not hold; convert it first");
}

Json header_of(const NamedTensors& tensors, const Metadata& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) {
    header["__metadata__"] = metadata;
  }
  uint64_t offset = 0;
  for (const auto& [name, value] : tensors) {
    if (header.contains(name)) {
      throw Error(Code::Usage, "safetensors: tensor name '", name, "' is given twice");
    }
    header[name] = {{"dtype", name_of(value.scalar_type(), name)},
                    {"shape", value.sizes().vec()},
                    {"data_offsets", {offset, offset + value.nbytes()}}};
    offset += value.nbytes();
  }
  return header;
}

void put_length(std::string& out, uint64_t value) {
  for (int i = 0; i < 8; ++i) {
    out += static_cast<char>((value >> (8 * i)) & 0xFFU);
  }
}

/// Bytes of a shape, or throws when the product overflows.
uint64_t shape_bytes(const std::vector<int64_t>& sizes, at::ScalarType dtype,
                     const std::string& where) {
  uint64_t n = c10::elementSize(dtype);
  for (const int64_t size : sizes) {
    const auto factor = static_cast<uint64_t>(size);
    if (size < 0 || (factor != 0 && n > std::numeric_limits<uint64_t>::max() / factor)) {
      throw Error(Code::Format, where, ": impossible shape");
    }
    n *= factor;
  }
  return n;
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                       const Metadata& metadata) {
  std::string header = header_of(tensors, metadata).dump();
  header.append((8 - header.size() % 8) % 8, ' ');  // data starts aligned
  std::string out;
  put_length(out, header.size());
  out += header;
  for (const auto& [name, value] : tensors) {
    const at::Tensor plain = value.detach().cpu().contiguous();
    out.append(static_cast<const char*>(plain.const_data_ptr()), plain.nbytes());
  }
  write_file_atomic(path, out);
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : file_(path) {
  read_header();
}

void SafetensorsFile::read_header() {
  const auto bytes = file_.bytes();
  const std::string path = file_.path().string();
  uint64_t length = 0;
  if (bytes.size() < 8) {
    throw Error(Code::Format, path, ": ", bytes.size(), " bytes is too short for safetensors");
  }
  for (size_t i = 0; i < 8; ++i) {
    length |= static_cast<uint64_t>(bytes[i]) << (8 * i);
  }
  if (length > kMaxHeaderBytes || length > bytes.size() - 8) {
    throw Error(Code::Format, path, ": header of ", length, " bytes in a file of ", bytes.size());
  }
  const auto* text = reinterpret_cast<const char*>(bytes.data()) + 8;
  const Json header = Json::parse(text, text + length, nullptr, false);
  if (!header.is_object()) {
    throw Error(Code::Format, path, ": header is not a JSON object");
  }
  const uint64_t data_begin = 8 + length;
  try {
    for (const auto& [name, value] : header.items()) {
      if (name == "__metadata__") {
        metadata_ = value.get<Metadata>();
        continue;
      }
      Entry entry;
      const auto type = value.at("dtype").get<std::string>();
      const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                       [&](const TypeName& each) { return type == each.name; });
      if (found == std::end(kTypes)) {
        throw Error(Code::Format, path, ": tensor ", name, " has type ", type,
                    ", which is not supported");
      }
      entry.dtype = found->type;
      entry.sizes = value.at("shape").get<std::vector<int64_t>>();
      const auto offsets = value.at("data_offsets").get<std::vector<uint64_t>>();
      const uint64_t data_bytes = bytes.size() - data_begin;
      if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data_bytes) {
        throw Error(Code::Format, path, ": tensor ", name, " lies outside the file's ", data_bytes,
                    " data bytes");
      }
      entry.begin = data_begin + offsets[0];
      entry.end = data_begin + offsets[1];
      const uint64_t wanted = shape_bytes(entry.sizes, entry.dtype, path + ": tensor " + name);
      if (wanted != entry.end - entry.begin) {
        throw Error(Code::Format, path, ": tensor ", name, " holds ", entry.end - entry.begin,
                    " bytes, its shape and type need ", wanted);
      }
      entries_[name] = entry;
    }
  } catch (const Json::exception& e) {
    throw Error(Code::Format, path, ": malformed header: ", e.what());
  }
  check_layout(data_begin);
}

void SafetensorsFile::check_layout(uint64_t data_begin) const {
  uint64_t position = data_begin;
  for (const std::string& name : names()) {
    const Entry& entry = entries_.at(name);
    if (entry.begin != position) {
      throw Error(Code::Format, file_.path().string(), ": tensor ", name,
                  entry.begin < position ? " overlaps another" : " follows a gap");
    }
    position = entry.end;
  }
  if (position != file_.bytes().size()) {
    throw Error(Code::Format, file_.path().string(), ": ", file_.bytes().size() - position,
                " bytes after the last tensor");
  }
}

std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> out;
  for (const auto& [name, entry] : entries_) {
    out.push_back(name);
  }
  std::stable_sort(out.begin(), out.end(), [&](const std::string& a, const std::string& b) {
    const Entry &x = entries_.at(a), &y = entries_.at(b);
    return std::pair(x.begin, x.end) < std::pair(y.begin, y.end);
  });
  return out;
}

at::Tensor SafetensorsFile::load(const std::string& name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    throw Error(Code::Format, file_.path().string(), ": tensor ", name, " is missing");
  }
  const Entry& entry = found->second;
  at::Tensor out = at::empty(entry.sizes, entry.dtype);
  if (out.numel() > 0) {
    std::memcpy(out.data_ptr(), file_.bytes().data() + entry.begin, entry.end - entry.begin);
  }
  return out;
}

}  // namespace gyre::tensor
