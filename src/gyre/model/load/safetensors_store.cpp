// Which shards a folder has, and their tensors under one roof. The index is checked against the
// headers: a tensor is read from where it lies or not at all.
#include <ATen/ops/equal.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/json_words.h"
#include "gyre/model/load/tensor_store.h"
#include "gyre/tensor/header_text.h"
#include "gyre/tensor/safetensors.h"

namespace gyre::model {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kIndex = "model.safetensors.index.json";
constexpr const char* kSingle = "model.safetensors";

using WeightMap = std::map<std::string, std::string>;  // tensor -> file name

WeightMap read_index(const fs::path& index) {
  const std::string text = read_file(index);
  try {
    check_json_depth(text);
  } catch (const Error& fault) {
    throw Error(fault.code(), index.string(), ": ", fault.what());
  }
  const Json json = Json::parse(text, nullptr, false);
  const auto map = json.is_object() ? json.find("weight_map") : json.end();
  if (!json.is_object() || map == json.end() || !map->is_object()) {
    throw Error(Code::Format, index.string(),
                ": no index of shards; expected an object with a 'weight_map' of tensor to file");
  }
  WeightMap out;
  for (const auto& [tensor, file] : map->items()) {
    const std::string name = file.is_string() ? file.get<std::string>() : "";
    if (name.empty() || name == ".." || !tensor::is_name(name) ||
        name.find_first_of("/\\") != std::string::npos) {
      throw Error(
          Code::Format, index.string(), ": tensor ", tensor::printable(tensor), " is in ",
          file.is_string() ? "'" + tensor::printable(name) + "'" : tensor::printable(file.dump()),
          ", expected the name of a file of the same folder");
    }
    out.emplace(tensor, name);
  }
  if (out.empty()) {
    throw Error(Code::Format, index.string(), ": the weight_map names no tensor");
  }
  return out;
}

std::vector<fs::path> safetensors_of(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".safetensors" && entry.is_regular_file()) {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

class SafetensorsStore : public TensorStore {
 public:
  explicit SafetensorsStore(const fs::path& folder) {
    const fs::path index = folder / kIndex;
    if (fs::is_regular_file(folder / kSingle)) {  // the single file wins, as in transformers
      add(folder / kSingle);
    } else if (fs::is_regular_file(index)) {
      add_indexed(folder, index);
    } else {
      for (const fs::path& file : safetensors_of(folder)) {
        add(file);
      }
    }
    if (shards_.empty()) {
      throw Error(Code::Format, folder.string(), ": no *.safetensors file with weights; ",
                  fs::exists(folder / "pytorch_model.bin") ||
                          fs::exists(folder / "pytorch_model.bin.index.json")
                      ? "pytorch_model.bin is a pickle, which is not read; convert with: "
                        "transformers' save_pretrained(folder)"
                      : "fetch the whole checkpoint");
    }
  }

  const std::vector<StoredInfo>& tensors() const override { return tensors_; }

  void check_type(const std::string& name) const override {
    const tensor::StoredTensor* stored = shard_of(name).header().find(name);
    static constexpr const char* kReadable[] = {"F32", "BF16", "F16", "F64"};
    if (std::none_of(std::begin(kReadable), std::end(kReadable),
                     [&](const char* type) { return stored->dtype == type; })) {
      throw Error(Code::Format, shard_of(name).path().string(), ": tensor ", name, " has type ",
                  stored->dtype, ", expected F32, BF16, F16 or F64; convert it to BF16 first");
    }
  }

  bool same(const std::string& a, const std::string& b) const override {
    const at::Tensor x = shard_of(a).view(a), y = shard_of(b).view(b);
    return x.scalar_type() == y.scalar_type() && x.sizes() == y.sizes() && at::equal(x, y);
  }

  at::Tensor load(const std::string& name, at::ScalarType dtype) const override {
    const at::Tensor stored = shard_of(name).view(name);
    at::Tensor value = stored.to(dtype);
    if (!value.is_same(stored)) {
      shard_of(name).let_go(name);
    }
    return value;
  }

  void load_into(const std::string& name, at::Tensor out) const override {
    out.copy_(shard_of(name).view(name).view(out.sizes()));
    shard_of(name).let_go(name);
  }

 private:
  const tensor::SafetensorsFile& shard_of(const std::string& name) const {
    return *shards_.at(place_.at(name));
  }

  void add(const fs::path& file) {
    auto shard = std::make_unique<tensor::SafetensorsFile>(file);
    for (const tensor::StoredTensor& each : shard->header().tensors()) {
      const auto [at, fresh] = place_.emplace(each.name, shards_.size());
      if (!fresh) {
        throw Error(Code::Format, file.string(), ": tensor ", each.name, " is also in ",
                    shards_[at->second]->path().string(), "; remove the file that is not of this ",
                    "checkpoint");
      }
      tensors_.push_back({each.name, each.shape, file.string()});
    }
    shards_.push_back(std::move(shard));
  }

  void add_indexed(const fs::path& folder, const fs::path& index) {
    const WeightMap map = read_index(index);
    std::vector<std::string> files;
    for (const auto& [tensor, file] : map) {
      files.push_back(file);
    }
    std::sort(files.begin(), files.end());
    files.erase(std::unique(files.begin(), files.end()), files.end());
    for (const std::string& file : files) {
      if (!fs::is_regular_file(folder / file)) {
        throw Error(Code::Format, folder.string(), ": shard ", file, " is missing; ", kIndex,
                    " names it, fetch it");
      }
      add(folder / file);
    }
    for (const auto& [tensor, file] : map) {
      const auto found = place_.find(tensor);
      if (found == place_.end()) {
        throw Error(Code::Format, (folder / file).string(), ": tensor ", tensor, " is missing; ",
                    kIndex, " says that this shard holds it");
      }
      const fs::path& holder = shards_[found->second]->path();
      if (holder.filename() != file) {
        throw Error(Code::Format, (folder / file).string(), ": tensor ", tensor, " is in ",
                    holder.filename().string(), "; ", kIndex, " says that this shard holds it");
      }
    }
  }

  std::vector<std::unique_ptr<tensor::SafetensorsFile>> shards_;
  std::map<std::string, size_t> place_;  // tensor -> shard
  std::vector<StoredInfo> tensors_;
};

}  // namespace

const StoredInfo* TensorStore::find(const std::string& name) const {
  const auto& all = tensors();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const StoredInfo& t) { return t.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::unique_ptr<TensorStore> open_safetensors(const fs::path& folder) {
  return std::make_unique<SafetensorsStore>(folder);
}

}  // namespace gyre::model
