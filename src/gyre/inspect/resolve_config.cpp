// config.json -> ResolvedModel: sizes, layer kinds, lengths, and every key that looks as if it
// mattered and does not.
#include <algorithm>
#include <set>

#include "gyre/base/error.h"
#include "gyre/base/options.h"
#include "gyre/inspect/encoding.h"
#include "gyre/inspect/inspect.h"
#include "gyre/inspect/kind_builder.h"

namespace gyre::inspect {
namespace {

// Words of keys that sound like positions.
constexpr const char* kWords[] = {
    "rope",           "rotary",     "theta",    "position",   "alibi",       "sliding",
    "window",         "yarn",       "ntk",      "freq",       "max_len",     "seq_len",
    "seq_length",     "chunk_size", "mscale",   "attn_scale", "floor_scale", "layer_types",
    "context_length", "dual_chunk", "rope_pct", "multi_query"};
// Words of keys that sound so and belong to something else.
constexpr const char* kOthers[] = {"position_ids", "output_",           "vision", "image", "audio",
                                   "initializer",  "frequency_penalty", "router"};
const std::vector<std::string> kBlockKeys = {"rope_type",
                                             "type",
                                             "rope_theta",
                                             "partial_rotary_factor",
                                             "factor",
                                             "beta_fast",
                                             "beta_slow",
                                             "original_max_position_embeddings",
                                             "mscale",
                                             "mscale_all_dim",
                                             "attention_factor",
                                             "truncate",
                                             "low_freq_factor",
                                             "short_factor",
                                             "long_factor",
                                             "high_freq_factor",
                                             "mrope_section",
                                             "mrope_interleaved",
                                             "llama_4_scaling_beta",
                                             "alpha"};

struct SizeNames {
  const char* field;
  std::vector<std::string> names;
  int64_t most;
};

class Resolver {
 public:
  Resolver(RawConfig raw, const std::string& owner)
      : raw_(std::move(raw)), config_(raw_, owner), rules_(config_.rules()) {}

  ResolvedModel run() {
    model_.model_type = config_.model_type();
    model_.known_type = config_.known_type();
    model_.reader =
        str(config_.has("rope_parameters") ? "transformers v5 keys" : "transformers v4 keys",
            config_.known_type() ? ", " + rules_.reader : ", no known class");
    read_sizes();
    read_kinds();
    doubt_encoding();
    doubt_partial();
    read_lengths();
    if (const auto dtype = dtype_text(); !dtype.empty()) {
      model_.dtype = dtype;
    }
    list_ignored();
    model_.raw = std::move(raw_);
    return std::move(model_);
  }

 private:
  void record(const std::string& field, int64_t value, const Origin& origin) {
    model_.origins.push_back({field, str(value), origin});
  }

  int64_t size(const SizeNames& what, int64_t by_class) {
    const auto found = config_.size_of(what.names, what.most);
    if (found.has_value()) {
      record(what.field, found->value, found->origin);
      return found->value;
    }
    if (by_class > 0) {
      record(what.field, by_class, config_.default_origin());
    }
    return by_class;
  }

  void read_sizes() {
    sizes_.layers =
        size({"layers", {"num_hidden_layers", "n_layer", "n_layers", "num_layers"}, kMaxLayers},
             rules_.layers);
    sizes_.hidden =
        size({"hidden size", {"hidden_size", "n_embd", "d_model", "n_embed"}, kMaxLength},
             rules_.hidden);
    sizes_.heads = size(
        {"attention heads", {"num_attention_heads", "n_head", "n_heads"}, kMaxHeads}, rules_.heads);
    sizes_.kv_heads = size({"key/value heads",
                            {"num_key_value_heads", "num_kv_heads", "multi_query_group_num"},
                            kMaxHeads},
                           rules_.kv_heads);
    read_multi_query();
    sizes_.max_position = size({"max position",
                                {"max_position_embeddings", "n_positions", "seq_length",
                                 "max_seq_len", "max_sequence_length", "model_max_length"},
                                kMaxLength},
                               rules_.max_length);
    if (sizes_.layers == 0) {
      sizes_.layers = 1;
      record("layers", 1, {OriginKind::Assumed, "no num_hidden_layers in the file"});
    }
    model_.n_layers = sizes_.layers;
    model_.hidden = sizes_.hidden;
  }

