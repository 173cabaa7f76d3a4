#include "gyre/inspect/rope_settings.h"

#include <algorithm>
#include <map>

#include "gyre/base/error.h"
#include "gyre/base/options.h"

namespace gyre::inspect {
namespace {

constexpr const char* kOld = "rope_scaling";
constexpr const char* kNew = "rope_parameters";
constexpr const char* kFull = "full_attention";
constexpr const char* kKinds[] = {"full_attention", "sliding_attention", "chunked_attention",
                                  "linear_attention"};

bool is_kind(const std::string& name) {
  return std::find(std::begin(kKinds), std::end(kKinds), name) != std::end(kKinds);
}

std::vector<std::string> nested_kinds(const ConfigReader& config) {
  std::vector<std::string> kinds;
  for (const std::string& name : config.members(kNew)) {
    if (is_kind(name) && !config.members(str(kNew, ".", name)).empty()) {
      kinds.push_back(name);
    }
  }
  return kinds;
}

// "a=1,b=x" of Architecture::default_block.
std::map<std::string, std::string> parse_block(const std::string& text) {
  std::map<std::string, std::string> out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string item = text.substr(begin, end - begin);
    out[item.substr(0, item.find('='))] = item.substr(item.find('=') + 1);
    begin = end + 1;
  }
  return out;
}

class Settings {
 public:
  Settings(ConfigReader& config, const LayerGroup& group, int64_t max_position)
      : config_(config), rules_(config.rules()), group_(group), max_position_(max_position) {
    choose_block();
  }

  RopeSettings read() {
    read_type();
    read_theta();
    read_partial();
    read_alpha();
    if (reads("factor")) {
      read_original();
      read_factor();
      read_extension();
    }
    return std::move(out_);
  }

 private:
  // transformers v5: rope_scaling, when not empty, takes the place of rope_parameters.
  void choose_block() {
    const bool old_block = !config_.members(kOld).empty();
    const bool new_block = !config_.members(kNew).empty();
    const std::vector<std::string> nested = nested_kinds(config_);
    const bool for_full_only = rules_.block_is_for_full && group_.attention != kFull;
    if (choose_own_block()) {
      return;
    }
    if (old_block && !for_full_only) {
      block_ = kOld;
    } else if (!nested.empty()) {
      const bool own = std::find(nested.begin(), nested.end(), group_.attention) != nested.end();
      block_ = own ? str(kNew, ".", group_.attention) : "";
    } else if (new_block && rules_.block_is_for_full) {
      out_.ignored.push_back({config_.full(kNew), "",
                              str(rules_.reader,
                                  " reads it by layer kind; nothing is under full_attention or "
                                  "sliding_attention")});
    } else if (new_block) {
      block_ = kNew;
    }
    if (old_block && new_block && block_ == kOld && nested.empty()) {
      out_.ignored.push_back({config_.full(kNew), "", str("shadowed by ", config_.full(kOld))});
    }
    if (!old_block && !new_block && !rules_.default_block.empty() &&
        (rules_.default_block_kind.empty() || rules_.default_block_kind == group_.attention)) {
      defaults_ = parse_block(rules_.default_block);
    }
  }

  // A block with a name of its own, which a text key switches on (MPT).
  bool choose_own_block() {
    if (rules_.own_block.empty() || config_.members(rules_.own_block).empty()) {
      return false;
    }
    const RawKey* by = config_.text_if(rules_.own_block_key);
    if (by != nullptr && by->text == rules_.own_block_when) {
      block_ = rules_.own_block;
      return true;
    }
    out_.ignored.push_back(
        {config_.full(rules_.own_block), "",
         str("read when ", config_.full(rules_.own_block_key), " is ", rules_.own_block_when,
             ", found ", by == nullptr ? "no such key" : by->text)});
    return false;
  }

  std::string path(const std::string& name) const {
    return block_.empty() ? "" : block_ + "." + name;
  }

  void record(const std::string& field, const std::string& value, const Origin& origin) {
    out_.origins.push_back({field, value, origin});
  }

  bool reads(const std::string& name) const {
    const auto& keys = out_.type->keys;
    return std::find(keys.begin(), keys.end(), name) != keys.end();
  }

  std::optional<Found<double>> setting(const std::string& name) {
    if (auto found = config_.setting(path(name)); found.has_value()) {
      return found;
    }
    const auto by_class = defaults_.find(name);
    if (by_class == defaults_.end()) {
      return std::nullopt;
    }
    double value = 0.0;
    detail::parse(by_class->second, value);
    return Found<double>{value, config_.default_origin()};
  }

