#include "gyre/study/arms.h"

#include <gtest/gtest.h>

#include "gyre/base/error.h"

namespace gyre::study {
namespace {

std::string message_of(const std::string& text) {
  try {
    parse_arms(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::Usage);
    return error.what();
  }
  return "no error";
}

TEST(Arms, CommasInsideOptionsContinueTheArm) {
  const auto arms = parse_arms("rope,prope:p=0.75,cut=high,nope");
  ASSERT_EQ(arms.size(), 3);
  EXPECT_EQ(arms[0].scheme, "rope");
  EXPECT_EQ(arms[1].scheme, "prope:p=0.75,cut=high");
  EXPECT_EQ(arms[1].name, arms[1].scheme);
  EXPECT_EQ(arms[2].scheme, "nope");
}

TEST(Arms, SemicolonsAndBlanksSeparateToo) {
  const auto arms = parse_arms(" rope ; prope,p=0.5  alibi ");
  ASSERT_EQ(arms.size(), 3);
  EXPECT_EQ(arms[1].scheme, "prope:p=0.5");
}

TEST(Arms, MasksComeAfterAt) {
  const auto arms = parse_arms("rope@window:128+global:4/full,prope:p=0.75@dilated:8x2");
  EXPECT_EQ(arms[0].scheme, "rope");
  EXPECT_EQ(arms[0].mask, "window:128+global:4/full");
  EXPECT_EQ(arms[0].name, "rope@window:128+global:4/full");
  EXPECT_EQ(arms[1].scheme, "prope:p=0.75");
  EXPECT_EQ(arms[1].mask, "dilated:8x2");
}

TEST(Arms, AtInAPathIsNoMask) {
  const auto arms = parse_arms("frozen:from=/runs/me@home/lerope-s1");
  EXPECT_EQ(arms[0].scheme, "frozen:from=/runs/me@home/lerope-s1");
  EXPECT_EQ(arms[0].mask, "");
  EXPECT_EQ(arms[0].source, -1);
}

TEST(Arms, ASourceIsTheSameSeedsRunOfAnotherArm) {
  const auto arms = parse_arms("frozen:from=@lerope,layout=halves,rope,lerope:lr=0.01");
  EXPECT_EQ(arms[0].source, 2);
  EXPECT_EQ(resolve_source(arms[0], "/x/lerope-s1"), "frozen:from=/x/lerope-s1,layout=halves");
  EXPECT_EQ(resolve_source(arms[1], "/x"), "rope");
  EXPECT_EQ(run_order(arms), (std::vector<size_t>{1, 2, 0}));
}

TEST(Arms, FaultsAreNamed) {
  EXPECT_EQ(message_of("p=0.75,rope"),
            "--arms: 'p=0.75' is an option without a scheme before it; write scheme:p=0.75");
  EXPECT_EQ(message_of("prope;p=0.75"),
            "--arms: 'p=0.75' is an option without a scheme before it; write scheme:p=0.75");
  EXPECT_EQ(message_of("rope,nope,rope"), "--arms: 'rope' is named twice");
  EXPECT_EQ(message_of(" , "), "--arms names no position scheme; see: gyre schemes");
  EXPECT_EQ(message_of("rope,frozen:from=@lerope"),
            "--arms: 'frozen:from=@lerope' reads the run of 'lerope', which is no arm; add it to "
            "--arms or give a run directory");
  EXPECT_EQ(message_of("lerope:lr=1,lerope:lr=2,frozen:from=@lerope"),
            "--arms: 'frozen:from=@lerope' reads the run of 'lerope', which is more than one arm; "
            "add it to --arms or give a run directory");
  EXPECT_EQ(message_of("frozen:from=@frozen"),
            "--arms: 'frozen:from=@frozen' waits for a run that waits for it");
  EXPECT_EQ(message_of("rope@window:8,base=5"),
            "--arms: option 'base=5' comes after the mask of 'rope@window:8'; put options before "
            "'@'");
  EXPECT_EQ(message_of("rope@"), "--arms: 'rope@' has no mask after '@'");
}

TEST(Arms, SeedsAreACountOrAList) {
  EXPECT_EQ(parse_seeds("3"), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(parse_seeds("8,5"), (std::vector<int64_t>{8, 5}));
  for (const char* bad : {"0", "2,2", "", "-1,4"}) {
    try {
      parse_seeds(bad);
      ADD_FAILURE() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()),
                str("--seeds must be a count (3) or a list of different seeds of 1 or more "
                    "(5,8,13), got '",
                    bad, "'"));
    }
  }
}

TEST(Arms, CellNamesAreSafeAndDistinct) {
  EXPECT_EQ(cell_name({"prope:p=0.75", "", "", -1}, 2), "prope_p=0.75-s2");
  const std::string slash = cell_name({"rope@window:8/full", "", "", -1}, 1);
  const std::string other = cell_name({"rope@window:8@full", "", "", -1}, 1);
  EXPECT_EQ(slash.find('/'), std::string::npos);
  EXPECT_NE(slash, other);
  EXPECT_LE(cell_name({std::string(500, 'x'), "", "", -1}, 1).size(), 70);
}

}  // namespace
}  // namespace gyre::study
