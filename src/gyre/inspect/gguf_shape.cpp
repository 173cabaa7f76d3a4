#include "gyre/inspect/gguf_shape.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "gyre/base/error.h"

namespace gyre::inspect {
namespace {

// Far beyond any model, and small enough that no file asks for more memory than it has bytes.
constexpr int64_t kMaxLayers = 4096;
constexpr int64_t kMaxHeads = 4096;
constexpr int64_t kMaxHeadDim = 8192;
constexpr size_t kMaxKinds = 64;
constexpr int64_t kMaxWidth = int64_t{1} << 24U;
constexpr int64_t kMaxTokens = int64_t{1} << 40U;

int64_t layers_of(GgufKeys& keys, const tensor::GgufFile& file) {
  if (const auto found = keys.size("block_count", 1, kMaxLayers); found.has_value()) {
    return found->value;
  }
  std::vector<bool> seen(kMaxLayers, false);
  for (const tensor::GgufTensor& tensor : file.tensors()) {
    int64_t layer = -1;
    if (std::sscanf(tensor.name.c_str(), "blk.%" SCNd64 ".", &layer) == 1 && layer >= 0 &&
        layer < kMaxLayers) {
      seen[static_cast<size_t>(layer)] = true;
    }
  }
  const int64_t n = std::find(seen.begin(), seen.end(), false) - seen.begin();
  if (n == 0) {
    throw Error(Code::Format, keys.owner(), ": neither ", keys.full("block_count"),
                " nor a tensor of layer 0 is there, so the number of layers is unknown");
  }
  return n;
}

void read_heads(GgufKeys& keys, GgufShape& shape) {
  const auto n_layers = static_cast<size_t>(shape.n_layers);
  const auto heads = keys.per_layer("attention.head_count", shape.n_layers, kMaxHeads);
  shape.heads = heads.has_value() ? heads->value : std::vector<int64_t>(n_layers, 0);
  shape.heads_origin = heads.has_value() ? heads->origin : Origin{};
  // Recurrent architectures write 0; one that rotates has heads in some layer.
  const GgufArchitecture* rules = find_gguf_architecture(keys.architecture());
  if (heads.has_value() && rules != nullptr && rules->rotation != GgufRotation::None &&
      std::all_of(shape.heads.begin(), shape.heads.end(), [](int64_t n) { return n == 0; })) {
    throw Error(Code::Format, keys.owner(), ": ", keys.full("attention.head_count"),
                " is 0 in every layer, expected 1 or more");
  }
  const auto kv = keys.per_layer("attention.head_count_kv", shape.n_layers, kMaxHeads);
  shape.kv_heads = kv.has_value() ? kv->value : shape.heads;
  for (size_t i = 0; i < n_layers; ++i) {
    if (shape.kv_heads[i] == 0) {  // hybrid models mark their recurrent layers so
      shape.heads[i] = 0;
    }
    if (shape.heads[i] > 0 && shape.heads[i] % shape.kv_heads[i] != 0) {
      throw Error(Code::Format, keys.owner(), ": layer ", i, " has ", shape.heads[i],
                  " heads over ", shape.kv_heads[i], " key/value heads, no whole ratio");
    }
  }
}

/// Channels of a head when the file gives none: width / heads.
int64_t derived_head_dim(const GgufKeys& keys, const GgufShape& shape) {
  const int64_t heads = *std::max_element(shape.heads.begin(), shape.heads.end());
  if (shape.hidden == 0 || heads == 0 || shape.hidden % heads != 0) {
    throw Error(Code::Format, keys.owner(), ": ", keys.full("attention.key_length"),
                " is missing and embedding_length ", shape.hidden, " over ", heads,
                " heads gives no head dim");
  }
  if (shape.hidden / heads > kMaxHeadDim) {
    throw Error(Code::Format, keys.owner(), ": ", keys.full("embedding_length"), " ", shape.hidden,
                " over ", heads, " heads is a head dim beyond ", kMaxHeadDim);
  }
  return shape.hidden / heads;
}

void check_rotary(const GgufKeys& keys, const std::string& name, const GgufHead& head) {
  if (head.rotary % 2 != 0 || head.rotary > head.dim) {
    throw Error(Code::Format, keys.owner(), ": ", keys.full(name), " is ", head.rotary,
                ", expected an even number of at most the head dim ", head.dim);
  }
}

void read_head(GgufKeys& keys, const GgufArchitecture& rules, GgufShape& shape) {
  GgufHead& head = shape.full;
  const auto key_length = keys.size("attention.key_length", 1, kMaxHeadDim);
  const auto rotary = keys.size("rope.dimension_count", 0, kMaxHeadDim);
  if (rules.latent && rotary.has_value()) {
    head.dim = rotary->value;
    head.origins.push_back({"head dim", str(head.dim), rotary->origin});
  } else if (key_length.has_value()) {
    head.dim = key_length->value;
    head.origins.push_back({"head dim", str(head.dim), key_length->origin});
  } else {
    head.dim = derived_head_dim(keys, shape);
    head.origins.push_back({"head dim",
                            str(head.dim),
                            {OriginKind::Derived, keys.full("embedding_length") + " / " +
                                                      keys.full("attention.head_count")}});
  }
  head.rotary = rotary.has_value() ? rotary->value : head.dim;
  check_rotary(keys, "rope.dimension_count", head);
  head.origins.push_back({"rotated channels", str(head.rotary),
                          rotary.has_value()
                              ? rotary->origin
                              : Origin{OriginKind::ClassDefault, "llama.cpp: the whole head"}});
}

void read_local_head(GgufKeys& keys, GgufShape& shape) {
  shape.local = shape.full;
  const auto replace = [&](const char* name, const char* field, int64_t& value) {
    if (const auto found = keys.size(name, 1, kMaxHeadDim); found.has_value()) {
      value = found->value;
      std::erase_if(shape.local.origins, [&](const Provenance& p) { return p.field == field; });
      shape.local.origins.push_back({field, str(value), found->origin});
    }
  };
  const bool whole = shape.full.rotary == shape.full.dim;
  replace("attention.key_length_swa", "head dim", shape.local.dim);
  if (whole || shape.local.rotary > shape.local.dim) {
    shape.local.rotary = shape.local.dim;
  }
  replace("rope.dimension_count_swa", "rotated channels", shape.local.rotary);
  check_rotary(keys, "rope.dimension_count_swa", shape.local);
}

/// Windowed layers by the file's list or period, else by the architecture's period.
void read_pattern(GgufKeys& keys, const GgufArchitecture& rules, GgufShape& shape) {
  const std::string name = "attention.sliding_window_pattern";
  int64_t period = rules.full_every;
  Origin origin{OriginKind::ClassDefault, str("llama.cpp, architecture ", rules.name)};
  if (keys.is_list(name)) {
    const auto list = keys.per_layer(name, shape.n_layers, 1);
    for (size_t i = 0; i < shape.windowed.size(); ++i) {
      shape.windowed[i] = list->value[i] != 0;
    }
    shape.window_origins.push_back({"windowed layers", "one entry per layer", list->origin});
    return;
  }
  if (const auto found = keys.size(name, 0, kMaxLayers); found.has_value()) {
    period = found->value;
    origin = found->origin;
  } else if (rules.full_needs_pattern) {
    return;  // nothing says which
  }
  for (int64_t i = 0; i < shape.n_layers; ++i) {
    const bool full = period > 0 && i % period == (rules.full_first ? 0 : period - 1);
    shape.windowed[static_cast<size_t>(i)] = !full;
  }
  shape.window_origins.push_back({"windowed layers", str("all but one of every ", period), origin});
}

void read_windows(GgufKeys& keys, const GgufArchitecture& rules, GgufShape& shape) {
  shape.windowed.assign(static_cast<size_t>(shape.n_layers), false);
  if (rules.full_every == 0 && !rules.full_needs_pattern) {
    return;
  }
  const auto window = keys.size("attention.sliding_window", 0, kMaxTokens);
  if (rules.chunk > 0 && !(window.has_value() && window->value == 0)) {
    shape.window = rules.chunk;  // built in; the key only switches it off
    shape.window_origins.push_back(
        {"chunk", str(rules.chunk), {OriginKind::ClassDefault, str("llama.cpp, ", rules.name)}});
  } else if (window.has_value()) {
    shape.window = window->value;
    shape.window_origins.push_back({"window", str(window->value), window->origin});
  }
  if (shape.window > 0) {
    read_pattern(keys, rules, shape);
  }
}

void read_rotating(const GgufArchitecture& rules, GgufShape& shape) {
  const bool alibi = rules.alibi_at > 0 && rules.alibi_at == shape.n_layers;
  const bool any =
      rules.rotation != GgufRotation::None && !rules.learned && !alibi && shape.full.rotary > 0;
  shape.rotates.assign(static_cast<size_t>(shape.n_layers), any);
  const bool windows =
      std::find(shape.windowed.begin(), shape.windowed.end(), true) != shape.windowed.end();
  const bool unrotated = rules.unrotated_every > 0 && (rules.chunk == 0 || shape.window > 0);
  for (int64_t i = 0; i < shape.n_layers; ++i) {
    const auto layer = static_cast<size_t>(i);
    if ((unrotated && (i + 1) % rules.unrotated_every == 0) ||
        (rules.local_rotate_only && windows && !shape.windowed[layer])) {
      shape.rotates[layer] = false;
    }
  }
}

std::string name_of(const GgufGroup& group, const GgufArchitecture& rules, bool any_rotates) {
  if (!group.rotates && any_rotates) {
    return "no_rotation";
  }
  return !group.windowed   ? "full_attention"
         : rules.chunk > 0 ? "chunked_attention"
                           : "sliding_attention";
}

}  // namespace

GgufShape read_gguf_shape(GgufKeys& keys, const tensor::GgufFile& file,
                          const GgufArchitecture& rules) {
  GgufShape shape;
  shape.n_layers = layers_of(keys, file);
  if (const auto found = keys.size("embedding_length", 1, kMaxWidth); found.has_value()) {
    shape.hidden = found->value;
  }
  if (const auto found = keys.size("context_length", 0, kMaxTokens); found.has_value()) {
    shape.context = found->value;
  }
  read_heads(keys, shape);
  if (std::any_of(shape.heads.begin(), shape.heads.end(), [](int64_t n) { return n > 0; })) {
    read_head(keys, rules, shape);
  }
  read_windows(keys, rules, shape);
  if (shape.window > 0) {
    read_local_head(keys, shape);
  }
  read_rotating(rules, shape);
  return shape;
}

std::vector<GgufGroup> gguf_groups(const GgufShape& shape, const GgufArchitecture& rules,
                                   const std::string& owner) {
  std::vector<GgufGroup> groups;
  bool any_rotates = false;
  for (int64_t i = 0; i < shape.n_layers; ++i) {
    const auto layer = static_cast<size_t>(i);
    if (shape.heads[layer] == 0) {
      continue;
    }
    const GgufGroup own{shape.windowed[layer],
                        shape.rotates[layer],
                        shape.heads[layer],
                        shape.kv_heads[layer],
                        {},
                        ""};
    auto group = std::find_if(groups.begin(), groups.end(), [&](const GgufGroup& g) {
      return g.windowed == own.windowed && g.rotates == own.rotates && g.n_heads == own.n_heads &&
             g.n_kv_heads == own.n_kv_heads;
    });
    if (group == groups.end()) {
      if (groups.size() == kMaxKinds) {
        throw Error(Code::Format, owner, ": layers differ in more than ", kMaxKinds, " ways");
      }
      groups.push_back(own);
      group = groups.end() - 1;
    }
    group->layers.push_back(i);
    any_rotates = any_rotates || own.rotates;
  }
  for (GgufGroup& group : groups) {
    group.name = groups.size() == 1 ? "all" : name_of(group, rules, any_rotates);
  }
  for (GgufGroup& group : groups) {  // alike but for their heads
    const auto n = std::count_if(groups.begin(), groups.end(), [&](const GgufGroup& other) {
      return other.name.substr(0, other.name.find(',')) == group.name;
    });
    if (n > 1) {
      group.name += str(", ", group.n_heads, "/", group.n_kv_heads, " heads");
    }
  }
  return groups;
}

}  // namespace gyre::inspect
