// PositionPlan as text: JSON both ways, the mask grammar, and the wavelength of a frequency.
#include "gyre/position/plan.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>

#include "gyre/base/error.h"

namespace gyre::position {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "gyre.plan/1";

template <class E>
const char* name_of(E value) {
  for (const auto& [known, text] : EnumNames<E>::list) {
    if (known == value) {
      return text;
    }
  }
  return "?";
}

// Reads one JSON object member by member, so that a missing, misspelled or left-over key is named.
class Reader {
 public:
  Reader(const Json& object, std::string owner) : object_(object), owner_(std::move(owner)) {
    if (!object.is_object()) {
      throw Error(Code::Format, owner_, ": expected a JSON object");
    }
  }

  // A key that older files lack: `value` keeps its default.
  template <class T>
  void read_optional(const char* key, T& value) {
    if (object_.contains(key)) {
      read(key, value);
    } else {
      seen_.emplace_back(key);
    }
  }

  const Json& member(const char* key) {
    seen_.emplace_back(key);
    if (!object_.contains(key)) {
      throw Error(Code::Format, owner_, ": no '", key, "' in the position plan");
    }
    return object_.at(key);
  }

  template <class T>
  void read(const char* key, T& value) {
    try {
      value = member(key).template get<T>();
    } catch (const Json::exception&) {
      throw Error(Code::Format, owner_, ": '", key, "' has the wrong type: ", member(key).dump());
    }
  }

  template <class E>
  void read_enum(const char* key, E& value) {
    std::string text;
    read(key, text);
    for (const auto& [known, name] : EnumNames<E>::list) {
      if (text == name) {
        value = known;
        return;
      }
    }
    throw Error(Code::Format, owner_, ": '", key, "' has an unknown value '", text, "'");
  }

  void finish() const {
    for (const auto& [key, value] : object_.items()) {
      if (std::find(seen_.begin(), seen_.end(), key) == seen_.end()) {
        const std::string near = nearest_name(key, seen_);
        throw Error(Code::Format, owner_, ": unknown key '", key, "' in the position plan",
                    near.empty() ? "" : "; did you mean '" + near + "'?");
      }
    }
  }

 private:
  const Json& object_;
  std::string owner_;
  std::vector<std::string> seen_;
};

Json layer_to_json(const LayerPlan& layer) {
  return Json{{"inv_freq", layer.inv_freq},
              {"amplitude", layer.amplitude},
              {"logit_scale", layer.logit_scale},
              {"score_cap", layer.score_cap},
              {"slopes", layer.slopes},
              {"decay", layer.decay},
              {"query_growth", layer.query_growth},
              {"query_growth_floor", layer.query_growth_floor},
              {"mask", Json{{"window", layer.mask.window},
                            {"dilation", layer.mask.dilation},
                            {"n_global", layer.mask.n_global},
                            {"chunk", layer.mask.chunk}}}};
}

LayerPlan layer_from_json(const Json& json, const std::string& owner) {
  LayerPlan layer;
  Reader reader(json, owner);
  reader.read("inv_freq", layer.inv_freq);
  reader.read("amplitude", layer.amplitude);
  reader.read("logit_scale", layer.logit_scale);
  reader.read_optional("score_cap", layer.score_cap);
  reader.read("slopes", layer.slopes);
  reader.read_optional("decay", layer.decay);
  reader.read_optional("query_growth", layer.query_growth);
  reader.read_optional("query_growth_floor", layer.query_growth_floor);
  Reader mask(reader.member("mask"), owner);
  mask.read("window", layer.mask.window);
  mask.read("dilation", layer.mask.dilation);
  mask.read("n_global", layer.mask.n_global);
  mask.read_optional("chunk", layer.mask.chunk);
  mask.finish();
  reader.finish();
  return layer;
}

[[noreturn]] void bad_mask(std::string_view text, std::string_view why) {
  throw Error(Code::Usage, "mask '", text, "': ", why,
              "; use full, window:128, dilated:64x4, chunk:8192, window:128+global:4, or several "
              "with '/'");
}

int64_t positive(std::string_view digits, std::string_view text) {
  int64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, value);
  if (digits.empty() || result.ec != std::errc() || result.ptr != end || value < 1 ||
      value > (int64_t{1} << 40)) {
    bad_mask(text, str("expected a positive whole number, got '", digits, "'"));
  }
  return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

void parse_window(std::string_view part, std::string_view text, MaskSpec& mask) {
  if (part == "full") {
    return;
  }
  if (part.starts_with("window:")) {
    mask.window = positive(part.substr(7), text);
  } else if (part.starts_with("dilated:")) {
    const auto sizes = split(part.substr(8), 'x');
    if (sizes.size() != 2) {
      bad_mask(text, str("expected KEYSxDISTANCE, got '", part.substr(8), "'"));
    }
    mask.window = positive(sizes[0], text);
    mask.dilation = positive(sizes[1], text);
  } else if (part.starts_with("chunk:")) {
    mask.chunk = positive(part.substr(6), text);
  } else {
    bad_mask(text, str("unknown mask '", part, "'"));
  }
}

MaskSpec parse_mask(std::string_view one, std::string_view text) {
  MaskSpec mask;
  const auto parts = split(one, '+');
  parse_window(parts[0], text, mask);
  if (parts.size() == 1) {
    return mask;
  }
  if (parts.size() > 2 || !parts[1].starts_with("global:")) {
    bad_mask(text, str("expected one '+global:N' after '", parts[0], "'"));
  }
  if (mask.full()) {
    bad_mask(text, "global tokens change nothing under a full mask");
  }
  mask.n_global = positive(parts[1].substr(7), text);
  return mask;
}

void check_finite(double value) {
  if (!std::isfinite(value)) {
    throw Error(Code::Format, "position plan: cannot store the value ", value, " as JSON");
  }
}

}  // namespace

