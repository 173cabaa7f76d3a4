// For the tests of public reports. CaseNN.Claim: NN numbers the report, whose repository stands in
// the comment above the suite. Expected numbers are those of the report's arithmetic in float64,
// given as printed there; what surrounds them is plain double arithmetic in the test.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "gyre/verify/probe.h"

namespace gyre::verify {

/// Whether `actual` rounds to the printed number at its last digit: "0.161323", "3.97222183e-05".
inline ::testing::AssertionResult rounds_to(double actual, const std::string& printed) {
  const size_t e = printed.find('e'), dot = printed.find('.');
  const size_t end = e == std::string::npos ? printed.size() : e;
  const auto decimals = dot == std::string::npos ? 0.0 : static_cast<double>(end - dot - 1);
  const double exponent = e == std::string::npos ? 0.0 : std::atof(printed.c_str() + e + 1);
  const double half_unit = 0.5 * std::pow(10.0, exponent - decimals);
  const double off = std::abs(actual - std::atof(printed.c_str()));
  if (off <= half_unit * (1.0 + 1e-6)) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure()
         << ::testing::PrintToString(actual) << " does not round to " << printed;
}

inline position::PositionPlan plan_at_length(const std::string& spec, int64_t head_dim,
                                             int64_t length) {
  position::PlanRequest request = request_of(head_dim);
  request.length = length;
  return sound_subject().plan(spec, request);
}

/// Frequencies of a layer's first group; a copy, so that a plan may be a temporary.
inline std::vector<double> bands_of(const position::PositionPlan& plan, size_t layer = 0) {
  return plan.layers.at(layer).inv_freq.at(0);
}

struct Placed {
  const position::PositionPlan& plan;
  int64_t position;
};

/// Angle from a rotated key to a rotated query in pair m, in (-pi, pi], through the subject.
inline double relative_phase(const Subject& subject, const Placed& query, const Placed& key,
                             int64_t m) {
  const auto turned = [&](const Placed& one) {
    Rows unit = zero_rows({1, 1, 1, one.plan.head_dim});
    unit.at(0, 0, 0, x_channel(one.plan, m)) = 1.0;
    return rotated(subject, {unit, unit}, {one.position}, one.plan);
  };
  const Rows q = turned(query).q, k = turned(key).k;
  const double qx = q.at(0, 0, 0, x_channel(query.plan, m));
  const double qy = q.at(0, 0, 0, y_channel(query.plan, m));
  const double kx = k.at(0, 0, 0, x_channel(key.plan, m));
  const double ky = k.at(0, 0, 0, y_channel(key.plan, m));
  return std::atan2(qy * kx - qx * ky, qx * kx + qy * ky);
}

/// Largest |cos - exact| or |sin - exact| of the subject's table at these positions.
inline double table_error(const Subject& subject, const position::PositionPlan& plan,
                          const std::vector<int64_t>& positions, bool exact) {
  const TableRows table = table_rows(subject, plan, positions, exact);
  const std::vector<double> bands = bands_of(plan);
  double worst = 0.0;
  for (size_t t = 0; t < positions.size(); ++t) {
    for (size_t m = 0; m < bands.size(); ++m) {
      const double theta = bands[m], amplitude = plan.layers[0].amplitude;
      worst =
          std::max({worst, std::abs(table.cos[t][m] - amplitude * exact_cos(theta, positions[t])),
                    std::abs(table.sin[t][m] - amplitude * exact_sin(theta, positions[t]))});
    }
  }
  return worst;
}

/// Keys that query i sees among n_keys, through the subject's attention: equal scores give every
/// seen key the same weight. The last n_queries tokens are queries, the others are in the cache.
inline std::vector<int64_t> seen_keys(const Subject& subject, const position::MaskSpec& mask,
                                      int64_t i, int64_t n_keys, int64_t n_queries) {
  position::LayerPlan layer;
  layer.mask = mask;
  const Turned still{zero_rows({1, 1, n_queries, 8}), zero_rows({1, 1, n_keys, 8})};
  const Rows weights = weights_of(subject, still, layer);
  std::vector<int64_t> out;
  for (int64_t j = 0; j < n_keys; ++j) {
    if (weights.at(0, 0, i - (n_keys - n_queries), j) > 0.0) {
      out.push_back(j);
    }
  }
  return out;
}

/// Tokens first .. first + n - 1 of every head.
inline Rows tokens_of(const Rows& rows, int64_t first, int64_t n) {
  Rows out = zero_rows({rows.n_batch, rows.n_heads, n, rows.head_dim});
  for (int64_t i = 0; i < static_cast<int64_t>(out.values.size()); ++i) {
    const int64_t d = i % rows.head_dim, t = i / rows.head_dim % n;
    const int64_t head = i / rows.head_dim / n;
    out.at(head / rows.n_heads, head % rows.n_heads, t, d) =
        rows.at(head / rows.n_heads, head % rows.n_heads, first + t, d);
  }
  return out;
}

}  // namespace gyre::verify
