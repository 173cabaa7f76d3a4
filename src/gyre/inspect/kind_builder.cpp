#include "gyre/inspect/kind_builder.h"

#include <algorithm>
#include <cmath>

#include "gyre/base/error.h"
#include "gyre/base/options.h"
#include "gyre/inspect/encoding.h"
#include "gyre/position/extension.h"
#include "gyre/position/scheme.h"

namespace gyre::inspect {
namespace {

using position::PairLayout;

std::string number_list(const std::vector<double>& values) {
  std::string out = "[";
  for (const double value : values) {
    out += (out.size() == 1 ? "" : ",") + number_text(value);
  }
  return out + "]";
}

class KindBuilder {
 public:
  KindBuilder(ConfigReader& config, const LayerGroup& group, const ModelSizes& sizes,
              std::vector<IgnoredKey>& ignored)
      : config_(config), rules_(config.rules()), group_(group), sizes_(sizes), ignored_(ignored) {}

  LayerKind build(int64_t& original) {
    kind_.name = group_.name;
    kind_.layers = group_.layers;
    kind_.origins = group_.origins;
    kind_.window_convention = group_.window_convention;
    kind_.n_heads = sizes_.heads;
    kind_.n_kv_heads = sizes_.kv_heads > 0 ? sizes_.kv_heads : sizes_.heads;
    set_head_dim();
    if (!set_encoding()) {
      set_layout();
      settings_ = rope_settings(config_, group_, sizes_.max_position);
      set_rotation();
      original = settings_.original;
    }
    kind_.plan.mask = group_.mask;
    return std::move(kind_);
  }

 private:
  void record(const std::string& field, const std::string& value, const Origin& origin) {
    kind_.origins.push_back({field, value, origin});
  }

  std::optional<Found<int64_t>> own_head_dim() {
    if (group_.attention == "full_attention" && rules_.global_head_dim > 0) {
      if (auto found = config_.size(rules_.global_head_dim_key, 1, kMaxHeadDim);
          found.has_value()) {
        return found;
      }
      return Found<int64_t>{rules_.global_head_dim, config_.default_origin()};
    }
    if (auto found = config_.size(rules_.head_dim_key, 1, kMaxHeadDim); found.has_value()) {
      return found;
    }
    return rules_.head_dim > 0
               ? std::optional(Found<int64_t>{rules_.head_dim, config_.default_origin()})
               : std::nullopt;
  }

  void set_head_dim() {
    auto found = own_head_dim();
    if (!found.has_value() && sizes_.hidden > 0 && sizes_.heads > 0) {
      found = Found<int64_t>{sizes_.hidden / sizes_.heads,
                             {OriginKind::Derived, "hidden size / attention heads"}};
    }
    if (!found.has_value() || found->value < 1 || found->value > kMaxHeadDim) {
      throw Error(Code::Format, config_.owner(), ": cannot tell the head dim; found head_dim ",
                  found.has_value() ? found->value : 0, ", hidden size ", sizes_.hidden,
                  ", attention heads ", sizes_.heads);
    }
    kind_.head_dim = found->value;
    record("head dim", str(found->value), found->origin);
  }

  // True when nothing rotates here.
  bool set_encoding() {
    const Encoding encoding = choose_encoding(config_, sizes_, kind_.origins);
    if (encoding == Encoding::Rotary && group_.rotates) {
      return false;
    }
    if (encoding == Encoding::Alibi) {
      set_alibi();
      return true;
    }
    kind_.scheme = kind_.spec = "nope";
    fill_plan(kind_, sizes_.max_position, 0);
    if (encoding == Encoding::Learned) {
      kind_.name = group_.name == "all" ? "learned_absolute" : group_.name;
      kind_.length_rule = str("a learned table of ", sizes_.max_position,
                              " absolute positions is added to the embeddings; none exists beyond");
    } else if (encoding == Encoding::Unknown) {
      kind_.length_rule = kUnknownEncoding;
    } else if (rules_.unrotated_grows_query) {
      set_query_growth();
    }
    return true;
  }

  void set_alibi() {
    kind_.scheme = kind_.spec = "alibi";
    fill_plan(kind_, sizes_.max_position, 0);
    if (rules_.alibi_scaled) {
      for (double& slope : kind_.plan.slopes) {
        slope /= std::sqrt(static_cast<double>(kind_.head_dim));
      }
      record("slopes", "released list / sqrt(head dim)", config_.default_origin());
    }
    const auto bias_max = config_.setting("attn_config.alibi_bias_max");
    if (bias_max.has_value() && bias_max->value != 8.0) {
      for (double& slope : kind_.plan.slopes) {
        slope = std::pow(slope, bias_max->value / 8.0);  // 2^(-max h/H)
      }
      record("slopes", str("released list ^ (", number_text(bias_max->value), "/8)"),
             bias_max->origin);
    }
  }

