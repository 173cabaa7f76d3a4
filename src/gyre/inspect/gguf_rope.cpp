#include "gyre/inspect/gguf_rope.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gyre/base/error.h"
#include "gyre/base/options.h"
#include "gyre/position/extension.h"

namespace gyre::inspect {
namespace {

using position::Bands;
using position::PairLayout;

constexpr double kStill = 1e20;  // a divisor beyond this stops a pair; converters write 1e30

std::string text_of(double value) {
  return detail::format(value);
}

/// Reads one number of the extension and records it.
template <class T>
void take(GgufKeys& keys, const std::string& name, const char* field, double least, double most,
          T& value, GgufRope& rope) {
  if (const auto found = keys.number(name, least, most); found.has_value()) {
    value = found->value;
    rope.origins.push_back({field, text_of(found->value), found->origin});
  }
}

void read_factor(GgufKeys& keys, GgufRope& rope) {
  double factor = 0.0;
  const char* name = "rope.scaling.factor";
  take(keys, name, "factor", 0.0, 1e6, factor, rope);
  if (rope.origins.empty() || rope.origins.back().field != "factor") {
    name = "rope.scale_linear";  // the name before 2023-10
    take(keys, name, "factor", 0.0, 1e6, factor, rope);
  }
  if (factor != 0.0 && factor < 1e-6) {
    throw Error(Code::Format, keys.owner(), ": ", keys.full(name), " is ", factor,
                ", expected 0 or a number from 1e-06 to 1e+06");
  }
  rope.factor = factor == 0.0 ? 1.0 : factor;  // 0 = none, as llama.cpp has it
}

void read_original(GgufKeys& keys, int64_t context_length, GgufRope& rope) {
  if (const auto found = keys.size("rope.scaling.original_context_length", 0, int64_t{1} << 40U)) {
    rope.original = static_cast<double>(found->value);
    rope.origins.push_back({"original length", str(found->value), found->origin});
  } else if (context_length > 0 && (rope.yarn() || rope.type == "longrope")) {
    rope.original = static_cast<double>(context_length);
    rope.origins.push_back(
        {"original length",
         str(context_length),
         {OriginKind::Derived, keys.full("context_length") + ", as no original length is given"}});
  }
  if (rope.yarn() && !(rope.original > 0)) {
    throw Error(Code::Format, keys.owner(), ": ", keys.full("rope.scaling.type"),
                " is yarn, which needs rope.scaling.original_context_length or context_length");
  }
}

/// Numbers that multiply to the table before extension.
Bands plain_bands(const LayerKind& kind) {
  Bands bands(static_cast<size_t>(kind.n_pairs()));
  for (size_t m = 0; m < bands.size(); ++m) {
    bands[m] =
        std::pow(kind.base, -2.0 * static_cast<double>(m) / static_cast<double>(kind.rotary_dim));
  }
  return bands;
}

Bands divided_bands(Bands bands, const std::vector<double>& divisors) {
  for (size_t m = 0; m < bands.size() && m < divisors.size(); ++m) {
    bands[m] = divisors[m] >= kStill ? 0.0 : bands[m] / divisors[m];
  }
  return bands;
}

/// ggml's ramp runs over pair indices whatever the divisors are.
Bands extended_bands(const GgufRope& rope, const position::RampBounds& bounds, Bands bands) {
  const double span = std::max(0.001, bounds.high - bounds.low);
  for (size_t m = 0; m < bands.size(); ++m) {
    const double place = (static_cast<double>(m) - bounds.low) / span;
    const double kept = rope.yarn() ? rope.ext_factor * (1.0 - std::clamp(place, 0.0, 1.0)) : 0.0;
    bands[m] *= kept + (1.0 - kept) / rope.factor;
  }
  return bands;
}

/// llama-context.cpp and ggml's rope_yarn, multiplied out.
double amplitude_of(const GgufRope& rope, const GgufArchitecture& rules) {
  if (!rope.yarn() || rope.ext_factor == 0.0) {
    return rope.attn_factor;
  }
  const double all = rope.log_multiplier;
  if (all == 0.0) {
    return rope.attn_factor * position::yarn_mscale(rope.factor);
  }
  const double own = rules.latent && all != 1.0 ? all : 1.0;  // "mscale" is not stored
  return rope.attn_factor * position::yarn_mscale(rope.factor, own) /
         position::yarn_mscale(rope.factor, all);
}

/// Whether divisors are those of the llama3 rule with the usual bounds, or with Llama 4's step.
bool is_llama3(const std::vector<double>& divisors, const Bands& plain,
               position::Llama3Options& options) {
  options.factor = *std::max_element(divisors.begin(), divisors.end());
  if (!(options.factor > 1.0 && options.factor < 1e4)) {
    return false;
  }
  for (const double high : {4.0, 1.0}) {
    options.high_freq_factor = high;
    const Bands expected = position::llama3_bands(plain, options).bands;
    bool same = true;
    for (size_t m = 0; same && m < plain.size(); ++m) {
      same = std::abs(plain[m] / divisors[m] / expected[m] - 1.0) <= 1e-5;  // stored as floats
    }
    if (same) {
      return true;
    }
  }
  return false;
}

std::string list_text(const std::vector<double>& values) {
  std::string out = "[";
  for (const double value : values) {
    out += (out.size() > 1 ? "," : "") + text_of(value);
  }
  return out + "]";
}

/// "base=1000000,layout=halves" and, when part of the head rotates, "rotary=64".
std::string common_spec(const LayerKind& kind) {
  return "base=" + text_of(kind.base) +
         (kind.rotary_dim < kind.head_dim ? str(",rotary=", kind.rotary_dim) : "") +
         ",layout=" + layout_name(kind.layout);
}

void name_plain(LayerKind& kind) {
  if (kind.rotary_dim == kind.head_dim) {
    kind.scheme = "rope";
    kind.spec = "rope:" + common_spec(kind);
    return;
  }
  double fraction = static_cast<double>(kind.rotary_dim) / static_cast<double>(kind.head_dim);
  if (std::floor(fraction * static_cast<double>(kind.head_dim) / 2.0) <
      static_cast<double>(kind.n_pairs())) {
    fraction = std::nextafter(fraction, 1.0);
  }
  kind.scheme = "partial";
  kind.spec = str("partial:base=", text_of(kind.base), ",fraction=", text_of(fraction),
                  ",layout=", layout_name(kind.layout));
}

void name_divided(const GgufRope& rope, const Bands& plain, LayerKind& kind) {
  position::Llama3Options llama3;
  const auto n_still = std::count_if(rope.divisors.begin(), rope.divisors.end(),
                                     [](double d) { return d >= kStill; });
  const auto n_kept = std::count(rope.divisors.begin(), rope.divisors.end(), 1.0);
  if (is_llama3(rope.divisors, plain, llama3)) {
    kind.scheme = "llama3";
    kind.factor = llama3.factor;
    kind.spec = str("llama3:", common_spec(kind), ",factor=", text_of(llama3.factor),
                    ",low=1,high=", text_of(llama3.high_freq_factor), ",original=8192");
  } else if (n_still > 0 && n_still + n_kept == kind.n_pairs() &&
             kind.rotary_dim == kind.head_dim) {
    kind.scheme = "proportional";
    kind.spec = str(
        "proportional:base=", text_of(kind.base),
        ",p=", text_of((static_cast<double>(n_kept) + 0.5) / static_cast<double>(kind.n_pairs())),
        ",layout=", layout_name(kind.layout));
  } else {
    name_plain(kind);
    kind.spec.clear();  // no option holds a table of divisors
  }
}

/// Scheme, spec and rope_type; the table is there already.
void name_kind(const GgufRope& rope, bool scaled, bool divided, const Bands& plain,
               LayerKind& kind) {
  const bool extends = scaled && rope.factor != 1.0 && rope.known_type() && !rope.none();
  name_plain(kind);
  if (divided && !rope.shorts.empty()) {
    kind.scheme = "longrope";
    kind.spec = str("longrope:", common_spec(kind), ",short=", list_text(rope.shorts),
                    ",long=", list_text(rope.longs), ",original=", std::llround(rope.original),
                    ",attention_factor=", text_of(kind.plan.amplitude));
  } else if (divided && !rope.divisors.empty()) {
    name_divided(rope, plain, kind);
  } else if (extends && rope.yarn()) {
    kind.scheme = "yarn";
    kind.spec = str("yarn:", common_spec(kind), ",factor=", text_of(rope.factor),
                    ",original=", std::llround(rope.original),
                    ",beta_fast=", text_of(rope.beta_fast), ",beta_slow=", text_of(rope.beta_slow),
                    ",attention_factor=", text_of(kind.plan.amplitude));
  } else if (extends) {
    kind.scheme = "linear";
    kind.spec = str("linear:", common_spec(kind), ",factor=", text_of(rope.factor));
  }
  if (divided && extends && (!rope.shorts.empty() || !rope.divisors.empty())) {
    kind.spec.clear();  // two changes at once
  }
}

/// A table of divisors that can be used: one positive number for each pair.
std::string fault_of(const std::vector<double>& values, int64_t n_pairs) {
  if (values.size() != static_cast<size_t>(n_pairs)) {
    return str("it has ", values.size(), " divisors, there are ", n_pairs, " pairs");
  }
  for (size_t m = 0; m < values.size(); ++m) {
    if (!(values[m] > 0.0) || !std::isfinite(values[m])) {
      return str("divisor of pair ", m, " is ", values[m]);
    }
  }
  return "";
}

}  // namespace

GgufRope read_gguf_rope(GgufKeys& keys, const GgufArchitecture& rules, int64_t context_length) {
  GgufRope rope;
  if (const auto type = keys.text("rope.scaling.type"); type.has_value()) {
    rope.type = type->value;
    rope.origins.push_back({"rope type", type->value, type->origin});
  }
  read_factor(keys, rope);
  read_original(keys, context_length, rope);
  take(keys, "rope.scaling.attn_factor", "attention factor", 1e-6, 1e6, rope.attn_factor, rope);
  if (rope.yarn()) {
    take(keys, "rope.scaling.yarn_beta_fast", "beta_fast", 1e-6, 1e9, rope.beta_fast, rope);
    take(keys, "rope.scaling.yarn_beta_slow", "beta_slow", 1e-6, 1e9, rope.beta_slow, rope);
    double ext = -1.0;
    take(keys, "rope.scaling.yarn_ext_factor", "yarn_ext_factor", -1.0, 1.0, ext, rope);
    rope.ext_factor = ext < 0.0 ? 1.0 : ext;
    take(keys, "rope.scaling.yarn_log_multiplier", "mscale_all_dim", 0.0, 10.0, rope.log_multiplier,
         rope);
    if (rules.latent && rope.log_multiplier != 0.0) {
      // For these the converter stores a tenth of mscale_all_dim; a float's 0.1 is undone to
      // digits.
      rope.log_multiplier = std::round(rope.log_multiplier * 1e7) / 1e6;
      rope.origins.back().value = text_of(rope.log_multiplier);
      rope.origins.back().origin.where += " times 10";
    }
  }
  (void)keys.number("rope.scaling.finetuned");
  return rope;
}

void read_gguf_tables(std::span<const tensor::GgufFile* const> parts, int64_t n_pairs,
                      GgufRope& rope, ResolvedModel& model) {
  const std::pair<const char*, std::vector<double>*> tables[] = {
      {"rope_freqs.weight", &rope.divisors},
      {"rope_factors_short.weight", &rope.shorts},
      {"rope_factors_long.weight", &rope.longs}};
  for (const auto& [name, values] : tables) {
    const auto holder = std::find_if(
        parts.begin(), parts.end(),
        [name = name](const tensor::GgufFile* part) { return part->find(name) != nullptr; });
    if (holder == parts.end()) {
      continue;
    }
    const tensor::GgufTensor* tensor = (*holder)->find(name);
    *values = (*holder)->load_small(*tensor);
    model.tables.push_back({name, tensor::ggml_type_name(tensor->type), *values});
    if (const std::string fault = fault_of(*values, n_pairs); !fault.empty()) {
      model.ignored.push_back({name, str(values->size(), " values"), fault});
      values->clear();
    }
  }
  if (rope.shorts.empty() != rope.longs.empty()) {
    model.ignored.push_back(
        {rope.shorts.empty() ? "rope_factors_long.weight" : "rope_factors_short.weight", "",
         "llama.cpp needs both lists"});
    rope.shorts.clear();
    rope.longs.clear();
  }
}

void apply_gguf_rope(const GgufRope& rope, const GgufArchitecture& rules, bool scaled, bool divided,
                     LayerKind& kind) {
  const bool extends = scaled && rope.known_type() && !rope.none();
  kind.rope_type = scaled ? rope.type : "";
  kind.factor = scaled ? rope.factor : 1.0;
  const Bands plain = plain_bands(kind);
  position::RampBounds bounds;
  if (extends && rope.yarn()) {
    // ggml always rounds them outwards: a config's "truncate": false has no key here.
    bounds = position::yarn_ramp_bounds(kind.base, kind.rotary_dim,
                                        {rope.original, rope.beta_fast, rope.beta_slow, true});
    kind.ramp_low = bounds.low;
    kind.ramp_high = bounds.high;
  }
  const auto table = [&](const std::vector<double>& divisors) {
    Bands bands = divided ? divided_bands(plain, divisors) : plain;
    return extends ? extended_bands(rope, bounds, std::move(bands)) : bands;
  };
  const bool lists = divided && !rope.shorts.empty();
  kind.plan.inv_freq = {table(lists ? rope.shorts : rope.divisors)};
  kind.plan.amplitude = extends ? amplitude_of(rope, rules) : 1.0;
  if (rope.none() && scaled) {
    kind.plan.amplitude = rope.attn_factor;
  }
  if (rules.latent && extends && rope.yarn() && rope.log_multiplier != 0.0) {
    kind.plan.logit_scale = std::pow(kind.plan.amplitude, 2) *
                            position::yarn_softmax_correction(rope.factor, rope.log_multiplier);
    kind.origins.push_back(
        {"softmax scale",
         text_of(kind.plan.logit_scale),
         {OriginKind::Derived, "m(mscale_all_dim)^2, as llama.cpp computes it"}});
  }
  if (lists) {
    kind.long_inv_freq = table(rope.longs);
    kind.length_rule =
        str("llama.cpp chooses by the context it allocates, not by the prompt: "
            "rope_factors_long.weight for every token when that exceeds ",
            std::llround(rope.original), ", else rope_factors_short.weight");
  }
  name_kind(rope, scaled, divided, plain, kind);
}

}  // namespace gyre::inspect
