// PositionPlan: mask grammar, wavelengths, JSON both ways and its messages.
#include "gyre/position/plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "gyre/base/error.h"

namespace gyre::position {
namespace {

void expect_error(const std::function<void()>& act, Code code, const std::string& text) {
  try {
    act();
    FAIL() << "no error; expected: " << text;
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code);
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
  }
}

PositionPlan sample() {
  PositionPlan plan;
  plan.layout = PairLayout::Interleaved;
  plan.head_dim = 8;
  plan.rotary_dim = 6;
  plan.learning = {Sharing::Head, 0.02, 1.5};
  plan.slope_convention = "released";
  LayerPlan layer;
  // 1/3 and the smallest and largest doubles have no short exact decimal form.
  layer.inv_freq = {
      {1.0, 1.0 / 3.0, 0.0},
      {std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max(), 0.1 + 0.2}};
  layer.amplitude = 1.1386294361119891;
  layer.logit_scale = 0.7;
  layer.slopes = {0.5, std::exp2(-8.0 / 3.0)};
  layer.decay = {0.1, 0.0, 2.0 / 3.0};
  layer.query_growth = 0.1;
  layer.query_growth_floor = 4096.5;
  layer.mask = {64, 4, 2, 0};
  plan.length_rule = "one table up to 4096 tokens, another beyond";
  plan.holds_to = 4096;
  plan.layers = {layer, LayerPlan{}};
  plan.layers[1].mask.chunk = 32;
  return plan;
}

TEST(Plan, ReadsBackExactlyFromJson) {
  EXPECT_EQ(plan_from_json(plan_to_json(sample()), "test"), sample());
  EXPECT_EQ(plan_from_json(plan_to_json({}), "test"), PositionPlan{});
}

TEST(Plan, ReadsFilesWrittenBeforeDecayChunksAndLengthRules) {
  // As gyre wrote a plan before these fields existed.
  const PositionPlan old = plan_from_json(
      R"({"schema":"gyre.plan/1","layout":"halves","head_dim":4,"rotary_dim":2,)"
      R"("learning":{"sharing":"none","lr":0.0,"clip":0.0},"slope_convention":"",)"
      R"("layers":[{"inv_freq":[[0.5]],"amplitude":1.0,"logit_scale":1.0,"slopes":[],)"
      R"("mask":{"window":3,"dilation":1,"n_global":0}}]})",
      "old run");
  PositionPlan expected;
  expected.layout = PairLayout::Halves;
  expected.head_dim = 4;
  expected.rotary_dim = 2;
  expected.layers.resize(1);
  expected.layers[0].inv_freq = {{0.5}};
  expected.layers[0].mask.window = 3;
  EXPECT_EQ(old, expected);
}

std::string edited(const std::string& from, const std::string& to) {
  std::string text = plan_to_json(sample());
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(Plan, NamesTheKeyThatIsWrongInJson) {
  const auto expect = [](const std::string& text, const std::string& message) {
    expect_error([&] { plan_from_json(text, "run/manifest.json"); }, Code::Format,
                 "run/manifest.json: " + message);
  };
  expect("[1]", "expected a JSON object");
  expect("{nonsense", "expected a JSON object");
  expect(edited("\"head_dim\":8,", ""), "no 'head_dim' in the position plan");
  expect(edited("\"amplitude\"", "\"amplitud\""), "no 'amplitude' in the position plan");
  expect(edited("\"window\":64", "\"window\":64,\"windw\":3"),
         "unknown key 'windw' in the position plan; did you mean 'window'?");
  expect(edited("\"head_dim\":8", "\"head_dim\":\"8\""), "'head_dim' has the wrong type: \"8\"");
  expect(edited("\"interleaved\"", "\"thirds\""), "'layout' has an unknown value 'thirds'");
  expect(edited("gyre.plan/1", "gyre.plan/9"),
         "position plan has schema 'gyre.plan/9', expected 'gyre.plan/1'");
  expect(edited("\"layers\":[", "\"layers\":3,\"x\":["),
         "'layers' of the position plan is not a list");
}

TEST(Plan, RefusesToStoreWhatJsonCannotHold) {
  PositionPlan plan = sample();
  plan.layers[0].inv_freq[0][1] = std::numeric_limits<double>::quiet_NaN();
  expect_error([&] { plan_to_json(plan); }, Code::Format,
               "position plan: cannot store the value nan as JSON");
  plan = sample();
  plan.layers[1].amplitude = std::numeric_limits<double>::infinity();
  expect_error([&] { plan_to_json(plan); }, Code::Format,
               "position plan: cannot store the value inf as JSON");
}

TEST(Plan, WavelengthIsTheTurnInTokens) {
  EXPECT_DOUBLE_EQ(wavelength_tokens(1.0), 2.0 * std::numbers::pi);
  EXPECT_EQ(wavelength_tokens(0.0), std::numeric_limits<double>::infinity());
  // Base 10000, D = 64: band 22 = 3533 tokens, band 23 = 4712 (recomputed by hand).
  EXPECT_NEAR(wavelength_tokens(std::pow(10000.0, -2.0 * 22 / 64)), 3533, 0.5);
  EXPECT_NEAR(wavelength_tokens(std::pow(10000.0, -2.0 * 23 / 64)), 4712, 0.5);
}

TEST(Plan, ReadsEveryMask) {
  EXPECT_EQ(parse_masks("full", 1)[0], MaskSpec{});
  EXPECT_EQ(parse_masks("window:128", 1)[0], (MaskSpec{128, 1, 0}));
  EXPECT_EQ(parse_masks("dilated:64x4", 1)[0], (MaskSpec{64, 4, 0}));
  EXPECT_EQ(parse_masks("window:128+global:4", 1)[0], (MaskSpec{128, 1, 4}));
  EXPECT_EQ(parse_masks("dilated:8x2+global:1", 1)[0], (MaskSpec{8, 2, 1}));
  EXPECT_EQ(parse_masks("chunk:8192", 1)[0], (MaskSpec{0, 1, 0, 8192}));
  EXPECT_EQ(parse_masks("chunk:4+global:2", 1)[0], (MaskSpec{0, 1, 2, 4}));
}

TEST(Plan, AlternatesMasksOverLayers) {
  const auto masks = parse_masks("window:16/window:16/full", 5);
  ASSERT_EQ(masks.size(), 5U);
  for (const size_t n : {0, 1, 3, 4}) {
    EXPECT_EQ(masks[n], (MaskSpec{16, 1, 0})) << n;
  }
  EXPECT_EQ(masks[2], MaskSpec{});
  EXPECT_EQ(parse_masks("full", 3).size(), 3U);
}

TEST(Plan, MasksSeeWhatTheirDefinitionSays) {
  // By hand: window 3 at i = 5 sees 3 4 5; 3 keys every 2nd sees 1 3 5; global 2 adds 0 1.
  const auto seen = [](const MaskSpec& mask) {
    std::string out;
    for (int64_t j = 0; j < 8; ++j) {
      out += mask.sees(5, j) ? '1' : '0';
    }
    return out;
  };
  EXPECT_EQ(seen({}), "11111100");
  EXPECT_EQ(seen({3, 1, 0}), "00011100");
  EXPECT_EQ(seen({3, 2, 0}), "01010100");
  EXPECT_EQ(seen({3, 1, 2}), "11011100");
  EXPECT_EQ(seen({1, 1, 6}), "11111100");  // query 5 is itself global
  // Chunks of 4: query 5 is in 4..7; with one global token it sees 0 as well.
  EXPECT_EQ(seen({0, 1, 0, 4}), "00001100");
  EXPECT_EQ(seen({0, 1, 1, 4}), "10001100");
  EXPECT_FALSE((MaskSpec{0, 1, 0, 4}).full());
}

TEST(Plan, RefusesAMaskItDoesNotKnow) {
  const auto expect = [](const std::string& mask, int64_t n_layers, const std::string& message) {
    expect_error([&] { parse_masks(mask, n_layers); }, Code::Usage,
                 "mask '" + mask + "': " + message);
  };
  expect("windw:4", 1,
         "unknown mask 'windw:4'; use full, window:128, dilated:64x4, "
         "chunk:8192, window:128+global:4, or several with '/'");
  expect("", 1, "unknown mask ''");
  expect("full/", 2, "unknown mask ''");
  expect("window:", 1, "expected a positive whole number, got ''");
  expect("chunk:0", 1, "expected a positive whole number, got '0'");
  expect("window:0", 1, "expected a positive whole number, got '0'");
  expect("window:4x2", 1, "expected a positive whole number, got '4x2'");
  expect("window:99999999999999999999", 1, "expected a positive whole number");
  expect("dilated:64", 1, "expected KEYSxDISTANCE, got '64'");
  expect("window:8+globl:2", 1, "expected one '+global:N' after 'window:8'");
  expect("window:8+global:2+global:3", 1, "expected one '+global:N' after 'window:8'");
  expect("full+global:2", 1, "global tokens change nothing under a full mask");
  expect("window:8/full", 1, "alternates over 2 layers, the model has 1");
}

}  // namespace
}  // namespace gyre::position