  void set_query_growth() {
    const auto on = config_.flag("attn_temperature_tuning");
    if (on.has_value() && !on->value) {
      return;
    }
    const auto scale = config_.number("attn_scale");
    const auto floor = config_.size("floor_scale");
    kind_.plan.query_growth = scale.has_value() ? scale->value : 0.1;
    kind_.plan.query_growth_floor = floor.has_value() ? static_cast<double>(floor->value) : 8192.0;
    record("query growth", number_text(kind_.plan.query_growth),
           scale.has_value() ? scale->origin : config_.default_origin());
  }

  void set_layout() {
    kind_.layout = rules_.layout;
    Origin origin = config_.default_origin();
    if (const auto found = config_.flag(rules_.interleave_key); found.has_value()) {
      kind_.layout = found->value ? PairLayout::Interleaved : PairLayout::Halves;
      origin = found->origin;
    }
    if (kind_.layout == PairLayout::Unstated) {
      origin = {OriginKind::Assumed, "no key says which channels form a pair; the class decides"};
    }
    record("pair layout", layout_name(kind_.layout), origin);
  }

  void set_rotation() {
    kind_.rope_type = settings_.spelled;
    kind_.origins.insert(kind_.origins.end(), settings_.origins.begin(), settings_.origins.end());
    ignored_.insert(ignored_.end(), settings_.ignored.begin(), settings_.ignored.end());
    kind_.base = settings_.theta;
    kind_.factor = settings_.factor;
    set_rotary_dim();
    if (kind_.rotary_dim % 2 != 0) {
      kind_.scheme = settings_.type->scheme;
      ignored_.push_back({"rope type", settings_.spelled,
                          str("no table can be made: ", kind_.rotary_dim,
                              " channels do not form pairs, readers stop")});
      return;
    }
    use_alpha();
    choose_spec();
    if (!try_plan()) {
      kind_.scheme = kind_.rotary_dim == kind_.head_dim ? "rope" : "partial";
      kind_.spec = plain_spec();
      kind_.factor = 1.0;
      try_plan();
    }
    set_ramp();
  }

  // Hunyuan: a static base, although the type is called dynamic.
  void use_alpha() {
    if (!rules_.dynamic_alpha || !(settings_.alpha > 0.0) || kind_.head_dim <= 2) {
      return;
    }
    const auto D = static_cast<double>(kind_.head_dim);
    kind_.base *= std::pow(settings_.alpha, D / (D - 2.0));
    settings_.type = find_rope_type("default");
    settings_.original = 0;
    kind_.factor = 1.0;
    record(
        "base used", number_text(kind_.base),
        {OriginKind::Derived, str("base * alpha^(", kind_.head_dim, "/", kind_.head_dim - 2, ")")});
  }

  void set_rotary_dim() {
    const int64_t D = kind_.head_dim;
    const bool proportional = settings_.type->scheme == "proportional";
    const bool plain = settings_.type->scheme == "rope";
    int64_t R = D;
    if (plain && !rules_.partial_on_default && settings_.partial_given) {
      note_partial_unread();
    } else if (settings_.rotary_dim > 0) {
      R = std::min(settings_.rotary_dim, D);
    } else if (!proportional) {
      R = channels(settings_.partial);
    }
    // A whole head of odd width has no pairs; an odd part of it loses its last channel.
    kind_.rotary_dim = R == D ? R : R / 2 * 2;
    record("rotated channels", str(kind_.rotary_dim),
           {OriginKind::Derived, R == D ? "the whole head" : "head dim * partial factor"});
  }

  int64_t channels(double partial) const {
    const double wanted = static_cast<double>(kind_.head_dim) * partial;
    return std::isfinite(wanted) && wanted >= 2.0
               ? std::min(static_cast<int64_t>(wanted), kind_.head_dim)
               : kind_.head_dim;
  }

  // Measured on transformers 5.18 and 5.24: validated, then not used.
  void note_partial_unread() {
    for (const Provenance& origin : settings_.origins) {
      if (origin.field == "partial rotary factor" && settings_.partial != 1.0) {
        ignored_.push_back({origin.origin.where, origin.value,
                            str(rules_.reader, " does not read it with the default rope type: ",
                                kind_.head_dim / 2, " pairs rotate, the key asks for ",
                                channels(settings_.partial) / 2)});
      }
    }
    std::erase_if(kind_.origins,
                  [](const Provenance& p) { return p.field == "partial rotary factor"; });
  }

  std::string common_spec() const {
    std::string out = "base=" + number_text(kind_.base);
    if (kind_.rotary_dim != kind_.head_dim) {
      out += str(",rotary=", kind_.rotary_dim);
    }
    return out + ",layout=" + layout_name(kind_.layout);
  }

  std::string plain_spec() const {
    std::string out = kind_.scheme + ":base=" + number_text(kind_.base);
    if (kind_.scheme == "partial") {
      out += ",fraction=" + number_text(static_cast<double>(kind_.rotary_dim) /
                                        static_cast<double>(kind_.head_dim));
    }
    return out + ",layout=" + layout_name(kind_.layout);
  }

