#include "gyre/inspect/lint/tables.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

bool is_other_tower(const std::string& name) {
  return contains(name, "vis") || contains(name, "audio") || contains(name, "image");
}

}  // namespace

// "rope.freqs": checkpoints as Meta released them.
bool is_inv_freq(const ResolvedModel::Table& table) {
  return (contains(table.name, "inv_freq") || table.name.ends_with("rope.freqs")) &&
         !is_other_tower(table.name);
}

bool is_angle_cache(const ResolvedModel::Table& table) {
  return (contains(table.name, "cos_cache") || contains(table.name, "sin_cache") ||
          contains(table.name, "cos_sin_cache")) &&
         !is_other_tower(table.name);
}

std::vector<std::vector<double>> expected_tables(const ResolvedModel& model, size_t n) {
  std::vector<std::vector<double>> tables;
  const auto add = [&tables, n](const std::vector<double>& table) {
    if (table.size() == n) {
      tables.push_back(table);
    }
  };
  for (const LayerKind& kind : model.kinds) {
    for (const std::vector<double>& row : kind.plan.inv_freq) {
      add(row);
    }
    add(kind.long_inv_freq);
    if (kind.base > 1.0 && kind.rotary_dim > 0) {
      add(plain_table(kind));
    }
  }
  return tables;
}

Difference difference(const std::vector<double>& a, const std::vector<double>& b) {
  Difference worst;
  for (size_t m = 0; m < std::min(a.size(), b.size()); ++m) {
    if (a[m] == b[m]) {
      continue;
    }
    const double relative =
        b[m] == 0.0 ? std::numeric_limits<double>::infinity() : std::abs(a[m] / b[m] - 1.0);
    if (!(relative <= worst.relative * (1.0 + 1e-9))) {  // the first of equals; NaN is worst
      worst = {relative, m};
    }
  }
  return worst;
}

Half half_of(const std::string& dtype) {
  if (contains(dtype, "bf16") || contains(dtype, "BF16") || contains(dtype, "bfloat16")) {
    return Half::Bf16;
  }
  return dtype == "F16" || contains(dtype, "float16") || contains(dtype, "fp16") ||
                 contains(dtype, "half")
             ? Half::Fp16
             : Half::None;
}

const char* half_name(Half half) {
  return half == Half::Bf16 ? "bfloat16" : half == Half::Fp16 ? "float16" : "float32";
}

double rounded(double value, Half half) {
  return half == Half::Bf16   ? round_to_bf16(value)
         : half == Half::Fp16 ? round_to_fp16(value)
                              : static_cast<double>(static_cast<float>(value));
}

PhaseError phase_error(const std::vector<double>& exact, double position, Half half,
                       bool round_position) {
  PhaseError worst;
  const double stored = round_position ? rounded(position, half) : position;
  for (size_t m = 0; m < exact.size(); ++m) {
    const double rad = std::abs(position * exact[m] - stored * rounded(exact[m], half));
    if (rad > worst.rad) {
      worst = {rad, m};
    }
  }
  return worst;
}

std::vector<Finding> merge_alike(std::vector<Finding> findings) {
  std::vector<Finding> merged;
  std::vector<size_t> counts;
  for (Finding& one : findings) {
    const auto same = std::find_if(merged.begin(), merged.end(), [&one](const Finding& other) {
      return other.message == one.message && other.severity == one.severity;
    });
    if (same == merged.end()) {
      merged.push_back(std::move(one));
      counts.push_back(0);
    } else {
      ++counts[static_cast<size_t>(same - merged.begin())];
    }
  }
  for (size_t i = 0; i < merged.size(); ++i) {
    merged[i].key += counts[i] == 0 ? "" : str(" and ", counts[i], " more");
  }
  return merged;
}

}  // namespace gyre::inspect
