// Levels of instruction sets: names, order, forcing one.
#include "gyre/base/isa.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace gyre {
namespace {

TEST(Isa, NamesAreThoseOfTheOverride) {
  EXPECT_STREQ(isa_name(Isa::Generic), "generic");
  EXPECT_STREQ(isa_name(Isa::Avx2), "avx2");
  EXPECT_STREQ(isa_name(Isa::Avx512), "avx512");
  EXPECT_STREQ(isa_name(Isa::Avx512Bf16), "avx512_bf16");
  EXPECT_STREQ(isa_name(Isa::Amx), "amx");
}

TEST(Isa, EveryMachineRunsTheGenericLevelAndItsBestIsTheLast) {
  const auto levels = usable_isas();
  ASSERT_FALSE(levels.empty());
  EXPECT_EQ(levels.front(), Isa::Generic);
  EXPECT_EQ(levels.back(), best_isa());
  EXPECT_TRUE(std::is_sorted(levels.begin(), levels.end()));
}

TEST(Isa, AForcedLevelIsInForce) {
  const Isa before = isa();
  for (const Isa level : usable_isas()) {
    set_isa(level);
    EXPECT_EQ(isa(), level);
  }
  set_isa(before);
}

}  // namespace
}  // namespace gyre
