// Checks of one scheme's plan, whatever it holds: read from the plan alone.
#include <algorithm>

#include "gyre/base/error.h"
#include "gyre/verify/battery.h"
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

using position::LayerPlan;
using position::PositionPlan;

constexpr int64_t kTokens = 40, kHeads = 4, kGroups = 2, kDim = 64;

Check named(const char* id, const char* claim, const char* title, const char* source,
            CheckResult result) {
  result.id = id;
  return {id, claim, title, source, std::move(result)};
}

Keyed random_rows() {
  return {normal_rows("scheme q", {1, kHeads, kTokens, kDim}),
          normal_rows("scheme k", {1, kGroups, kTokens, kDim}),
          normal_rows("scheme v", {1, kGroups, kTokens, kDim})};
}

CheckResult sane_table(const PositionPlan& plan) {
  Tally tally;
  for (size_t n = 0; n < plan.layers.size(); ++n) {
    const LayerPlan& layer = plan.layers[n];
    for (const auto& bands : layer.inv_freq) {
      tally.require(static_cast<int64_t>(bands.size()) == plan.n_pairs(), "layer ", n, ": ",
                    bands.size(), " pairs of ", plan.n_pairs());
      for (size_t m = 0; m < bands.size(); ++m) {
        tally.require(std::isfinite(bands[m]) && bands[m] >= 0.0, "layer ", n, ", pair ", m, ": ",
                      bands[m], " rad per token");
      }
    }
    tally.require(layer.slopes.empty() || static_cast<int64_t>(layer.slopes.size()) == kHeads,
                  "layer ", n, ": slopes of every head");
    tally.require(layer.amplitude > 0.0 && layer.logit_scale > 0.0, "layer ", n,
                  ": amplitude and scale");
  }
  return tally.result(str(plan.layers.size(), " layers, ", plan.n_pairs(), " pairs of ",
                          plan.head_dim, " channels, amplitude ", plan.layers[0].amplitude));
}

CheckResult same_as_reference(const Subject& subject, const PositionPlan& plan) {
  Tally tally;
  const Keyed raw = random_rows();
  const auto positions = count_from(0, kTokens);
  for (size_t n = 0; n < plan.layers.size(); ++n) {
    const Rows expected = attention::reference_attention(
        {raw.q, raw.k, raw.v, positions, positions, plan.layout, plan.layers[n]});
    const Turned turned =
        rotated(subject, {raw.q, raw.k}, positions, plan, static_cast<int64_t>(n));
    const Rows out = attended(subject, {turned.q, turned.k, raw.v}, plan.layers[n]);
    tally.at_most(max_difference(out, expected), 1e-12, "layer ", n);
  }
  return tally.result(str(kTokens, " tokens, ", kHeads, " query and ", kGroups, " key heads"));
}

CheckResult relative(const Subject& subject, const PositionPlan& plan) {
  Tally tally;
  const Keyed raw = random_rows();
  for (size_t n = 0; n < plan.layers.size(); ++n) {
    const auto layer = static_cast<int64_t>(n);
    const Turned here = rotated(subject, {raw.q, raw.k}, count_from(0, kTokens), plan, layer);
    const Rows out = attended(subject, {here.q, here.k, raw.v}, plan.layers[n]);
    const Turned there = rotated(subject, {raw.q, raw.k}, count_from(1000, kTokens), plan, layer);
    const Rows moved = attended(subject, {there.q, there.k, raw.v}, plan.layers[n]);
    // Queries that grow with their position do not depend on distances alone, by design.
    tally.at_most(plan.layers[n].query_growth == 0.0 ? max_difference(out, moved) : 0.0, 1e-11,
                  "layer ", n, ", common shift 1000");
    const auto& bands = plan.layers[n].inv_freq;
    const bool turns = !bands.empty() && std::any_of(bands[0].begin(), bands[0].end(),
                                                     [](double theta) { return theta > 1e-3; });
    const Rows mixed = attended(subject, {here.q, there.k, raw.v}, plan.layers[n]);
    tally.at_least(turns ? max_difference(out, mixed) : 1.0, 1e-3, "layer ", n,
                   ", keys alone shifted");
  }
  return tally.result("common shift of 1000 tokens, and of the keys alone");
}

Rows head_of(const Rows& rows, int64_t first, int64_t n) {
  Rows out = zero_rows({1, rows.n_heads, n, rows.head_dim});
  for (int64_t i = 0; i < rows.n_heads * n * rows.head_dim; ++i) {
    const int64_t d = i % rows.head_dim, t = i / rows.head_dim % n, h = i / rows.head_dim / n;
    out.at(0, h, t, d) = rows.at(0, h, first + t, d);
  }
  return out;
}

// Decoding with a cache against one pass, from token 25 on.
CheckResult continued(const Subject& subject, const PositionPlan& plan) {
  Tally tally;
  const Keyed raw = random_rows();
  for (size_t n = 0; n < plan.layers.size(); ++n) {
    const auto layer = static_cast<int64_t>(n);
    const Turned all = rotated(subject, {raw.q, raw.k}, count_from(0, kTokens), plan, layer);
    const Rows whole = attended(subject, {all.q, all.k, raw.v}, plan.layers[n]);
    for (int64_t t = 25; t < kTokens; ++t) {
      const Turned one = rotated(subject, {head_of(raw.q, t, 1), head_of(raw.k, t, 1)},
                                 subject.cache_positions(t, 1), plan, layer);
      Rows keys = head_of(all.k, 0, t + 1);
      for (int64_t i = 0; i < kGroups * kDim; ++i) {
        keys.at(0, i / kDim, t, i % kDim) = one.k.at(0, i / kDim, 0, i % kDim);
      }
      const Rows out = attended(subject, {one.q, keys, head_of(raw.v, 0, t + 1)}, plan.layers[n]);
      tally.at_most(max_difference(out, head_of(whole, t, 1)), 1e-12, "layer ", n, ", token ", t);
    }
  }
  return tally.result("tokens 25 to 39 decoded one by one");
}

}  // namespace

std::vector<Check> check_scheme(const Subject& subject, const std::string& spec) {
  position::PlanRequest request = request_of(kDim, kHeads, kGroups);
  request.n_layers = 4;
  const PositionPlan plan = subject.plan(spec, request);
  Tally stored;
  stored.require(
      position::plan_from_json(position::plan_to_json(plan), "stored plan of " + spec) == plan,
      "a field of the plan");
  const char* tolerance = "1e-12: sums of 64 terms in float64";
  return {
      named("plan-table", "P53", "Frequencies, amplitude and slopes are usable", "exact",
            sane_table(plan)),
      named("plan-stored", "P53, P04", "The plan reads back as it was written", "exact",
            stored.result("every field of " + spec)),
      named("plan-reference", "P40", "Attention equals the float64 reference", tolerance,
            same_as_reference(subject, plan)),
      named("plan-relative", "P14", "Outputs depend on distances alone",
            "1e-11: rounding of angles near 1000", relative(subject, plan)),
      named("plan-continuation", "P15, P55", "Decoding with a cache equals one pass", tolerance,
            continued(subject, plan)),
  };
}

}  // namespace gyre::verify
