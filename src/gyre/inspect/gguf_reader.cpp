// A GGUF's header -> ResolvedModel, by llama.cpp's rules. Weights are never read; of the data part
// only the small tables of divisors are.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <span>

#include "gyre/base/error.h"
#include "gyre/base/options.h"
#include "gyre/inspect/gguf_rope.h"
#include "gyre/inspect/gguf_shape.h"
#include "gyre/inspect/header_readers.h"
#include "gyre/inspect/readers.h"

namespace gyre::inspect {
namespace {

using position::PairLayout;

using Parts = std::span<const tensor::GgufFile* const>;  // of one model; not empty

/// Everything that more than one step needs.
struct Reading {
  const GgufArchitecture& rules;
  GgufKeys& keys;
  const tensor::GgufFile& file;  // the first part
  Parts parts;                   // all that were opened
  GgufShape shape;
  GgufRope rope;
  GgufFound<double> base, local_base;
  double max_bias = 0.0;
  Origin bias_origin;
  std::optional<GgufFound<double>> score_scale;
};

std::string text_of(double value) {
  return detail::format(value);
}

/// The type that most of the weights' bytes have.
std::string dtype_of(Parts parts) {
  std::map<uint32_t, uint64_t> bytes;
  for (const tensor::GgufFile* part : parts) {
    for (const tensor::GgufTensor& tensor : part->tensors()) {
      bytes[tensor.type] += tensor.n_bytes;
    }
  }
  const auto most = std::max_element(
      bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == bytes.end() ? "" : tensor::ggml_type_name(most->first);
}

Origin default_of(const GgufArchitecture& rules) {
  return {OriginKind::ClassDefault, str("llama.cpp, architecture ", rules.name)};
}

void read_bases(Reading& reading) {
  static constexpr double kLeast = 1.000001, kMost = 1e15;
  const auto base = reading.keys.number("rope.freq_base", kLeast, kMost);
  reading.base =
      base.value_or(GgufFound<double>{10000.0, {OriginKind::ClassDefault, "llama.cpp's default"}});
  reading.local_base = reading.rules.local_base > 0
                           ? GgufFound<double>{reading.rules.local_base, default_of(reading.rules)}
                           : reading.base;
  if (reading.shape.window > 0) {
    reading.local_base =
        reading.keys.number("rope.freq_base_swa", kLeast, kMost).value_or(reading.local_base);
  }
}

void read_bias(Reading& reading) {
  const GgufArchitecture& rules = reading.rules;
  if (rules.alibi > 0 && (rules.alibi_at == 0 || rules.alibi_at == reading.shape.n_layers)) {
    reading.max_bias = rules.alibi;
    reading.bias_origin = default_of(rules);
  } else if (rules.rotation == GgufRotation::None) {
    if (const auto found = reading.keys.number("attention.max_alibi_bias", 0.0, 1000.0)) {
      reading.max_bias = found->value;
      reading.bias_origin = found->origin;
    }
  }
}

/// ggml_soft_max's slopes: 2^(-bias/n (h+1)) for the n = 2^k <= H first heads, then
/// 2^(-bias/(2n) (2(h-n)+1)); the released ALiBi code when bias is 8.
std::vector<double> slopes_of(int64_t n_heads, double max_bias) {
  int64_t n = 1;
  while (2 * n <= n_heads) {
    n *= 2;
  }
  std::vector<double> slopes;
  for (int64_t h = 0; h < n_heads; ++h) {
    const double steps =
        h < n ? static_cast<double>(h + 1) : (2.0 * static_cast<double>(h - n) + 1) / 2;
    slopes.push_back(std::exp2(-max_bias / static_cast<double>(n) * steps));
  }
  return slopes;
}

void set_still(const Reading& reading, LayerKind& kind) {
  kind.rotary_dim = 0;
  kind.scheme = "nope";
  kind.spec = "nope";
  std::erase_if(kind.origins, [](const Provenance& p) { return p.field == "rotated channels"; });
  if (reading.max_bias > 0) {
    kind.scheme = "alibi";
    kind.spec = reading.max_bias == 8.0 ? "alibi" : "";
    kind.plan.slopes = slopes_of(kind.n_heads, reading.max_bias);
    kind.origins.push_back(
        {"slopes", str("2^-(", reading.max_bias, "/n) steps"), reading.bias_origin});
  } else {
    kind.origins.push_back({"rotation", "none", default_of(reading.rules)});
  }
  if (reading.rules.grows_query && reading.shape.window > 0) {
    kind.plan.query_growth = 0.1;
    kind.plan.query_growth_floor = 8192.0;
    kind.origins.push_back(
        {"query growth", "0.1 per ln of 8192 tokens", default_of(reading.rules)});
  }
}

void set_rotation(const Reading& reading, bool windowed, LayerKind& kind) {
  const GgufFound<double>& base = windowed ? reading.local_base : reading.base;
  kind.base = base.value;
  kind.origins.push_back({"base", text_of(base.value), base.origin});
  kind.origins.push_back({"layout", layout_name(kind.layout), default_of(reading.rules)});
  const bool scaled = !windowed || reading.rules.local_scaled;
  const bool divided = (!windowed || (scaled && !reading.rules.divisors_in_full_only)) &&
                       kind.rotary_dim == reading.shape.full.rotary;
  if (scaled) {
    kind.origins.insert(kind.origins.end(), reading.rope.origins.begin(),
                        reading.rope.origins.end());
  }
  apply_gguf_rope(reading.rope, reading.rules, scaled, divided, kind);
  if (divided && !reading.rope.divisors.empty()) {
    kind.origins.push_back(
        {"frequencies", "divided by a table", {OriginKind::Tensor, "rope_freqs.weight"}});
  } else if (divided && !reading.rope.shorts.empty()) {
    kind.origins.push_back(
        {"frequencies", "divided by a table", {OriginKind::Tensor, "rope_factors_short.weight"}});
  }
}

void set_mask(const Reading& reading, bool windowed, LayerKind& kind) {
  kind.origins.insert(kind.origins.end(), reading.shape.window_origins.begin(),
                      reading.shape.window_origins.end());
  if (!windowed) {
    return;
  }
  if (reading.rules.chunk > 0) {
    kind.plan.mask.chunk = reading.shape.window;
    kind.window_convention = str("keys of the query's own chunk of ", reading.shape.window);
  } else {
    kind.plan.mask.window = reading.shape.window;
    kind.window_convention =
        str(reading.shape.window,
            " keys per query, its own included (flash attention: left = ", reading.shape.window - 1,
            ")");
  }
}

/// What scores are multiplied by beyond 1/sqrt(D).
void set_score_scale(const Reading& reading, LayerKind& kind) {
  const auto head_dim = static_cast<double>(kind.head_dim);
  const GgufArchitecture& rules = reading.rules;
  double scale = 1.0;
  Origin origin = default_of(rules);
  if (rules.unit_scores) {
    scale = std::sqrt(head_dim);
  } else if (reading.score_scale.has_value() && reading.score_scale->value > 0) {
    scale = reading.score_scale->value * std::sqrt(head_dim);
    origin = reading.score_scale->origin;
  } else if (rules.plain_scale_at > 0 && rules.plain_scale_at == reading.shape.n_layers) {
    scale = std::sqrt(head_dim * static_cast<double>(kind.n_heads) /
                      static_cast<double>(reading.shape.hidden));
  }
  if (scale != 1.0) {
    kind.plan.logit_scale *= scale;
    kind.origins.push_back({"softmax scale", text_of(kind.plan.logit_scale), origin});
  }
}

PairLayout layout_of(GgufRotation rotation) {
  switch (rotation) {
    case GgufRotation::Interleaved:
      return PairLayout::Interleaved;
    case GgufRotation::Halves:
      return PairLayout::Halves;
    case GgufRotation::None:
    case GgufRotation::Unstated:
      return PairLayout::Unstated;
  }
  return PairLayout::Unstated;
}

LayerKind kind_of(const Reading& reading, const GgufGroup& group) {
  const GgufHead& head = group.windowed ? reading.shape.local : reading.shape.full;
  LayerKind kind;
  kind.name = group.name;
  kind.layers = group.layers;
  kind.n_heads = group.n_heads;
  kind.n_kv_heads = group.n_kv_heads;
  kind.head_dim = head.dim;
  kind.rotary_dim = head.rotary;
  kind.layout = layout_of(reading.rules.rotation);
  kind.origins.push_back(
      {"heads", str(group.n_heads, " over ", group.n_kv_heads), reading.shape.heads_origin});
  kind.origins.insert(kind.origins.end(), head.origins.begin(), head.origins.end());
  if (group.rotates) {
    set_rotation(reading, group.windowed, kind);
  } else {
    set_still(reading, kind);
  }
  set_mask(reading, group.windowed, kind);
  set_score_scale(reading, kind);
  return kind;
}

void note(ResolvedModel& model, const std::string& field, const std::string& value,
          const Origin& origin) {
  model.origins.push_back({field, value, origin});
}

/// Facts of the whole model that are no numbers of a kind.
void add_notes(Reading& reading, ResolvedModel& model) {
  GgufKeys& keys = reading.keys;
  if (!model.known_type) {
    note(model, "layout", "unstated",
         {OriginKind::Assumed, str("llama.cpp has no architecture ", model.model_type)});
  }
  if (!reading.rope.known_type()) {
    note(model, "rope type", reading.rope.type,
         {OriginKind::Key, keys.full("rope.scaling.type") + "; llama.cpp refuses it"});
  }
  if (keys.mark("rope.dimension_sections")) {
    note(model, "axes", "several; text has equal positions on all of them",
         {OriginKind::Key, keys.full("rope.dimension_sections")});
  }
  if (const auto growth = keys.number("attention.temperature_scale"); growth.has_value()) {
    keys.mark("attention.temperature_length");
    note(
        model, "query factor",
        str("1 + ", text_of(growth->value), " ln(1 + floor(i / original length)), not in the plan"),
        growth->origin);
  }
  if (reading.file.find("position_embd.weight") != nullptr || reading.rules.learned) {
    note(model, "positions", "a learned table added to the embeddings",
         {OriginKind::Tensor, "position_embd.weight"});
  }
  const auto none = std::count(reading.shape.heads.begin(), reading.shape.heads.end(), 0);
  if (none > 0) {
    note(model, "layers without attention", str(none),
         {OriginKind::Key, model.raw.has(keys.full("attention.head_count_kv"))
                               ? keys.full("attention.head_count_kv")
                               : keys.full("attention.head_count")});
  }
  const auto n_opened = static_cast<double>(reading.parts.size());
  if (reading.file.number("split.count", 1.0) > n_opened) {
    note(model, kFilesField, "one of several parts; tensors of the others are not seen",
         {OriginKind::Key, "split.count"});
  }
}

void set_lengths(const Reading& reading, ResolvedModel& model) {
  model.max_length = reading.shape.context;
  const bool extended = reading.rope.factor != 1.0 || !model.tables.empty();
  if (reading.rope.original > 0) {
    model.original_length = std::llround(reading.rope.original);
  } else if (!extended) {
    model.original_length = reading.shape.context;
  }
  if (reading.shape.context > 0) {
    note(model, "context length", str(reading.shape.context),
         {OriginKind::Key, reading.keys.full("context_length")});
  }
}

}  // namespace

ResolvedModel resolve_gguf(Parts parts, const std::string& path) {
  const tensor::GgufFile& file = *parts.front();
  ResolvedModel model;
  model.path = path;
  model.source = SourceKind::Gguf;
  model.reader = str("llama.cpp, GGUF version ", file.version());
  GgufKeys keys(file, path, model.raw);
  model.model_type = keys.architecture();
  const GgufArchitecture* known = find_gguf_architecture(model.model_type);
  model.known_type = known != nullptr;
  const GgufArchitecture unknown{.name = model.model_type, .full_needs_pattern = true};
  const GgufArchitecture& rules = known != nullptr ? *known : unknown;

  Reading reading{rules, keys, file, parts, read_gguf_shape(keys, file, rules), {}, {},
                  {},    0.0,  {},   {}};
  model.n_layers = reading.shape.n_layers;
  model.hidden = reading.shape.hidden;
  model.dtype = dtype_of(parts);
  const bool rotates = std::find(reading.shape.rotates.begin(), reading.shape.rotates.end(),
                                 true) != reading.shape.rotates.end();
  if (rotates) {
    read_bases(reading);
    reading.rope = read_gguf_rope(keys, rules, reading.shape.context);
  }
  read_gguf_tables(parts, rotates ? reading.shape.full.rotary / 2 : 0, reading.rope, model);
  read_bias(reading);
  if (rules.scale_key) {
    reading.score_scale = keys.number("attention.scale", 0.0, 1e6);
  }
  for (const GgufGroup& group : gguf_groups(reading.shape, rules, path)) {
    model.kinds.push_back(kind_of(reading, group));
  }
  set_lengths(reading, model);
  add_notes(reading, model);
  for (IgnoredKey& key : ignored_gguf_keys(model.raw, model.model_type)) {
    model.ignored.push_back(std::move(key));
  }
  return model;
}

ResolvedModel resolve_gguf(const tensor::GgufFile& file, const std::string& path) {
  const tensor::GgufFile* const one = &file;
  return resolve_gguf(Parts(&one, 1), path);
}

ResolvedModel read_gguf(const std::filesystem::path& path) {
  return read_gguf_parts({path});
}

ResolvedModel read_gguf_parts(const std::vector<std::filesystem::path>& paths) {
  std::vector<std::unique_ptr<tensor::GgufFile>> files;
  std::vector<const tensor::GgufFile*> parts;
  for (const std::filesystem::path& path : paths) {
    files.push_back(std::make_unique<tensor::GgufFile>(path));
    parts.push_back(files.back().get());
  }
  return resolve_gguf(parts, paths.front().string());
}

}  // namespace gyre::inspect
