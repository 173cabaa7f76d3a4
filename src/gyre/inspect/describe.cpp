// The terminal text of gyre inspect.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "gyre/base/error.h"
#include "gyre/inspect/config_reader.h"
#include "gyre/inspect/inspect.h"
#include "gyre/inspect/spectrum.h"

namespace gyre::inspect {
namespace {

constexpr size_t kLabel = 18;  // column of values
constexpr size_t kMaxValue = 60;

std::string short_number(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer,
                std::abs(value) >= 1e5 && value == std::floor(value) && std::abs(value) < 1e15
                    ? "%.0f"
                    : "%.6g",
                value);
  return buffer;
}

std::string cut(const std::string& text) {
  const std::string clean = printable(text);
  return clean.size() > kMaxValue ? clean.substr(0, kMaxValue) + "..." : clean;
}

std::string pad(std::string text, size_t width) {
  text.resize(std::max(text.size() + 1, width), ' ');
  return text;
}

std::string line(const std::string& label, const std::string& value) {
  return "  " + pad(label, kLabel) + value + "\n";
}

std::string head(const ResolvedModel& model) {
  std::string out = printable(model.path) + ": ";
  out += model.model_type.empty() ? "no model_type" : printable(model.model_type);
  out += ", " + printable(model.reader) + "\n";
  if (!model.known_type && model.source != SourceKind::Safetensors) {
    out +=
        "  model type not known: resolved by what the keys say; which channels form a pair is not "
        "stated\n";
  }
  out += str("  ", model.n_layers, model.n_layers == 1 ? " layer" : " layers");
  out += model.hidden > 0 ? str(", hidden size ", model.hidden) : "";
  out += model.dtype.empty() ? "" : ", " + printable(model.dtype);
  out += model.original_length > 0 ? str(", original length ", model.original_length)
                                   : ", original length not stated";
  out += model.max_length > 0 ? str(", admits ", model.max_length, " tokens") : "";
  return out + "\n";
}

std::string dims(const LayerKind& kind) {
  std::string out = str(kind.head_dim, " channels");
  if (kind.rotary_dim == 0) {
    return out + ", none rotates";
  }
  if (kind.rotary_dim % 2 != 0) {
    return out +
           str(", ", kind.rotary_dim, " to rotate: an odd number forms no pairs, readers stop");
  }
  const int64_t P = kind.n_pairs();
  out += kind.rotary_dim == kind.head_dim ? ", all rotate" : str(", ", kind.rotary_dim, " rotate");
  out += str(": ", P, P == 1 ? " pair, " : " pairs, ", layout_name(kind.layout));
  switch (kind.layout) {
    case position::PairLayout::Halves:
      return out + str(" (0,", P, ") (1,", P + 1, ") ...");
    case position::PairLayout::Interleaved:
      return out + " (0,1) (2,3) ...";
    case position::PairLayout::Unstated:
      return out + " (halves or interleaved, the file does not say)";
  }
  return out;
}

// First, second, slowest that rotates.
std::string ends(const std::vector<double>& values, const char* unit) {
  std::string out;
  size_t last = values.size();
  while (last > 0 && !(values[last - 1] != 0.0 && std::isfinite(values[last - 1]))) {
    --last;
  }
  if (last == 0) {
    return str("none is a finite number of ", unit);
  }
  for (const size_t m : {size_t{0}, size_t{1}, last - 1}) {
    if (m < last && (m < 2 || last > 2)) {
      out += str(out.empty() ? "" : m == 1 ? ", " : " ... ", "[", m, "] ", short_number(values[m]));
    }
  }
  out += str(" ", unit);
  const size_t still = static_cast<size_t>(std::count(values.begin(), values.end(), 0.0));
  return still > 0 ? out + str("; ", still, still == 1 ? " pair does" : " pairs do", " not rotate")
                   : out;
}

std::string turns_line(const std::vector<double>& bands, int64_t length) {
  std::vector<double> counts;
  for (const double theta : bands) {
    counts.push_back(turns(theta, length));
  }
  const auto unfinished = unfinished_pairs(bands, length);
  std::string out = ends(counts, "turns");
  out += unfinished.empty() ? "; every pair completes one"
                            : str("; never complete one: pairs ", ranges(unfinished), " (",
                                  unfinished.size(), " of ", bands.size(), ")");
  return out;
}

std::string extension_line(const LayerKind& kind) {
  const auto moved = moved_pairs(kind, bands_of(kind));
  const std::string when =
      kind.length_rule.empty() ? "at every length, short prompts too" : "see length rule";
  std::string out = moved.empty() ? "moves no pair"
                                  : str("moves pairs ", ranges(moved), " (", moved.size(), " of ",
                                        kind.n_pairs(), ")");
  if (!kind.long_inv_freq.empty()) {
    const auto late = moved_pairs(kind, kind.long_inv_freq);
    out += str(" on short sequences, ", ranges(late), " (", late.size(), ") on long ones");
  } else if (!moved.empty()) {
    out += ", " + when;
  }
  if (kind.ramp_low != 0.0 || kind.ramp_high != 0.0) {
    out +=
        str("; ramp from pair ", short_number(kind.ramp_low), " to ", short_number(kind.ramp_high));
  }
  return out;
}

// "" when one amplitude holds at every length.
std::string late_amplitude(const LayerKind& kind, const ResolvedModel& model) {
  const double late = kind.long_amplitude;
  return late == 0.0 ? ""
                     : str("; past ", model.original_length, " tokens ", number_text(late),
                           ", logits x", short_number(late * late));
}

std::string rotation(const LayerKind& kind, const ResolvedModel& model) {
  const std::vector<double>& bands = bands_of(kind);
  if (bands.empty()) {
    return "";
  }
  std::vector<double> waves;
  std::transform(bands.begin(), bands.end(), std::back_inserter(waves),
                 position::wavelength_tokens);
  std::string out =
      line("base", short_number(kind.base) +
                       (kind.factor != 1.0 ? ", factor " + short_number(kind.factor) : ""));
  out += line("frequencies", ends(bands, "rad per token"));
  out += line("wavelengths", ends(waves, "tokens"));
  if (!kind.long_inv_freq.empty()) {
    out += line("beyond original", ends(kind.long_inv_freq, "rad per token"));
  }
  if (model.original_length > 0) {
    out += line(str("in ", model.original_length), turns_line(bands, model.original_length));
  }
  if (model.max_length > 0 && model.max_length != model.original_length) {
    out +=
        line(str("in ", model.max_length),
             turns_line(kind.long_inv_freq.empty() ? bands : kind.long_inv_freq, model.max_length));
  }
  const double amplitude = kind.plan.amplitude;
  if (kind.factor != 1.0 || amplitude != 1.0) {
    out += line("extension", extension_line(kind));
  }
  out += line("amplitude", str(number_text(amplitude), " on rotated q and k, logits x",
                               short_number(amplitude * amplitude), late_amplitude(kind, model)));
  return out;
}

std::string mask_line(const LayerKind& kind) {
  const position::MaskSpec& mask = kind.plan.mask;
  if (mask.chunk > 0) {
    return str("keys of the query's own chunk of ", mask.chunk, " tokens");
  }
  if (mask.full()) {
    return "none, all earlier tokens are seen";
  }
  return kind.window_convention.empty() ? str(mask.window, " keys") : kind.window_convention;
}

std::string describe_kind(const LayerKind& kind, const ResolvedModel& model) {
  std::string out =
      str("\n", printable(kind.name), ": ", kind.layers.size(),
          kind.layers.size() == 1 ? " layer (" : " layers (", ranges(kind.layers), ")\n");
  std::string scheme = kind.scheme;
  if (!kind.rope_type.empty() && kind.rope_type != kind.scheme) {
    scheme += " (the file says '" + cut(kind.rope_type) + "')";
  }
  out += line("scheme", scheme);
  out += line("head", dims(kind));
  out += line("heads", str(kind.n_heads, " query, ", kind.n_kv_heads, " key/value"));
  out += rotation(kind, model);
  if (!kind.plan.slopes.empty()) {
    out += line("slopes", ends(kind.plan.slopes, "per token of distance"));
  }
  if (!kind.plan.decay.empty()) {
    out += line("decay", ends(kind.plan.decay, "nats per token of distance, of that pair's score"));
  }
  if (kind.plan.query_growth != 0.0) {
    out += line("query growth",
                str("queries x 1 + ", short_number(kind.plan.query_growth), " ln(1 + floor((i+1)/",
                    short_number(kind.plan.query_growth_floor), "))"));
  }
  if (kind.plan.logit_scale != 1.0) {
    out += line("softmax scale", str("x", number_text(kind.plan.logit_scale),
                                     " besides 1/sqrt(width), on all channels of the head"));
  }
  out += line("window", mask_line(kind));
  if (!kind.length_rule.empty()) {
    out += line("length rule", printable(kind.length_rule));
  }
  return out;
}

std::string origin_rows(const std::vector<Provenance>& origins, const std::string& kind) {
  std::string out;
  for (const Provenance& one : origins) {
    out += "  " + pad(kind.empty() ? one.field : kind + " " + one.field, 40) +
           pad(cut(one.value), 26) + name_of(one.origin.kind);
    out += one.origin.where.empty() ? "\n" : " " + printable(one.origin.where) + "\n";
  }
  return out;
}

std::string describe_findings(const std::vector<Finding>& findings) {
  if (findings.empty()) {
    return "\nno findings\n";
  }
  std::string out = "\nfindings\n";
  for (const Finding& one : findings) {
    out += str("  ", pad(name_of(one.severity), 8), one.id, "  ", printable(one.key),
               "\n          ", printable(one.message), "\n");
  }
  return out;
}

}  // namespace

std::string describe(const ResolvedModel& model, const std::vector<Finding>& findings) {
  std::string out = head(model);
  for (const LayerKind& kind : model.kinds) {
    out += describe_kind(kind, model);
  }
  std::string rows = origin_rows(model.origins, "");
  for (const LayerKind& kind : model.kinds) {
    rows += origin_rows(kind.origins, model.kinds.size() > 1 ? kind.name : "");
  }
  out += rows.empty() ? "" : "\nwhere values come from\n" + rows;
  for (const ResolvedModel::Table& table : model.tables) {
    out += str(&table == &model.tables.front() ? "\ntables in the file\n" : "", "  ",
               printable(table.name), "  ", table.dtype, "  ", table.values.size(), " values\n");
  }
  if (!model.ignored.empty()) {
    out += "\nread by nobody or without effect\n";
    for (const IgnoredKey& key : model.ignored) {
      out += str("  ", printable(key.key), key.value.empty() ? "" : " = " + cut(key.value), ": ",
                 printable(key.reason), "\n");
    }
  }
  return out + describe_findings(findings);
}

}  // namespace gyre::inspect
