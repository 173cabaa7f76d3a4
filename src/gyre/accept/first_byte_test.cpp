#include "gyre/accept/first_byte.h"

#include <gtest/gtest.h>

namespace gyre::accept {
namespace {

TEST(FirstByte, IsUnknownBeforeAnythingWasMeasured) {
  EXPECT_EQ(FirstByteModel().seconds(1000), 0);
}

TEST(FirstByte, FollowsTheLineThroughWhatWasMeasured) {
  FirstByteModel model;
  model.add(1000, 1.5);
  model.add(3000, 2.5);
  EXPECT_NEAR(model.seconds(10'000), 6, 1e-9);  // 1 + bytes / 2000
}

TEST(FirstByte, OneLengthGrowsInProportionAndNeverShrinks) {
  FirstByteModel model;
  model.add(1000, 2);
  model.add(1000, 4);
  EXPECT_NEAR(model.seconds(5000), 15, 1e-9);
  EXPECT_NEAR(model.seconds(10), 3, 1e-9);
}

TEST(FirstByte, ALongPromptFromTheCacheDoesNotTurnTheLine) {
  FirstByteModel model;
  model.add(1000, 2);
  model.add(9000, 0.1);
  EXPECT_GT(model.seconds(9000), 1);
}

}  // namespace
}  // namespace gyre::accept