  void choose_spec() {
    kind_.scheme = settings_.type->scheme;
    std::string spec = kind_.scheme + ":" + common_spec();
    const auto add = [&](const char* name, const std::optional<double>& value) {
      spec += value.has_value() ? str(",", name, "=", number_text(*value)) : "";
    };
    if (kind_.scheme == "rope") {
      kind_.scheme = kind_.rotary_dim == kind_.head_dim ? "rope" : "partial";
      kind_.spec = plain_spec();
      return;
    }
    if (kind_.scheme == "proportional") {
      kind_.spec =
          str("proportional:base=", number_text(kind_.base), ",p=", number_text(settings_.partial),
              ",factor=", number_text(settings_.factor), ",layout=", layout_name(kind_.layout));
      return;
    }
    spec += ",factor=" + number_text(settings_.factor);
    if (settings_.original > 0) {
      spec += str(",original=", settings_.original);
    }
    if (kind_.scheme == "yarn") {
      add("beta_fast", settings_.beta_fast);
      add("beta_slow", settings_.beta_slow);
      add("mscale", settings_.mscale);
      add("mscale_all_dim", settings_.mscale_all_dim);
      spec += settings_.truncate ? "" : ",truncate=false";
      spec += rules_.softmax_mscale ? ",mla=true" : "";
    } else if (kind_.scheme == "llama3") {
      add("low", settings_.low_freq_factor);
      add("high", settings_.high_freq_factor);
    } else if (kind_.scheme == "longrope") {
      spec += settings_.short_factor == nullptr
                  ? ""
                  : ",short=" + number_list(settings_.short_factor->numbers);
      spec += settings_.long_factor == nullptr
                  ? ""
                  : ",long=" + number_list(settings_.long_factor->numbers);
    }
    add("attention_factor", settings_.attention_factor);
    add("long_attention_factor", settings_.long_attention_factor);
    kind_.spec = spec;
  }

  // Some readers deliver a table where the scheme refuses; lint says which setting is wrong.
  bool try_plan() {
    int64_t longest = 0;
    if (settings_.original > 0) {
      longest = kind_.scheme == "dynamic"
                    ? static_cast<int64_t>(std::min(1e12, static_cast<double>(settings_.original) *
                                                              std::max(1.0, settings_.factor)))
                    : settings_.original + 1;
    }
    try {
      fill_plan(kind_, settings_.original > 0 ? settings_.original : sizes_.max_position, longest);
      return true;
    } catch (const Error& fault) {
      ignored_.push_back({settings_.spelled.empty() ? "rope settings" : "rope type",
                          settings_.spelled, str("no such table can be made: ", fault.what())});
      return false;
    }
  }

  void set_ramp() {
    if (kind_.scheme == "yarn" && settings_.original > 0) {
      const auto bounds = position::yarn_ramp_bounds(
          kind_.base, kind_.rotary_dim,
          {static_cast<double>(settings_.original), settings_.beta_fast.value_or(32.0),
           settings_.beta_slow.value_or(1.0), settings_.truncate});
      kind_.ramp_low = bounds.low;
      kind_.ramp_high = bounds.high;
    }
  }

  ConfigReader& config_;
  const Architecture& rules_;
  const LayerGroup& group_;
  const ModelSizes& sizes_;
  std::vector<IgnoredKey>& ignored_;
  RopeSettings settings_;
  LayerKind kind_;
};

}  // namespace

void fill_plan(LayerKind& kind, int64_t original, int64_t longest) {
  position::PlanRequest request;
  request.n_heads = std::max<int64_t>(kind.n_heads, 1);
  request.n_kv_heads = std::max<int64_t>(kind.n_kv_heads, 1);
  request.head_dim = kind.head_dim;
  request.train_length = original;
  const auto scheme = position::make_scheme(kind.spec);
  position::PositionPlan plan = scheme->plan(request);
  const position::MaskSpec mask = kind.plan.mask;
  kind.plan = plan.layers.at(0);
  kind.plan.mask = mask;
  kind.layout = plan.layout;
  kind.length_rule = plan.length_rule;
  kind.rotary_dim = kind.plan.inv_freq.empty() ? 0 : plan.rotary_dim;
  kind.long_inv_freq.clear();
  kind.long_amplitude = 0.0;
  if (longest > original && !plan.length_rule.empty()) {
    request.length = longest;
    const auto late = scheme->plan(request);
    if (!late.layers.at(0).inv_freq.empty() && late.layers[0].inv_freq != kind.plan.inv_freq) {
      kind.long_inv_freq = late.layers[0].inv_freq[0];
    }
    if (late.layers[0].amplitude != kind.plan.amplitude) {
      kind.long_amplitude = late.layers[0].amplitude;
    }
  }
}

LayerKind build_kind(ConfigReader& config, const LayerGroup& group, const ModelSizes& sizes,
                     std::vector<IgnoredKey>& ignored, int64_t& original) {
  return KindBuilder(config, group, sizes, ignored).build(original);
}

}  // namespace gyre::inspect