  // Falcon, GPTBigCode: one key/value head whatever the counts say, unless heads are grouped.
  void read_multi_query() {
    if (rules_.multi_query_key.empty()) {
      return;
    }
    const auto found = config_.flag(rules_.multi_query_key);
    const auto grouped = config_.flag(rules_.grouped_key);
    const bool on = found.has_value() ? found->value : rules_.multi_query_default;
    if (on && !(grouped.has_value() && grouped->value)) {
      sizes_.kv_heads = 1;
      std::erase_if(model_.origins,
                    [](const Provenance& p) { return p.field == "key/value heads"; });
      record("key/value heads", 1, found.has_value() ? found->origin : config_.default_origin());
    }
  }

  void read_kinds() {
    for (const LayerGroup& group : layer_groups(config_, sizes_.layers)) {
      int64_t original = 0;
      model_.kinds.push_back(build_kind(config_, group, sizes_, model_.ignored, original));
      model_.original_length = std::max(model_.original_length, original);
    }
  }

  void doubt_encoding() {
    if (shows_encoder(config_)) {
      return;  // no decoder: nothing is rotated unless a key says so
    }
    for (const LayerKind& kind : model_.kinds) {
      if (kind.length_rule == kUnknownEncoding) {
        model_.doubts.push_back({"position-encoding-unknown", Severity::Warning, "model_type",
                                 str("model type '", model_.model_type,
                                     "' is not known and no key says that it rotates; it may have "
                                     "learned, relative or no positions"),
                                 "a rope_theta or position_embedding_type key", "none"});
        return;
      }
    }
  }

  // Measured on transformers: classes that do not split the head build fewer pairs for an extended
  // type and multiply the whole head by them.
  void doubt_partial() {
    for (const LayerKind& kind : model_.kinds) {
      if (rules_.partial_on_default || kind.rotary_dim == 0 || kind.rotary_dim == kind.head_dim ||
          kind.factor == 1.0) {
        continue;
      }
      model_.doubts.push_back(
          {"partial-factor-stops", Severity::Error, "partial_rotary_factor",
           str(rules_.reader, " makes ", kind.n_pairs(), " pairs by it for rope type '",
               kind.rope_type, "' and applies them to a head of ", kind.head_dim / 2,
               " pairs: its forward stops; delete the key or use a class that splits the head"),
           "1", str(kind.rotary_dim, " of ", kind.head_dim, " channels")});
      return;
    }
  }

  bool extended() const {
    return std::any_of(model_.kinds.begin(), model_.kinds.end(),
                       [](const LayerKind& kind) { return kind.factor != 1.0; });
  }

  const Provenance* origin_of(const std::string& field) const {
    for (const LayerKind& kind : model_.kinds) {
      for (const Provenance& one : kind.origins) {
        if (one.field == field) {
          return &one;
        }
      }
    }
    return nullptr;
  }

  void read_lengths() {
    model_.max_length = sizes_.max_position;
    if (model_.original_length == 0) {
      if (!extended()) {
        model_.original_length = sizes_.max_position;
      } else {
        model_.origins.push_back(
            {"original length", "not stated", {OriginKind::Assumed, "the file has no key for it"}});
      }
      return;
    }
    double factor = 1.0;
    for (const LayerKind& kind : model_.kinds) {
      factor = std::max(factor, kind.factor);
    }
    // Users add a block without raising max_position_embeddings; servers then multiply.
    if (sizes_.max_position <= model_.original_length && factor > 1.0 && factor < 1e6) {
      model_.max_length =
          static_cast<int64_t>(static_cast<double>(model_.original_length) * factor);
      record("max length", model_.max_length, {OriginKind::Derived, "original length * factor"});
    }
  }

  std::string dtype_text() {
    for (const char* name : {"dtype", "torch_dtype"}) {
      if (const RawKey* key = config_.text_if(name); key != nullptr) {
        return key->text;
      }
      if (const RawKey* key = raw_.find(name); key != nullptr && key->type == RawType::Text) {
        raw_.use(name);
        return key->text;
      }
    }
    return "";
  }

