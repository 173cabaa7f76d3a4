#include "gyre/tensor/safetensors.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"

namespace gyre::tensor {
namespace {

using Json = nlohmann::ordered_json;

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

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : file_(std::make_shared<const MappedFile>(path)), header_(file_->bytes(), path.string()) {}

std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> out;
  for (const StoredTensor& tensor : header_.tensors()) {
    out.push_back(tensor.name);
  }
  return out;
}

void SafetensorsFile::let_go(const std::string& name) const {
  if (const StoredTensor* tensor = header_.find(name)) {
    file_->let_go(file_->bytes().subspan(tensor->begin, tensor->end - tensor->begin));
  }
}

at::Tensor SafetensorsFile::view(const std::string& name) const {
  const StoredTensor* tensor = header_.find(name);
  if (tensor == nullptr) {
    throw Error(Code::Format, file_->path().string(), ": tensor ", name, " is missing");
  }
  const auto* type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                  [&](const TypeName& each) { return tensor->dtype == each.name; });
  if (type == std::end(kTypes)) {
    throw Error(Code::Format, file_->path().string(), ": tensor ", name, " has type ",
                tensor->dtype, ", which cannot be loaded; convert it to BF16 or F32 first");
  }
  const std::byte* begin = file_->bytes().data() + tensor->begin;
  if (tensor->end > tensor->begin &&
      reinterpret_cast<uintptr_t>(begin) % c10::elementSize(type->type) == 0) {
    // from_blob takes a mutable pointer; the mapping is read-only.
    return at::from_blob(
        const_cast<std::byte*>(begin), tensor->shape, [file = file_](void*) {}, type->type);
  }
  at::Tensor out = at::empty(tensor->shape, type->type);
  if (out.numel() > 0) {
    std::memcpy(out.mutable_data_ptr(), begin, tensor->end - tensor->begin);
  }
  return out;
}

at::Tensor SafetensorsFile::load(const std::string& name) const {
  return view(name).clone();
}

}  // namespace gyre::tensor
