// What every registered scheme must satisfy, under several masks: nothing here names a scheme.
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "gyre/attention/attention.h"
#include "gyre/attention/fixtures.h"
#include "gyre/base/error.h"
#include "gyre/position/scheme.h"

namespace gyre::attention {
namespace {

using namespace testing;
using position::PairLayout;
using position::PlanRequest;
using position::PositionPlan;

constexpr PlanRequest kRequest{
    .n_layers = 3, .n_heads = 6, .n_kv_heads = 3, .head_dim = 16, .train_length = 20};
constexpr const char* kMasks[] = {
    "full",          "window:5", "dilated:3x2",     "window:4+global:2",
    "window:3/full", "chunk:6",  "chunk:4+global:1"};

// A scheme with every option at its default, in a model of either pair layout. One that can take a
// run's frequencies is tested with a run of kRequest's shape, and without one where it can do
// without.
struct Subject {
  std::string name;
  std::string spec;
  PairLayout layout;
};

class Conformance : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    run_ = std::filesystem::temp_directory_path() /
           str("gyre-conformance-", ::getpid(), "-", test->name());
    std::filesystem::create_directories(run_);
    std::ofstream(run_ / "frequencies.jsonl")
        << R"({"schema":"gyre.frequency/1","step":9,"alpha":[],"inv_freq":[[[1.0,0.5,0.125,0.0]]]})"
        << "\n";
  }
  void TearDown() override { std::filesystem::remove_all(run_); }

  static bool takes_a_run(const position::SchemeInfo& info) {
    const auto scheme = info.make();
    const Fields fields = scheme->fields();
    return std::any_of(fields.begin(), fields.end(),
                       [](const Field& field) { return field.name == "from"; });
  }
  static bool works_alone(const position::SchemeInfo& info) {
    try {
      position::make_plan(info.name, "full", kRequest);
      return true;
    } catch (const Error&) {
      return false;
    }
  }
  std::vector<Subject> subjects() const {
    std::vector<Subject> out;
    for (const auto& info : position::schemes()) {
      for (const PairLayout layout : {PairLayout::Halves, PairLayout::Interleaved}) {
        if (works_alone(info)) {
          out.push_back({info.name, info.name, layout});
        }
        if (takes_a_run(info)) {
          out.push_back({info.name, info.name + ":from=" + run_.string(), layout});
        }
      }
    }
    return out;
  }
  PositionPlan plan_of(const Subject& info, const std::string& mask = "full") const {
    PlanRequest request = kRequest;
    request.layout = info.layout;
    return position::make_plan(info.spec, mask, request);
  }

  std::filesystem::path run_;
  OneThread quick_;
};

Batch batch_of(const PlanRequest& request, uint64_t seed) {
  return random_batch({.B = 2,
                       .H = request.n_heads,
                       .G = request.n_kv_heads,
                       .T = 20,
                       .S = 20,
                       .D = request.head_dim},
                      seed);
}

at::Tensor theta_of(const position::LayerPlan& layer) {
  return layer.inv_freq.empty() ? at::Tensor() : theta_tensor(layer.inv_freq);
}

Rotation table_of(const Batch& batch, const PositionPlan& plan, const position::LayerPlan& layer,
                  const at::Tensor& theta, int64_t first,
                  std::optional<int64_t> origin = std::nullopt) {
  const auto dtype = batch.q.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const at::Tensor positions =
      at::arange(first, first + batch.q.size(2), at::TensorOptions(at::kLong));
  return make_rotation(theta, positions, plan.layout, layer, dtype, origin);
}

at::Tensor run(const Batch& batch, const PositionPlan& plan, const position::LayerPlan& layer,
               int64_t first = 0, const at::Tensor& theta = {}) {
  const at::Tensor bands = theta.defined() ? theta : theta_of(layer);
  return attend(batch.q, batch.k, batch.v, table_of(batch, plan, layer, bands, first), layer);
}

