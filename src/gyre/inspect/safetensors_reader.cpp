// A safetensors header -> ResolvedModel: what names and shapes alone tell. Base, scaling, window
// and pair layout stand in config.json; they are stated as unknown, never guessed. Stored frequency
// tables, which older checkpoints carry, are read.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/options.h"
#include "gyre/inspect/header_readers.h"
#include "gyre/inspect/readers.h"
#include "gyre/tensor/header_text.h"

namespace gyre::inspect {
namespace {

using tensor::StoredTensor;
using Headers = std::span<const tensor::SafetensorsHeader>;  // of one model's files

constexpr int64_t kMaxLayers = 4096;
constexpr size_t kMaxTables = 4096;
constexpr uint64_t kMaxPairs = 65536;

/// "model.layers.12.self_attn.q_proj.weight" -> 12; nothing when no part of the name is a layer.
std::optional<int64_t> layer_of(std::string_view name) {
  for (const std::string_view word : {"layers.", "h.", "blocks.", "block.", "layer."}) {
    for (size_t at = name.find(word); at != std::string_view::npos; at = name.find(word, at + 1)) {
      if (at > 0 && name[at - 1] != '.') {
        continue;
      }
      const char* begin = name.data() + at + word.size();
      const char* end = name.data() + name.size();
      int64_t layer = -1;
      const auto result = std::from_chars(begin, end, layer);
      if (result.ec == std::errc() && result.ptr != begin && result.ptr != end &&
          *result.ptr == '.' && layer >= 0 && layer < kMaxLayers) {
        return layer;
      }
    }
  }
  return std::nullopt;
}

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

bool is_frequency_table(const StoredTensor& tensor) {
  const uint64_t item_bytes = tensor::safetensors_type_bits(tensor.dtype) / 8;
  return ends_with_any(tensor.name, {"inv_freq", "rope_freqs.weight", "rope.freqs"}) &&
         (tensor.dtype == "F32" || tensor.dtype == "F64" || tensor.dtype == "F16" ||
          tensor.dtype == "BF16") &&
         tensor.end - tensor.begin <= kMaxPairs * item_bytes;
}

/// The first tensor of some name, by file and its place there.
const StoredTensor* first_of(Headers headers, std::initializer_list<std::string_view> endings,
                             size_t rank) {
  for (const tensor::SafetensorsHeader& header : headers) {
    for (const StoredTensor& each : header.tensors()) {
      if (each.shape.size() == rank && ends_with_any(each.name, endings)) {
        return &each;
      }
    }
  }
  return nullptr;
}

void note(ResolvedModel& model, const std::string& field, const std::string& value, OriginKind kind,
          const std::string& where) {
  model.origins.push_back({field, value, {kind, where}});
}

std::string dtype_of(Headers headers) {
  std::map<std::string, uint64_t> bytes;
  for (const tensor::SafetensorsHeader& header : headers) {
    for (const StoredTensor& each : header.tensors()) {
      bytes[each.dtype] += each.end - each.begin;
    }
  }
  const auto most = std::max_element(
      bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == bytes.end() ? "" : most->first;
}

void read_layers(Headers headers, ResolvedModel& model) {
  std::set<int64_t> layers;
  for (const tensor::SafetensorsHeader& header : headers) {
    for (const StoredTensor& each : header.tensors()) {
      if (const auto layer = layer_of(each.name); layer.has_value()) {
        layers.insert(*layer);
      }
    }
  }
  if (layers.empty()) {
    note(model, "layers", "unknown", OriginKind::Assumed, "no tensor name holds a layer number");
    return;
  }
  model.n_layers = *layers.rbegin() + 1;
  const bool whole = static_cast<int64_t>(layers.size()) == model.n_layers;
  const std::string names = headers.size() == 1
                                ? "names of tensors"
                                : str("names of tensors in ", headers.size(), " files");
  note(model, "layers", whole ? str(model.n_layers) : str("at least ", model.n_layers),
       OriginKind::Tensor,
       whole ? names
       : headers.size() == 1
           ? str(names, "; ", layers.size(), " of them are in this file, which is one of several")
           : str(names, "; ", layers.size(), " of them are there"));
}

/// Rows of a projection over the head dim; 0 when they do not divide.
int64_t heads_in(const StoredTensor* projection, int64_t head_dim) {
  return projection == nullptr || head_dim <= 0 || projection->shape[0] % head_dim != 0
             ? 0
             : projection->shape[0] / head_dim;
}

struct Heads {
  int64_t dim = 0, query = 0, key = 0;  // 0 = the header does not tell
};

Heads read_heads(Headers headers, ResolvedModel& model) {
  const StoredTensor* q = first_of(headers, {"q_proj.weight", "attention.wq.weight"}, 2);
  const StoredTensor* k = first_of(headers, {"k_proj.weight", "attention.wk.weight"}, 2);
  const StoredTensor* norm = first_of(headers, {"q_norm.weight", "q_layernorm.weight"}, 1);
  if (q != nullptr) {
    model.hidden = q->shape[1];
    note(model, "width", str(model.hidden), OriginKind::Tensor, q->name);
  } else if (const auto* embedding =
                 first_of(headers,
                          {"embed_tokens.weight", "wte.weight", "embed_in.weight",
                           "word_embeddings.weight", "tok_embeddings.weight"},
                          2)) {
    model.hidden = embedding->shape[1];
    note(model, "width", str(model.hidden), OriginKind::Tensor, embedding->name);
  }
  Heads heads;
  // A norm over all heads together (OLMo 2) has as many entries as q has rows and tells nothing.
  if (norm != nullptr && q != nullptr && norm->shape[0] > 0 && norm->shape[0] < q->shape[0] &&
      q->shape[0] % norm->shape[0] == 0) {
    heads = {norm->shape[0], heads_in(q, norm->shape[0]), heads_in(k, norm->shape[0])};
    note(model, "head dim", str(heads.dim), OriginKind::Tensor, norm->name);
    note(model, "heads", str(heads.query, " over ", heads.key), OriginKind::Derived,
         "rows of q_proj and k_proj / head dim");
  } else if (q != nullptr && k != nullptr && k->shape[0] > 0 && q->shape[0] % k->shape[0] == 0) {
    note(model, "head dim", "unknown", OriginKind::Assumed, "needs config.json");
    note(model, "heads per key/value head", str(q->shape[0] / k->shape[0]), OriginKind::Derived,
         "rows of q_proj / rows of k_proj");
  } else {
    note(model, "head dim", "unknown", OriginKind::Assumed, "needs config.json");
  }
  return heads;
}

/// Base of a geometric table, to the digits that its storage type keeps; 0 when it is none.
double base_of(const std::vector<double>& table, const std::string& dtype) {
  const double tolerance = dtype == "F32" || dtype == "F64" ? 1e-5 : 1e-2;
  if (table.size() < 2 || table[0] != 1.0 || !(table.back() > 0.0)) {
    return 0.0;
  }
  const auto n = static_cast<double>(table.size());
  double base = std::pow(table.back(), -n / (n - 1));
  if (const double rounded = std::round(base / 100.0) * 100.0;
      std::abs(base / rounded - 1.0) < tolerance) {
    base = rounded;  // 9999.9995 out of floats
  }
  for (size_t m = 0; m < table.size(); ++m) {
    const double expected = std::pow(base, -static_cast<double>(m) / n);
    if (!(std::abs(table[m] / expected - 1.0) < tolerance)) {
      return 0.0;
    }
  }
  return base > 1.0 ? base : 0.0;
}

LayerKind kind_of(const ResolvedModel::Table& table, const Heads& heads) {
  LayerKind kind;
  kind.rotary_dim = 2 * static_cast<int64_t>(table.values.size());
  kind.head_dim = std::max(heads.dim, kind.rotary_dim);
  kind.n_heads = heads.query;
  kind.n_kv_heads = heads.key;
  kind.scheme = "rope";
  kind.base = base_of(table.values, table.dtype);
  kind.plan.inv_freq = {table.values};
  if (kind.base > 0 && kind.rotary_dim == kind.head_dim) {
    kind.spec = "rope:base=" + detail::format(kind.base);
  }
  kind.origins.push_back(
      {"frequencies", str(table.values.size(), " pairs"), {OriginKind::Tensor, table.name}});
  kind.origins.push_back(
      {"base",
       kind.base > 0 ? detail::format(kind.base) : "unknown",
       {OriginKind::Derived,
        kind.base > 0 ? "the stored table is geometric" : "the stored table is not geometric"}});
  kind.origins.push_back(
      {"layout", "unstated", {OriginKind::Assumed, "a table of frequencies does not say"}});
  return kind;
}

bool is_usable(const std::vector<double>& table) {
  return !table.empty() && std::all_of(table.begin(), table.end(),
                                       [](double f) { return std::isfinite(f) && f >= 0.0; });
}

bool holds(const LayerKind& kind, int64_t layer) {
  return std::find(kind.layers.begin(), kind.layers.end(), layer) != kind.layers.end();
}

/// A table goes to the kind with the same values. A layer has one table: the first that names it.
void add_table(const ResolvedModel::Table& table, const Heads& heads, ResolvedModel& model) {
  const auto layer = layer_of(table.name);
  const bool taken =
      layer.has_value() && std::any_of(model.kinds.begin(), model.kinds.end(),
                                       [&](const LayerKind& k) { return holds(k, *layer); });
  auto kind = std::find_if(model.kinds.begin(), model.kinds.end(), [&](const LayerKind& k) {
    return k.plan.inv_freq.front() == table.values;
  });
  if (taken && (kind == model.kinds.end() || !holds(*kind, *layer))) {
    model.ignored.push_back({table.name, str(table.values.size(), " values"),
                             str("layer ", *layer, " has another table already")});
    return;
  }
  if (kind == model.kinds.end()) {
    model.kinds.push_back(kind_of(table, heads));
    kind = model.kinds.end() - 1;
  }
  if (layer.has_value() && !taken) {
    kind->layers.push_back(*layer);
  }
}

/// A table without a layer in its name holds for the layers that have none of their own.
void share_layers(ResolvedModel& model) {
  std::vector<bool> own(static_cast<size_t>(model.n_layers), false);
  for (const LayerKind& kind : model.kinds) {
    for (const int64_t layer : kind.layers) {
      own[static_cast<size_t>(layer)] = true;
    }
  }
  for (LayerKind& kind : model.kinds) {
    if (!kind.layers.empty()) {
      continue;
    }
    for (int64_t i = 0; i < model.n_layers; ++i) {
      if (!own[static_cast<size_t>(i)]) {
        kind.layers.push_back(i);
        own[static_cast<size_t>(i)] = true;
      }
    }
  }
}

void read_tables(const tensor::SafetensorsHeader& header, const Heads& heads,
                 ResolvedModel& model) {
  for (const StoredTensor& each : header.tensors()) {
    if (!is_frequency_table(each) || model.tables.size() == kMaxTables) {
      continue;
    }
    model.tables.push_back({each.name, each.dtype, header.load_small(each)});
    if (const ResolvedModel::Table& table = model.tables.back(); is_usable(table.values)) {
      add_table(table, heads, model);
    } else {
      model.ignored.push_back(
          {each.name, str(table.values.size(), " values"), "empty, negative or not finite"});
    }
  }
}

void name_kinds(ResolvedModel& model) {
  share_layers(model);
  std::erase_if(model.kinds, [&](const LayerKind& kind) {
    return kind.layers.empty() && model.kinds.size() > 1;
  });
  for (LayerKind& kind : model.kinds) {
    std::sort(kind.layers.begin(), kind.layers.end());
    kind.name = model.kinds.size() == 1 ? "all" : str("table of layer ", kind.layers.front());
  }
}

void add_unknowns(Headers headers, ResolvedModel& model) {
  const StoredTensor* learned =
      first_of(headers, {"wpe.weight", "embed_positions.weight", "position_embeddings.weight"}, 2);
  if (learned != nullptr) {
    model.max_length = learned->shape[0];
    note(model, "positions", str("a learned table of ", learned->shape[0], " rows"),
         OriginKind::Tensor, learned->name);
  }
  note(model, "model type", "unknown", OriginKind::Assumed, "needs config.json");
  if (model.kinds.empty()) {
    note(model, "base, scaling, pair layout", "unknown", OriginKind::Assumed,
         "needs config.json; no frequency table is stored");
  } else {
    note(model, "scaling, pair layout, amplitude", "unknown", OriginKind::Assumed,
         "needs config.json; readers recompute the stored table from it");
  }
  note(model, "window, lengths", "unknown", OriginKind::Assumed, "needs config.json");
}

}  // namespace

ResolvedModel resolve_safetensors(Headers headers, const std::string& path) {
  ResolvedModel model;
  model.path = path;
  model.source = SourceKind::Safetensors;
  model.reader = "safetensors header";
  model.dtype = dtype_of(headers);
  read_layers(headers, model);
  const Heads heads = read_heads(headers, model);
  for (const tensor::SafetensorsHeader& header : headers) {
    read_tables(header, heads, model);
  }
  name_kinds(model);
  add_unknowns(headers, model);
  for (const tensor::SafetensorsHeader& header : headers) {
    for (const auto& [key, value] : header.metadata()) {
      const std::string name = "__metadata__." + tensor::printable(key);
      const RawKey* known = model.raw.find(name);
      if (known == nullptr || known->text != tensor::printable(value)) {
        model.raw.add({.path = name,
                       .type = RawType::Text,
                       .text = tensor::printable(value),
                       .number = std::nan("")});
      }
    }
  }
  return model;
}

ResolvedModel resolve_safetensors(const tensor::SafetensorsHeader& header,
                                  const std::string& path) {
  return resolve_safetensors(Headers(&header, 1), path);
}

ResolvedModel read_safetensors_header(const std::filesystem::path& path) {
  return read_safetensors_headers({path}, path.string());
}

ResolvedModel read_safetensors_headers(const std::vector<std::filesystem::path>& paths,
                                       const std::string& name) {
  std::vector<std::unique_ptr<MappedFile>> files;
  std::vector<tensor::SafetensorsHeader> headers;
  for (const std::filesystem::path& path : paths) {
    files.push_back(std::make_unique<MappedFile>(path));
    headers.emplace_back(files.back()->bytes(), path.string());
  }
  return resolve_safetensors(headers, name);
}

}  // namespace gyre::inspect
