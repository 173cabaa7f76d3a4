#include "gyre/analyze/catalogue.h"

#include <algorithm>
#include <cmath>

#include "gyre/analyze/usage.h"

namespace gyre::analyze {
namespace {

constexpr size_t kExamplesPerRole = 2;

/// Of query head h; its keys belong to the group it is in.
double high_share(const LayerRecord& record, size_t h) {
  const bool rotates = std::any_of(record.wavelength.begin(), record.wavelength.end(),
                                   [](double each) { return std::isfinite(each); });
  if (!rotates) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const size_t group = h * record.k_heads.size() / record.q_heads.size();
  return 0.5 * (shares_of(record.q_heads[h], record.wavelength).high25 +
                shares_of(record.k_heads[group], record.wavelength).high25);
}

HeadEntry entry_of(const LayerRecord& record, size_t h, double threshold) {
  HeadEntry entry;
  entry.layer = record.layer;
  entry.head = static_cast<int64_t>(h);
  entry.measured = record.heads[h];
  entry.high_share = high_share(record, h);
  Role best = Role::Diagonal;
  for (size_t r = 1; r < kRoles; ++r) {
    const Role role = static_cast<Role>(r);
    best = role_strength(entry.measured, role) > role_strength(entry.measured, best) ? role : best;
  }
  entry.score = role_strength(entry.measured, best);
  if (entry.score >= threshold) {
    entry.role = best;
  }
  return entry;
}

}  // namespace

double role_strength(const HeadRecord& head, Role role) {
  const double score = head.score[static_cast<size_t>(role)];
  return role == Role::Content ? (score - head.chance) / (1.0 - head.chance) : score;
}

Catalogue make_catalogue(const std::vector<LayerRecord>& layers, double threshold) {
  Catalogue out;
  out.threshold = threshold;
  std::vector<double> positional, other;
  for (const LayerRecord& record : layers) {
    auto& counts = out.counts.emplace_back();
    counts.fill(0);
    for (size_t h = 0; h < record.heads.size(); ++h) {
      const HeadEntry& entry = out.heads.emplace_back(entry_of(record, h, threshold));
      if (entry.role) {
        ++counts[static_cast<size_t>(*entry.role)];
      }
      out.n_strong += entry.positional() && entry.score > kStrongHead ? 1 : 0;
      if (std::isfinite(entry.high_share)) {
        (entry.positional() ? positional : other).push_back(entry.high_share);
      }
    }
  }
  out.high_positional = estimate(positional);
  out.high_other = estimate(other);
  return out;
}

std::vector<Example> strongest_patterns(const std::vector<LayerRecord>& layers, double threshold) {
  std::vector<Example> out;
  for (size_t role = 0; role < kRoles; ++role) {
    std::vector<Example> found;
    for (const LayerRecord& record : layers) {
      for (const Pattern& pattern : record.patterns) {
        if (pattern.role == role) {
          const HeadRecord& head = record.heads[static_cast<size_t>(pattern.head)];
          found.push_back(
              {record.layer, pattern, role_strength(head, static_cast<Role>(role)) >= threshold});
        }
      }
    }
    std::stable_sort(found.begin(), found.end(), [](const Example& a, const Example& b) {
      return a.pattern.score > b.pattern.score;
    });
    for (size_t i = 0; i < std::min(kExamplesPerRole, found.size()); ++i) {
      if (i == 0 || found[i].reaches) {
        out.push_back(found[i]);
      }
    }
  }
  return out;
}

}  // namespace gyre::analyze