double wavelength_tokens(double inv_freq) {
  return inv_freq == 0.0 ? std::numeric_limits<double>::infinity()
                         : 2.0 * std::numbers::pi / inv_freq;
}

std::string plan_to_json(const PositionPlan& plan) {
  Json layers = Json::array();
  for (const LayerPlan& layer : plan.layers) {
    for (const auto& group : layer.inv_freq) {
      std::for_each(group.begin(), group.end(), check_finite);
    }
    std::for_each(layer.slopes.begin(), layer.slopes.end(), check_finite);
    std::for_each(layer.decay.begin(), layer.decay.end(), check_finite);
    for (const double value : {layer.amplitude, layer.logit_scale, layer.score_cap,
                               layer.query_growth, layer.query_growth_floor}) {
      check_finite(value);
    }
    layers.push_back(layer_to_json(layer));
  }
  const Json json{{"schema", kSchema},
                  {"layout", name_of(plan.layout)},
                  {"head_dim", plan.head_dim},
                  {"rotary_dim", plan.rotary_dim},
                  {"learning", Json{{"sharing", name_of(plan.learning.sharing)},
                                    {"lr", plan.learning.lr},
                                    {"clip", plan.learning.clip}}},
                  {"slope_convention", plan.slope_convention},
                  {"length_rule", plan.length_rule},
                  {"holds_to", plan.holds_to},
                  {"layers", std::move(layers)}};
  return json.dump();
}

const char* layout_name(PairLayout layout) {
  return name_of(layout);
}

PositionPlan plan_from_json(const std::string& text, const std::string& owner) {
  const Json json = Json::parse(text, nullptr, false);
  PositionPlan plan;
  Reader reader(json, owner);
  std::string schema;
  reader.read("schema", schema);
  if (schema != kSchema) {
    throw Error(Code::Format, owner, ": position plan has schema '", schema, "', expected '",
                kSchema, "'");
  }
  reader.read_enum("layout", plan.layout);
  reader.read("head_dim", plan.head_dim);
  reader.read("rotary_dim", plan.rotary_dim);
  Reader learning(reader.member("learning"), owner);
  learning.read_enum("sharing", plan.learning.sharing);
  learning.read("lr", plan.learning.lr);
  learning.read("clip", plan.learning.clip);
  learning.finish();
  reader.read("slope_convention", plan.slope_convention);
  reader.read_optional("length_rule", plan.length_rule);
  reader.read_optional("holds_to", plan.holds_to);
  const Json& layers = reader.member("layers");
  if (!layers.is_array()) {
    throw Error(Code::Format, owner, ": 'layers' of the position plan is not a list");
  }
  for (const Json& layer : layers) {
    plan.layers.push_back(layer_from_json(layer, owner));
  }
  reader.finish();
  return plan;
}

std::vector<MaskSpec> parse_masks(std::string_view text, int64_t n_layers) {
  std::vector<MaskSpec> cycle;
  for (const std::string_view one : split(text, '/')) {
    cycle.push_back(parse_mask(one, text));
  }
  if (static_cast<int64_t>(cycle.size()) > n_layers) {
    bad_mask(text, str("alternates over ", cycle.size(), " layers, the model has ", n_layers));
  }
  std::vector<MaskSpec> masks;
  for (int64_t n = 0; n < n_layers; ++n) {
    masks.push_back(cycle[static_cast<size_t>(n) % cycle.size()]);
  }
  return masks;
}

}  // namespace gyre::position