  void take(const std::string& name, std::optional<double>& into) {
    if (!reads(name)) {
      return;
    }
    if (const auto found = setting(name); found.has_value()) {
      into = found->value;
      record(name, number_text(found->value), found->origin);
    }
  }

  std::string type_text(const char* name, Origin& origin) {
    const RawKey* key = config_.text_if(path(name));
    if (key != nullptr) {
      origin = {OriginKind::NestedKey, key->path};
      return key->text;
    }
    const auto by_class = defaults_.find(name);
    if (by_class != defaults_.end()) {
      origin = config_.default_origin();
      return by_class->second;
    }
    return "";
  }

  void read_type() {
    Origin origin = config_.default_origin();
    out_.spelled = type_text("rope_type", origin);
    Origin second;
    const std::string older = type_text("type", second);
    if (out_.spelled.empty()) {
      out_.spelled = older;
      origin = second.where.empty() ? origin : second;
    }
    std::string name = out_.spelled.empty() ? "default" : out_.spelled;
    for (const auto& [from, to] : rules_.type_remap) {
      name = name == from ? to : name;
    }
    out_.type = find_rope_type(name);
    if (out_.type == nullptr) {
      out_.ignored.push_back({origin.where, name,
                              "no reader knows this rope type; the plain table "
                              "is shown"});
      out_.type = find_rope_type("default");
    }
    std::string shown = out_.spelled.empty() ? "default" : out_.spelled;
    if (out_.type->scheme != shown && out_.type->name != "default") {
      shown += " (" + out_.type->scheme + ")";
    }
    record("rope type", shown, origin);
  }

  void read_theta() {
    const bool local = group_.attention == "sliding_attention" &&
                       (rules_.local_theta > 0.0 || config_.has(rules_.local_theta_key));
    std::optional<Found<double>> found = config_.setting(path("rope_theta"));
    if (!found.has_value()) {
      found = config_.setting(local ? rules_.local_theta_key : rules_.theta_key);
    }
    if (!found.has_value()) {
      found = any_name({"rotary_emb_base", "global_rope_theta", "rotary_base", "rope_base"});
    }
    if (!found.has_value() && !rules_.theta_ratio_key.empty()) {
      if (const auto ratio = config_.setting(rules_.theta_ratio_key); ratio.has_value()) {
        found = Found<double>{
            rules_.theta * ratio->value,
            {OriginKind::Derived, str(number_text(rules_.theta), " * ", rules_.theta_ratio_key)}};
      }
    }
    if (!found.has_value()) {
      found = Found<double>{local ? rules_.local_theta : rules_.theta, config_.default_origin()};
    }
    out_.theta = found->value;
    record("base", number_text(found->value), found->origin);
  }

  void read_partial() {
    auto nested = setting("partial_rotary_factor");
    auto top = config_.setting(rules_.partial_key);
    top = top.has_value() ? top : any_name({"rotary_pct", "rope_pct", "rotary_percent"});
    const auto channels = config_.size(rules_.rotary_dim_key, 1, kMaxHeadDim);
    out_.partial = rules_.partial;
    if (nested.has_value() || top.has_value()) {
      const Found<double>& used = nested.has_value() ? *nested : *top;
      out_.partial = used.value;
      out_.partial_given = true;
      record("partial rotary factor", number_text(used.value), used.origin);
    } else if (channels.has_value() || rules_.rotary_dim > 0) {
      out_.rotary_dim = channels.has_value() ? channels->value : rules_.rotary_dim;
      record("rotated channels", str(out_.rotary_dim),
             channels.has_value() ? channels->origin : config_.default_origin());
    } else if (rules_.partial != 1.0) {
      record("partial rotary factor", number_text(rules_.partial), config_.default_origin());
    }
    if (nested.has_value() && top.has_value() && nested->origin.where != top->origin.where) {
      out_.ignored.push_back(
          {top->origin.where, number_text(top->value),
           nested->value == top->value
               ? str("same value as ", nested->origin.where, ", which is read")
               : str("shadowed by ", nested->origin.where, " = ", number_text(nested->value))});
    }
  }

  void read_alpha() {
    if (!rules_.dynamic_alpha || out_.type->scheme != "dynamic") {
      return;
    }
    if (const auto found = config_.setting(path("alpha")); found.has_value()) {
      out_.alpha = found->value;
      record("alpha", number_text(found->value), found->origin);
    }
  }

  // A type nobody described may use any of the names that families have for one thing.
  std::optional<Found<double>> any_name(std::initializer_list<const char*> names) {
    std::optional<Found<double>> found;
    for (const char* name : names) {
      if (!found.has_value() && !config_.known_type()) {
        found = config_.setting(name);
      }
    }
    return found;
  }