// The same token by token in steps of `step`, keys kept as they were rotated.
at::Tensor run_in_steps(const Batch& batch, const PositionPlan& plan,
                        const position::LayerPlan& layer, int64_t step) {
  std::vector<at::Tensor> keys, outputs;
  for (int64_t t = 0; t < batch.q.size(2); t += step) {
    const int64_t n = std::min(step, batch.q.size(2) - t);
    const Batch part{batch.q.narrow(2, t, n), batch.k.narrow(2, t, n), {}, {}};
    const auto [q, k] = rotate(part.q, part.k, table_of(part, plan, layer, theta_of(layer), t, 0));
    keys.push_back(k);
    outputs.push_back(attention(q, at::cat(keys, 2), batch.v.narrow(2, 0, t + n), layer));
  }
  return at::cat(outputs, 2);
}

TEST_F(Conformance, PlansHaveTheSizesAskedFor) {
  for (const auto& info : subjects()) {
    const PositionPlan plan = plan_of(info);
    EXPECT_EQ(plan.head_dim, kRequest.head_dim) << info.name;
    EXPECT_LE(plan.rotary_dim, plan.head_dim) << info.name;
    EXPECT_EQ(plan.rotary_dim % 2, 0) << info.name;
    ASSERT_EQ(std::ssize(plan.layers), kRequest.n_layers) << info.name;
    for (const position::LayerPlan& layer : plan.layers) {
      const auto groups = std::ssize(layer.inv_freq);
      EXPECT_TRUE(groups == 0 || groups == 1 || groups == kRequest.n_kv_heads) << info.name;
      for (const auto& bands : layer.inv_freq) {
        EXPECT_EQ(std::ssize(bands), plan.n_pairs()) << info.name;
        for (const double theta : bands) {
          EXPECT_TRUE(std::isfinite(theta) && theta >= 0) << info.name << " " << theta;
        }
      }
      EXPECT_TRUE(layer.slopes.empty() || std::ssize(layer.slopes) == kRequest.n_heads)
          << info.name;
      EXPECT_TRUE(layer.decay.empty() || std::ssize(layer.decay) == plan.n_pairs()) << info.name;
      EXPECT_TRUE(layer.mask.window == 0 || layer.mask.chunk == 0) << info.name;
      EXPECT_EQ(layer.slopes.empty(), plan.slope_convention.empty()) << info.name;
    }
  }
}

TEST_F(Conformance, PlansReadBackExactlyFromJson) {
  for (const auto& info : subjects()) {
    for (const char* mask : kMasks) {
      const PositionPlan plan = plan_of(info, mask);
      EXPECT_EQ(position::plan_from_json(position::plan_to_json(plan), "test"), plan) << info.name;
    }
  }
}

TEST_F(Conformance, EveryLayerEqualsTheReference) {
  for (const auto& info : subjects()) {
    for (const char* mask : kMasks) {
      const PositionPlan plan = plan_of(info, mask);
      const Batch batch = batch_of(kRequest, 31);
      const Batch single{
          batch.q.to(at::kFloat), batch.k.to(at::kFloat), batch.v.to(at::kFloat), {}};
      for (size_t n = 0; n < 2; ++n) {
        const position::LayerPlan& layer = plan.layers[n];
        const std::string what = str(info.name, " ", mask, " layer ", n);
        const auto input = reference_input(batch, layer, plan.layout);
        const at::Tensor expected = from_reference(reference_attention(input));
        expect_near(run(batch, plan, layer), expected, 1e-12, 0, what);
        for (const Isa level : usable_isas()) {
          const AtLevel at_level(level);
          expect_near(run(single, plan, layer), expected, 2e-6, 0,
                      str(what, " float32 ", isa_name(level)));
        }
      }
    }
  }
}

TEST_F(Conformance, GradientsEqualTheReference) {
  for (const auto& info : subjects()) {
    const PositionPlan plan = plan_of(info, "window:4+global:2");
    const position::LayerPlan& layer = plan.layers[1];
    Batch batch = batch_of(kRequest, 32);
    const auto expected =
        reference_gradient(reference_input(batch, layer, plan.layout), to_reference(batch.weight));
    std::vector<at::Tensor> inputs{batch.q.requires_grad_(), batch.k.requires_grad_(),
                                   batch.v.requires_grad_()};
    at::Tensor theta;
    if (!layer.inv_freq.empty()) {
      theta = theta_tensor(layer.inv_freq).requires_grad_();
      inputs.push_back(theta);
    }
    const auto grads =
        torch::autograd::grad({(run(batch, plan, layer, 0, theta) * batch.weight).sum()}, inputs);
    expect_near(grads[0], from_reference(expected.q), 1e-12, 0, info.name + " dq");
    expect_near(grads[1], from_reference(expected.k), 1e-12, 0, info.name + " dk");
    expect_near(grads[2], from_reference(expected.v), 1e-12, 0, info.name + " dv");
    if (theta.defined()) {
      expect_near(grads[3], theta_tensor(expected.inv_freq), 1e-10, 0, info.name + " dtheta");
    }
  }
}

