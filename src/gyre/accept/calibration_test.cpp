#include "gyre/accept/calibration.h"

#include <gtest/gtest.h>

namespace gyre::accept {
namespace {

TEST(Calibration, FindsTemplateAndSlopeFromTwoPrompts) {
  // 3.2 bytes a token and 14 tokens of template, by hand: 14 + 1000 / 3.2 = 326.5
  const Calibration fit = fit_calibration(1000, 327, 3000, 952);
  EXPECT_EQ(fit.source, "usage");
  EXPECT_NEAR(fit.tokens_per_byte, 1 / 3.2, 1e-3);
  EXPECT_NEAR(fit.overhead, 14, 1);
  EXPECT_NEAR(double(fit.tokens_for(32000)), 10014, 10);
}

TEST(Calibration, BytesForIsTheMostThatFits) {
  const Calibration fit = fit_calibration(1000, 327, 3000, 952);
  for (const int64_t tokens : {100, 1000, 4097, 131072}) {
    const int64_t bytes = fit.bytes_for(tokens);
    EXPECT_LE(fit.tokens_for(bytes), tokens);
    EXPECT_GT(fit.tokens_for(bytes + 4), tokens);
  }
  EXPECT_EQ(fit.bytes_for(3), 0) << "fewer tokens than the template has";
}

TEST(Calibration, NonsenseFallsBackToTheGuess) {
  for (const Calibration& fit :
       {fit_calibration(1000, 300, 3000, 300),       // a frozen count
        fit_calibration(1000, 300, 3000, 200),       // fewer for more
        fit_calibration(1000, 0, 3000, 0),           // no count
        fit_calibration(1000, 300, 1000, 300),       // one point
        fit_calibration(1000, 9000, 3000, 9700)}) {  // a template of 8650 tokens
    EXPECT_EQ(fit.source, "guess");
    EXPECT_EQ(fit.tokens_for(4000), 1000);
  }
}

TEST(Calibration, ToleranceIsThreePercentButNeverUnder64) {
  EXPECT_EQ(Calibration::tolerance(100), 64);
  EXPECT_EQ(Calibration::tolerance(2133), 64);
  EXPECT_EQ(Calibration::tolerance(10000), 300);
}

}  // namespace
}  // namespace gyre::accept
