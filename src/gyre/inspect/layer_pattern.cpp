#include "gyre/inspect/layer_pattern.h"

#include <algorithm>

#include "gyre/base/error.h"

namespace gyre::inspect {
namespace {

constexpr const char* kFull = "full_attention";
constexpr const char* kSliding = "sliding_attention";
constexpr const char* kChunked = "chunked_attention";
constexpr size_t kMaxGroups = 1000;  // of layers; no model has more, and finding one is a search

// One value per layer and where the rule that gave it came from.
template <class T>
struct PerLayer {
  std::vector<T> values;
  Provenance origin;
};

void check_count(const ConfigReader& config, const RawKey& list, size_t n_entries,
                 int64_t n_layers) {
  if (static_cast<int64_t>(n_entries) != n_layers) {
    throw Error(Code::Format, config.owner(), ": ", list.path, " has ", n_entries,
                " entries, the model has ", n_layers, " layers");
  }
}

// Older names of the same kinds.
std::string modern_name(const std::string& kind) {
  if (kind == "sliding" || kind == "local" || kind == "local_attention" ||
      kind == "sliding_window") {
    return kSliding;
  }
  return kind == "full" || kind == "global" || kind == "global_attention" || kind == "attention"
             ? kFull
             : kind;
}

bool windows_on(ConfigReader& config, Origin* origin) {
  const Architecture& rules = config.rules();
  if (rules.window_switch.empty()) {
    return true;
  }
  const auto on = config.flag(rules.window_switch);
  *origin = on.has_value() ? on->origin : config.default_origin();
  // A type nobody described: only an explicit false turns a given window off.
  return on.has_value() ? on->value : !config.known_type();
}

PerLayer<std::string> kinds_by_rule(ConfigReader& config, int64_t n_layers) {
  const Architecture& rules = config.rules();
  PerLayer<std::string> out;
  Origin origin = config.default_origin();
  int64_t every = rules.full_every;
  if (const auto found = config.size(rules.full_every_key, 0); found.has_value()) {
    every = found->value;
    origin = found->origin;
  }
  int64_t first = rules.first_windowed;
  if (const auto found = config.size(rules.first_windowed_key, 0); found.has_value()) {
    first = found->value;
    origin = found->origin;
  }
  if (rules.unrotated_needs_window && config.is_null(rules.window_key)) {
    every = 0;
  }
  Origin switched;
  const bool on = rules.other_kind != kSliding || windows_on(config, &switched);
  const bool by_first = !rules.first_windowed_key.empty();
  const int64_t shift = rules.full_at_first ? 0 : 1;
  for (int64_t i = 0; i < n_layers; ++i) {
    const bool other = on && (by_first ? i >= first : every > 0 && (i + shift) % every != 0);
    out.values.push_back(other ? rules.other_kind : kFull);
  }
  if (rules.last_is_full && n_layers > 0) {
    out.values.back() = kFull;
  }
  std::string rule = "all full";
  if (on && by_first) {
    rule = str("windowed from layer ", first);
  } else if (on && every > 0) {
    rule = str("every ", every, "th layer full");
  }
  out.origin = {"layer kinds", rule, origin};
  return out;
}

PerLayer<std::string> attention_kinds(ConfigReader& config, int64_t n_layers) {
  const RawKey* list = config.list("layer_types");
  if (list == nullptr || config.rules().windowed == Windowed::All) {
    // MiniMax-M1 marks layers by 0 (linear) and 1 (softmax).
    const RawKey* codes =
        config.rules().other_kind == "linear_attention" ? config.list("attn_type_list") : nullptr;
    if (codes == nullptr) {
      return kinds_by_rule(config, n_layers);
    }
    check_count(config, *codes, codes->numbers.size(), n_layers);
    PerLayer<std::string> out;
    for (const double code : codes->numbers) {
      out.values.push_back(code == 0.0 ? "linear_attention" : kFull);
    }
    out.origin = {"layer kinds", codes->text, {OriginKind::Key, codes->path}};
    return out;
  }
  check_count(config, *list, list->texts.size(), n_layers);
  PerLayer<std::string> out;
  std::transform(list->texts.begin(), list->texts.end(), std::back_inserter(out.values),
                 modern_name);
  out.origin = {"layer kinds", "one per layer", {OriginKind::Key, list->path}};
  if (config.rules().last_is_full && !out.values.empty()) {
    out.values.back() = kFull;  // Gemma4TextConfig forces it with a line in the log
  }
  return out;
}

// Layers without attention know positions by their recurrence or convolution.
bool has_attention(const std::string& kind) {
  return kind != "mamba" && kind != "mamba2" && kind != "linear_attention" && kind != "recurrent" &&
         kind != "conv" && kind != "short_conv";
}

bool kind_unrotated(ConfigReader& config, const std::string& kind) {
  const Architecture& rules = config.rules();
  const bool applies = !rules.unrotated_needs_window || !config.is_null(rules.window_key);
  return (applies && kind == rules.unrotated_kind) || !has_attention(kind);
}

PerLayer<char> rotating(ConfigReader& config, const std::vector<std::string>& kinds) {
  const Architecture& rules = config.rules();
  const auto n_layers = static_cast<int64_t>(kinds.size());
  PerLayer<char> out;
  out.values.assign(kinds.size(), 1);
  const RawKey* list = rules.rotates_key.empty() ? nullptr : config.list(rules.rotates_key);
  if (list != nullptr && !list->numbers.empty()) {
    check_count(config, *list, list->numbers.size(), n_layers);
    std::transform(list->numbers.begin(), list->numbers.end(), out.values.begin(),
                   [](double entry) { return entry != 0.0 ? 1 : 0; });
    out.origin = {"rotating layers", "1 = rotates", {OriginKind::Key, list->path}};
    return out;
  }
  int64_t every = rules.unrotated_every;
  Origin origin = config.default_origin();
  if (const auto found = config.size(rules.unrotated_every_key, 0); found.has_value()) {
    every = found->value;
    origin = found->origin;
  }
  for (size_t i = 0; i < kinds.size(); ++i) {
    const bool by_count = every > 0 && (static_cast<int64_t>(i) + 1) % every == 0;
    out.values[i] = by_count || kind_unrotated(config, kinds[i]) ? 0 : 1;
  }
  if (every > 0) {
    out.origin = {"rotating layers", str("all but every ", every, "th"), origin};
  } else if (!rules.unrotated_kind.empty() && kind_unrotated(config, rules.unrotated_kind)) {
    out.origin = {"rotating layers", "all but " + rules.unrotated_kind, config.default_origin()};
  }
  return out;
}

// Llama 4: without layer_types, the layers that rotate are those that see one chunk.
void chunk_rotating_layers(ConfigReader& config, const PerLayer<char>& turns,
                           PerLayer<std::string>& kinds) {
  const Architecture& rules = config.rules();
  if (rules.chunk == 0 || config.has("layer_types") || config.is_null(rules.chunk_key)) {
    return;
  }
  for (size_t i = 0; i < kinds.values.size(); ++i) {
    kinds.values[i] = turns.values[i] != 0 ? kChunked : kFull;
  }
  kinds.origin = {"layer kinds", "rotating layers chunked", config.default_origin()};
}

// Longformer: a window per layer; empty when there is one for all.
std::vector<double> windows_by_layer(ConfigReader& config, int64_t n_layers) {
  const RawKey* list = config.list_if(config.rules().window_key);
  const size_t n = list == nullptr ? 0 : list->numbers.size();
  if (n < 2 || (!config.known_type() && static_cast<int64_t>(n) != n_layers)) {
    return {};
  }
  check_count(config, *list, n, n_layers);
  return list->numbers;
}

std::optional<Found<int64_t>> window_of(ConfigReader& config, const LayerGroup& group) {
  const Architecture& rules = config.rules();
  Origin off;
  if (!windows_on(config, &off)) {
    return std::nullopt;
  }
  const RawKey* list = config.list_if(rules.window_key);
  std::optional<Found<int64_t>> found;
  if (list != nullptr && !list->numbers.empty()) {
    const auto layer = static_cast<size_t>(group.layers.at(0));
    const double own = list->numbers[layer < list->numbers.size() ? layer : 0];
    found = Found<int64_t>{own >= 1.0 && own < 1e12 ? static_cast<int64_t>(own) : 0,
                           {OriginKind::Key, list->path}};
  } else {
    found = config.size(rules.window_key, 0);
  }
  if (!found.has_value() && rules.window > 0 && !config.is_null(rules.window_key)) {
    found = Found<int64_t>{rules.window, config.default_origin()};
  }
  return found.has_value() && found->value > 0 ? found : std::nullopt;
}

void set_window(ConfigReader& config, const Found<int64_t>& window, LayerGroup& group) {
  const Architecture& rules = config.rules();
  int64_t keys = window.value;
  group.window_convention =
      str(window.value,
          " keys per query, its own included (flash attention: left = ", window.value - 1, ")");
  if (rules.window_both_sides) {
    keys = window.value / 2 + 1;
    group.window_convention =
        str(window.value, " counts both sides together: ", window.value / 2, " before, itself, ",
            window.value / 2, " after = ", 2 * (window.value / 2) + 1, " keys");
  } else if (!rules.bidirectional_key.empty()) {
    const auto both = config.flag(rules.bidirectional_key);
    if (both.has_value() && both->value) {
      keys = window.value / 2 + 1;
      group.window_convention =
          str(rules.bidirectional_key, ": ", window.value, " is halved to ", keys, " per side");
    }
  }
  group.mask.window = keys;
  group.origins.push_back({"window", str(keys), window.origin});
}

void set_mask(ConfigReader& config, LayerGroup& group) {
  const Architecture& rules = config.rules();
  if (group.attention == kChunked) {
    const auto chunk =
        config.size(rules.chunk_key.empty() ? "attention_chunk_size" : rules.chunk_key);
    group.mask.chunk = chunk.has_value() ? chunk->value : rules.chunk;
    group.origins.push_back({"chunk", str(group.mask.chunk),
                             chunk.has_value() ? chunk->origin : config.default_origin()});
    return;
  }
  const bool windowed =
      group.attention == kSliding ||
      (group.attention == kFull && rules.windowed == Windowed::All) ||
      (group.attention == kFull && !config.known_type() && !config.has("layer_types"));
  if (windowed) {
    if (const auto window = window_of(config, group); window.has_value()) {
      set_window(config, *window, group);
    }
  }
}

}  // namespace

std::vector<LayerGroup> layer_groups(ConfigReader& config, int64_t n_layers) {
  PerLayer<std::string> kinds = attention_kinds(config, n_layers);
  const PerLayer<char> turns = rotating(config, kinds.values);
  chunk_rotating_layers(config, turns, kinds);
  const std::vector<double> windows = windows_by_layer(config, n_layers);
  const auto own_window = [&windows](int64_t layer) {
    return windows.empty() ? 0.0 : windows[static_cast<size_t>(layer)];
  };
  std::vector<LayerGroup> groups;
  for (int64_t i = 0; i < n_layers; ++i) {
    const std::string& kind = kinds.values[static_cast<size_t>(i)];
    const bool rotates = turns.values[static_cast<size_t>(i)] != 0;
    auto group = std::find_if(groups.begin(), groups.end(), [&](const LayerGroup& g) {
      return g.attention == kind && g.rotates == rotates &&
             own_window(g.layers[0]) == own_window(i);
    });
    if (group == groups.end()) {
      if (groups.size() == kMaxGroups) {
        throw Error(Code::Format, config.owner(), ": more than ", kMaxGroups,
                    " kinds of layers by ", config.rules().window_key, " and layer_types");
      }
      groups.push_back({.attention = kind, .rotates = rotates});
      group = groups.end() - 1;
    }
    group->layers.push_back(i);
  }
  for (LayerGroup& group : groups) {
    group.name = groups.size() == 1                                 ? "all"
                 : group.rotates || !has_attention(group.attention) ? group.attention
                                                                    : "no_rotation";
    for (const Provenance& origin : {kinds.origin, turns.origin}) {
      if (!origin.field.empty() && groups.size() > 1) {
        group.origins.push_back(origin);
      }
    }
    set_mask(config, group);
    if (groups.size() > 1 && !windows.empty()) {
      group.name += str("_window_", group.mask.window);
    }
  }
  return groups;
}

}  // namespace gyre::inspect
