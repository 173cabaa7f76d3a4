#include "gyre/inspect/shards.h"

#include <algorithm>
#include <set>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/inspect/header_readers.h"
#include "gyre/inspect/readers.h"
#include "gyre/inspect/spectrum.h"

namespace gyre::inspect {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIndex = "model.safetensors.index.json";
constexpr uintmax_t kMaxIndex = uintmax_t{64} << 20;
constexpr const char* kMap = "weight_map.";

void doubt(ResolvedModel& model, const char* id, const std::string& key, const std::string& message,
           const std::string& found) {
  model.doubts.push_back({id, Severity::Error, key, message, "", found});
}

std::set<std::string> shard_names(const fs::path& index) {
  const RawConfig raw = RawConfig::from_json(read_file(index), index.string());
  std::set<std::string> names;
  for (const RawKey& key : raw.keys()) {
    if (key.path.starts_with(kMap) && key.type == RawType::Text) {
      names.insert(key.text);
    }
  }
  return names;
}

// "model.layers.3.self_attn.k_proj.weight" -> 3; -1 for another tensor. Towers for images and
// sound have heads of their own.
int64_t key_layer(const std::string& name) {
  const std::string end = ".self_attn.k_proj.weight";
  for (const std::string start :
       {"model.layers.", "model.language_model.layers.", "language_model.model.layers."}) {
    if (!name.starts_with(start) || !name.ends_with(end) ||
        name.size() <= start.size() + end.size()) {
      continue;
    }
    const std::string digits = name.substr(start.size(), name.size() - start.size() - end.size());
    const bool plain = digits.size() < 7 && std::all_of(digits.begin(), digits.end(), [](char c) {
                         return c >= '0' && c <= '9';
                       });
    return plain ? std::stoll(digits) : -1;
  }
  return -1;
}

// Packed types have other shapes.
bool is_plain(const std::string& dtype) {
  return dtype == "F32" || dtype == "F16" || dtype == "BF16" || dtype == "F8_E4M3";
}

// Gemma 4 gives its global layers a count of their own.
bool one_head_count(const ResolvedModel& model) {
  return std::none_of(model.raw.keys().begin(), model.raw.keys().end(), [](const RawKey& key) {
    return key.path.ends_with("num_global_key_value_heads");
  });
}

const LayerKind* kind_of_layer(const ResolvedModel& model, int64_t layer) {
  for (const LayerKind& kind : model.kinds) {
    if (std::binary_search(kind.layers.begin(), kind.layers.end(), layer)) {
      return &kind;
    }
  }
  return nullptr;
}

bool has_doubt(const ResolvedModel& model, const std::string& id) {
  return std::any_of(model.doubts.begin(), model.doubts.end(),
                     [&](const Finding& one) { return one.id == id; });
}

}  // namespace

void check_index(const fs::path& folder, ResolvedModel& model) {
  const fs::path index = folder / kIndex;
  std::error_code fault;
  if (!fs::is_regular_file(index, fault) || fs::file_size(index, fault) > kMaxIndex) {
    return;
  }
  for (const std::string& name : shard_names(index)) {
    if (name.empty() || name == ".." || name.find_first_of("/\\") != std::string::npos) {
      doubt(model, "shard-outside", kIndex,
            "the index names '" + printable(name) +
                "'; a shard lies in the folder itself, so it was not opened",
            name);
    } else if (!fs::is_regular_file(folder / name, fault)) {
      doubt(model, "shard-missing", kIndex,
            "the index names '" + printable(name) + "', which is not in the folder", name);
    }
  }
}

void check_key_heads(const fs::path& file, ResolvedModel& model) {
  const MappedFile bytes(file);
  const tensor::SafetensorsHeader header(bytes.bytes(), file.string());
  for (const tensor::StoredTensor& each : header.tensors()) {
    const int64_t layer = key_layer(each.name);
    const LayerKind* kind = layer < 0 ? nullptr : kind_of_layer(model, layer);
    if (kind == nullptr || each.shape.size() != 2 || has_doubt(model, "weights-kv-heads") ||
        !is_plain(each.dtype) || !one_head_count(model)) {
      continue;
    }
    const int64_t expected = kind->n_kv_heads * kind->head_dim;
    if (expected > 0 && each.shape[0] != expected) {
      doubt(model, "weights-kv-heads", each.name,
            str("the config says ", kind->n_kv_heads, " key/value heads of ", kind->head_dim, " = ",
                expected, " rows, the tensor has ", each.shape[0]),
            str(each.shape[0]));
    }
  }
}

ResolvedModel read_shards(const fs::path& folder, const std::vector<fs::path>& files) {
  ResolvedModel model = read_safetensors_headers(files, folder.string());
  check_index(folder, model);
  return model;
}

}  // namespace gyre::inspect
