#include "gyre/inspect/spectrum.h"

#include <cmath>
#include <numbers>

#include "gyre/base/error.h"
#include "gyre/position/schemes/common.h"

namespace gyre::inspect {
namespace {

// Two ways to compute one power differ by a few units in the last place.
constexpr double kSame = 1e-12;

}  // namespace

const std::vector<double>& bands_of(const LayerKind& kind) {
  static const std::vector<double> kNone;
  return kind.plan.inv_freq.empty() ? kNone : kind.plan.inv_freq[0];
}

std::vector<double> unextended_bands(const LayerKind& kind) {
  const std::vector<double>& bands = bands_of(kind);
  if (bands.empty() || !(kind.base > 1.0)) {
    return bands;
  }
  auto plain = position::geometric_bands(kind.base, kind.n_pairs(), kind.rotary_dim);
  for (size_t m = 0; m < plain.size(); ++m) {
    plain[m] = bands[m] == 0.0 ? 0.0 : plain[m];
  }
  return plain;
}

double turns(double inv_freq, int64_t length) {
  return static_cast<double>(length) * inv_freq / (2.0 * std::numbers::pi);
}

std::vector<int64_t> unfinished_pairs(const std::vector<double>& bands, int64_t length) {
  std::vector<int64_t> pairs;
  for (size_t m = 0; m < bands.size(); ++m) {
    if (bands[m] > 0.0 && turns(bands[m], length) < 1.0) {
      pairs.push_back(static_cast<int64_t>(m));
    }
  }
  return pairs;
}

std::vector<int64_t> moved_pairs(const LayerKind& kind, const std::vector<double>& bands) {
  const std::vector<double> plain = unextended_bands(kind);
  std::vector<int64_t> pairs;
  for (size_t m = 0; m < bands.size() && m < plain.size(); ++m) {
    if (std::abs(bands[m] - plain[m]) > kSame * plain[m]) {
      pairs.push_back(static_cast<int64_t>(m));
    }
  }
  return pairs;
}

std::string ranges(const std::vector<int64_t>& numbers) {
  std::string out;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) {
      ++last;
    }
    out += str(out.empty() ? "" : ", ", numbers[i]);
    out += last > i ? str("-", numbers[last]) : "";
    i = last + 1;
  }
  return out.empty() ? "none" : out;
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  return out;
}

const char* name_of(SourceKind source) {
  switch (source) {
    case SourceKind::Config:
      return "config";
    case SourceKind::Folder:
      return "folder";
    case SourceKind::Safetensors:
      return "safetensors";
    case SourceKind::Gguf:
      return "gguf";
    case SourceKind::Run:
      break;
  }
  return "run";
}

const char* name_of(OriginKind origin) {
  switch (origin) {
    case OriginKind::Key:
      return "key";
    case OriginKind::NestedKey:
      return "nested key";
    case OriginKind::ClassDefault:
      return "class default";
    case OriginKind::Derived:
      return "derived";
    case OriginKind::Tensor:
      return "tensor";
    case OriginKind::Assumed:
      break;
  }
  return "assumed";
}

const char* name_of(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return "error";
    case Severity::Warning:
      return "warning";
    case Severity::Note:
      break;
  }
  return "note";
}

}  // namespace gyre::inspect
