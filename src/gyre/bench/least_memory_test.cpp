// Bounds by hand, and the refusal.
#include "gyre/bench/least_memory.h"

#include <gtest/gtest.h>

#include "gyre/bench/fixtures.h"

namespace gyre::bench {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

// One layer: 4 x 8 x 8 weights of attention, 3 x 8 x 16 of the MLP, an embedding of 32 x 8; 2 x 4
// tokens with a number of 8 bytes and 2 x (4 x 8 + 2 x 16) of activations each.
TEST(LeastMemory, OfATrainingStep) {
  const TrainShape shape{
      .width = 8, .layers = 1, .hidden = 16, .vocab = 32, .length = 4, .batch = 2, .head_dim = 4};
  EXPECT_DOUBLE_EQ(least_gib(shape) * kGib, 16 * (256 + 384 + 256) + 8 * (8 + 128));
}

// Eight tensors of 3 x 2 x 20 x 6 float32: the largest case.
TEST(LeastMemory, OfAttentionsLargestCase) {
  AttentionShape shape;
  shape.batch = 3;
  shape.heads = 2;
  shape.lengths = {20, 10};
  shape.head_dims = {4, 6};
  shape.dtype = "float32";
  EXPECT_DOUBLE_EQ(least_gib(shape) * kGib, 8.0 * 4 * 3 * 2 * 20 * 6);
}

TEST(LeastMemory, NamesWhatDoesNotFit) {
  AttentionShape attention;
  attention.lengths = {1 << 20};
  attention.head_dims = {64};  // 8 GiB
  EXPECT_EQ(message_of([&] { check_fits(attention, {}, 7.5); }),
            "attention at the largest of these shapes needs at least 8 GiB, 7.5 are free; lower "
            "--batch, --heads, --lengths or --head-dim");
  EXPECT_EQ(message_of([&] { check_fits(attention, {}, 8.1); }), "");
  TrainShape training;
  training.batch = 1 << 20;
  EXPECT_EQ(message_of([&] { check_fits(training, {}, 100.0); }),
            "a training step of this shape needs at least 15364 GiB, 100 are free; lower --batch, "
            "--length, --width, --layers, --hidden or --vocab");
  Contest elsewhere;
  elsewhere.device = "cuda";
  EXPECT_EQ(message_of([&] { check_fits(training, elsewhere, 100.0); }), "");
}

}  // namespace
}  // namespace gyre::bench