  void read_original() {
    if (out_.type->scheme == "dynamic" && max_position_ > 0) {
      out_.original = max_position_;
      record("original length", str(max_position_),
             {OriginKind::Derived, "max_position_embeddings"});
      return;
    }
    if (!reads("original_max_position_embeddings")) {
      return;
    }
    const char* name = "original_max_position_embeddings";
    const auto nested = setting(name);
    // At the top it wins over a flat block (Phi 3), and only fills in for one per layer kind.
    const bool per_kind = block_.find('.') != std::string::npos && nested.has_value();
    auto found = per_kind ? nested : config_.setting(name);
    if (found.has_value() && nested.has_value() && nested->value != found->value) {
      out_.ignored.push_back(
          {nested->origin.where, number_text(nested->value),
           str("shadowed by ", found->origin.where, " = ", number_text(found->value))});
    }
    found = found.has_value() ? found : nested;
    if (found.has_value() && found->value >= 1.0 &&
        found->value <= static_cast<double>(kMaxLength)) {
      out_.original = static_cast<int64_t>(found->value);
      record("original length", str(out_.original), found->origin);
    } else if (rules_.original > 0) {
      out_.original = rules_.original;
      record("original length", str(out_.original), config_.default_origin());
    } else if (max_position_ > 0) {
      out_.original = max_position_;
      record("original length", str(out_.original),
             {OriginKind::Assumed,
              "max_position_embeddings, as transformers takes it when the key "
              "is missing"});
    }
  }

  void read_factor() {
    const auto found = setting("factor");
    if (found.has_value()) {
      out_.factor = found->value;
      record("factor", number_text(found->value), found->origin);
    } else if (out_.type->scheme == "proportional") {
      out_.factor = 1.0;  // its default
    } else if (out_.original > 0 && max_position_ > 0) {
      out_.factor = static_cast<double>(max_position_) / static_cast<double>(out_.original);
      record("factor", number_text(out_.factor),
             {OriginKind::Derived, "max_position_embeddings / original length"});
    } else {
      record("factor", "1", {OriginKind::Assumed, "no factor in the file"});
    }
  }

  void read_extension() {
    take("attention_factor", out_.attention_factor);
    take("beta_fast", out_.beta_fast);
    take("beta_slow", out_.beta_slow);
    take("mscale", out_.mscale);
    take("mscale_all_dim", out_.mscale_all_dim);
    take("low_freq_factor", out_.low_freq_factor);
    take("high_freq_factor", out_.high_freq_factor);
    if (reads("truncate")) {
      const auto by_class = defaults_.find("truncate");
      Origin origin = config_.default_origin();
      out_.truncate = by_class == defaults_.end() || by_class->second != "false";
      if (const auto found = config_.flag_if(path("truncate")); found.has_value()) {
        out_.truncate = found->value;
        origin = found->origin;
      }
      record("truncate", out_.truncate ? "true" : "false", origin);
    }
    if (reads("short_factor")) {
      out_.short_factor = config_.list_if(path("short_factor"));
      out_.long_factor = config_.list_if(path("long_factor"));
      read_list_mscales();
    }
  }

  // Phi 3.5 MoE states the amplitude of each list; its class looks at nothing else.
  void read_list_mscales() {
    const auto short_one = rules_.list_mscales ? setting("short_mscale") : std::nullopt;
    const auto long_one = rules_.list_mscales ? setting("long_mscale") : std::nullopt;
    if (!short_one.has_value()) {
      return;
    }
    out_.attention_factor = short_one->value;
    record("attention_factor", number_text(short_one->value), short_one->origin);
    if (long_one.has_value() && long_one->value != short_one->value) {
      out_.long_attention_factor = long_one->value;
      record("attention_factor past the original length", number_text(long_one->value),
             long_one->origin);
    }
  }

  ConfigReader& config_;
  const Architecture& rules_;
  const LayerGroup& group_;
  int64_t max_position_;
  std::string block_;
  std::map<std::string, std::string> defaults_;
  RopeSettings out_;
};

}  // namespace

RopeSettings rope_settings(ConfigReader& config, const LayerGroup& group, int64_t max_position) {
  return Settings(config, group, max_position).read();
}

std::vector<std::string> rope_block_paths(const ConfigReader& config) {
  std::vector<std::string> paths = {kOld, kNew};
  if (!config.rules().own_block.empty()) {
    paths.push_back(config.rules().own_block);
  }
  for (const std::string& kind : nested_kinds(config)) {
    paths.push_back(str(kNew, ".", kind));
  }
  return paths;
}

}  // namespace gyre::inspect