  void list_ignored() {
    std::set<std::string> told;
    std::vector<IgnoredKey> kept;
    for (IgnoredKey& key : model_.ignored) {
      if (told.insert(key.key + "\n" + key.reason).second) {
        kept.push_back(std::move(key));
      }
    }
    model_.ignored = std::move(kept);
    told.clear();
    for (const IgnoredKey& key : model_.ignored) {
      told.insert(key.key);
    }
    std::vector<std::string> blocks = rope_block_paths(config_);
    for (std::string& block : blocks) {
      block = config_.full(block) + ".";
    }
    for (const RawKey& key : raw_.keys()) {
      const bool whole = key.path.find("dual_chunk") != std::string::npos;
      if (!key.used && (key.type != RawType::Object || whole) && key.type != RawType::Null &&
          told.count(key.path) == 0) {
        note_unused(key, name_in_block(key, blocks));
      }
    }
  }

  // "" = not in a rope block; a config may have ten thousand keys of quantization.
  static std::string name_in_block(const RawKey& key, const std::vector<std::string>& blocks) {
    for (const std::string& prefix : blocks) {
      if (key.path.starts_with(prefix) && key.path.find('.', prefix.size()) == std::string::npos) {
        return key.path.substr(prefix.size());
      }
    }
    return "";
  }

  void note_unused(const RawKey& key, const std::string& in_block) {
    if (!in_block.empty()) {
      model_.ignored.push_back({key.path, key.text, block_reason(key, in_block)});
      return;
    }
    const std::string& root = config_.root();
    const bool inside = key.path.starts_with(root);
    const std::string name = inside ? key.path.substr(root.size()) : key.path;
    const bool nested = name.find('.') != std::string::npos;
    if ((nested && !name.starts_with("attn_config.rope")) || !sounds_like_positions(name)) {
      return;
    }
    model_.ignored.push_back({key.path, key.text,
                              inside ? top_reason(key, name)
                                     : "outside " + root.substr(0, root.size() - 1) +
                                           ", which describes the language model"});
  }

  static bool sounds_like_positions(const std::string& name) {
    const auto in_name = [&](const char* word) { return name.find(word) != std::string::npos; };
    return std::any_of(std::begin(kWords), std::end(kWords), in_name) &&
           std::none_of(std::begin(kOthers), std::end(kOthers), in_name);
  }

  std::string block_reason(const RawKey& key, const std::string& name) const {
    if (std::find(kBlockKeys.begin(), kBlockKeys.end(), name) == kBlockKeys.end()) {
      const std::string near = nearest_name(name, kBlockKeys);
      return "no reader that gyre knows reads it" +
             (near.empty() ? "" : "; did you mean '" + near + "'?");
    }
    if (name == "type") {
      return "rope_type is there too and wins";
    }
    if (name == "llama_4_scaling_beta") {
      return "queries at position i are multiplied by 1 + " + key.text +
             " ln(1 + floor(i / original length)); the rotation does not change";
    }
    if (name == "mrope_interleaved") {
      return "how the axes of images share the pairs; a text has one position on all axes";
    }
    if (name == "mrope_section") {
      return "positions of images; the tokens of a text have one position on all axes";
    }
    const std::string block = key.path.substr(0, key.path.size() - name.size() - 1);
    for (const char* type_key : {".rope_type", ".type"}) {
      if (const RawKey* type = raw_.find(block + type_key); type != nullptr && type->used) {
        return key.type == RawType::Number || key.type == RawType::Bool || key.type == RawType::List
                   ? str("rope type '", type->text, "' does not read it")
                   : "of the wrong type";
      }
    }
    return "no layer reads this block as it stands, or no rope type is given in it";
  }

  std::string top_reason(const RawKey& key, const std::string& name) const {
    for (const RawKey& other : raw_.keys()) {
      if (other.used && other.path != key.path && other.path.ends_with("." + name)) {
        return other.text == key.text ? "same value as " + other.path + ", which is read"
                                      : "shadowed by " + other.path + " = " + other.text;
      }
    }
    if (name.find("dual_chunk") != std::string::npos) {
      return "transformers does not read it; servers with dual chunk attention (vLLM) map "
             "positions "
             "into chunks by it";
    }
    return config_.known_type() ? rules_.reader + " does not read it, or not with these settings"
                                : "not known to matter";
  }

  RawConfig raw_;
  ConfigReader config_;
  const Architecture& rules_;
  ModelSizes sizes_;
  ResolvedModel model_;
};

}  // namespace

ResolvedModel resolve_config(std::string_view json_text, const std::string& owner) {
  ResolvedModel model = Resolver(RawConfig::from_json(json_text, owner), owner).run();
  model.path = owner;
  model.source = SourceKind::Config;
  return model;
}

}  // namespace gyre::inspect