TEST_F(Conformance, ShiftingEveryPositionChangesNothing) {
  for (const auto& info : subjects()) {
    const PositionPlan plan = plan_of(info, "window:3/full");
    const Batch batch = batch_of(kRequest, 33);
    for (const position::LayerPlan& layer : plan.layers) {
      if (layer.query_growth == 0.0) {  // depends on the position itself, by definition
        expect_near(run(batch, plan, layer, 4096), run(batch, plan, layer, 0), 1e-12, 0, info.name);
      }
    }
  }
}

TEST_F(Conformance, ContinuesFromKeptKeys) {
  for (const auto& info : subjects()) {
    for (const char* mask : kMasks) {
      const PositionPlan plan = plan_of(info, mask);
      const Batch batch = batch_of(kRequest, 36);
      for (const position::LayerPlan& layer : plan.layers) {
        const at::Tensor whole = run(batch, plan, layer);
        for (const int64_t step : {1, 7}) {
          expect_near(run_in_steps(batch, plan, layer, step), whole, 1e-12, 0,
                      str(info.spec, " ", mask, " step ", step));
        }
      }
    }
  }
}

TEST_F(Conformance, TheFirstTokenReturnsItsOwnValue) {
  for (const auto& info : subjects()) {
    for (const char* mask : kMasks) {
      const PositionPlan plan = plan_of(info, mask);
      const Batch batch = batch_of(kRequest, 34);
      const at::Tensor first = run(batch, plan, plan.layers[0]).narrow(2, 0, 1);
      expect_near(first, batch.v.narrow(2, 0, 1).repeat_interleave(2, 1), 1e-15, 0, info.name);
    }
  }
}

TEST_F(Conformance, NoTokenSeesTheFuture) {
  for (const auto& info : subjects()) {
    for (const char* mask : kMasks) {
      const PositionPlan plan = plan_of(info, mask);
      Batch batch = batch_of(kRequest, 35);
      const at::Tensor before = run(batch, plan, plan.layers[0]).narrow(2, 0, 11);
      batch.k.narrow(2, 11, 9).fill_(7.0);
      batch.v.narrow(2, 11, 9).fill_(7.0);
      expect_near(run(batch, plan, plan.layers[0]).narrow(2, 0, 11), before, 0, 0, info.name);
    }
  }
}

TEST_F(Conformance, OptionsSummariseAndReadBack) {
  for (const auto& info : position::schemes()) {
    const auto defaults = info.make();
    const auto changed = info.make();
    for (const Field& field : changed->fields()) {
      EXPECT_FALSE(field.help.empty()) << info.name << " " << field.name;
      if (field.kind == FieldKind::Choice) {
        field.set(field.choices.back());
      }
      if (field.kind == FieldKind::Real) {
        field.set("0.625");
      }
    }
    const std::string summary = fields_summary(changed->fields(), defaults->fields());
    const auto again =
        position::make_scheme(summary.empty() ? info.name : info.name + ":" + summary);
    EXPECT_EQ(fields_to_json(again->fields()), fields_to_json(changed->fields())) << summary;
  }
}

TEST_F(Conformance, AnUnknownOptionIsNamedWithTheKnownOnes) {
  for (const auto& info : position::schemes()) {
    try {
      position::make_scheme(info.name + ":no_such_option=1");
      FAIL() << info.name;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::Usage);
      const std::string text = e.what();
      EXPECT_TRUE(text.starts_with(info.name + ": unknown option 'no_such_option'")) << text;
      EXPECT_NE(text.find("known: "), std::string::npos) << text;
    }
  }
}

TEST_F(Conformance, EverySchemeIsDescribed) {
  for (const auto& info : position::schemes()) {
    EXPECT_FALSE(info.summary.empty()) << info.name;
    EXPECT_NE(info.formula.find("arXiv:"), std::string::npos) << info.name << " names no source";
  }
}

}  // namespace
}  // namespace gyre::attention
