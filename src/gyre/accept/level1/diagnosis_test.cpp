// What prompt sizes must be called; the sizes are those of the servers of cases.json.
#include <gtest/gtest.h>

#include <set>

#include "gyre/accept/level1/testing.h"

namespace gyre::accept {
namespace {

using testing::counted;
using testing::probe;

constexpr const char* kWhole = "xxxxxxxxxxxxxxxx";

Case ladder(std::vector<Probe> probes) {
  Case made;
  made.able = true;
  made.probes = std::move(probes);
  return made;
}

std::set<std::string> names(const Case& the_case) {
  std::set<std::string> found;
  for (const Finding& finding : diagnose(the_case)) {
    found.insert(finding.id);
    EXPECT_FALSE(finding.evidence.empty()) << finding.id;
    EXPECT_FALSE(finding.says.empty()) << finding.id;
  }
  return found;
}

using Names = std::set<std::string>;

TEST(Diagnosis, WholeLengthsHaveNoFinding) {
  EXPECT_EQ(names(ladder({probe(kWhole, 1000, Loss::None), probe(kWhole, 8000, Loss::None)})),
            Names());
}

TEST(Diagnosis, ALostBeginningWithAConstantCount) {  // S01
  Case the_case = ladder({probe(kWhole, 1900, Loss::None),
                          counted(probe(".......xxxxxxxxx", 3900, Loss::Cut), 2048),
                          counted(probe("............xxxx", 8000, Loss::Cut), 2048)});
  the_case.window.fits = 2048;
  EXPECT_EQ(names(the_case), (Names{"TRUNC_HEAD", "USAGE_POST_TRUNC"}));
  EXPECT_EQ(diagnose(the_case)[0].facts.at("window"), "2048");
}

TEST(Diagnosis, HalfOfTheWindowStays) {  // S02
  Case the_case = ladder({probe(kWhole, 3950, Loss::None),
                          counted(probe("........xxxxxxxx", 4200, Loss::Cut), 2050),
                          counted(probe("............xxxx", 8000, Loss::Cut), 2050)});
  the_case.window.fits = 4096;
  EXPECT_EQ(names(the_case), (Names{"USAGE_POST_TRUNC", "WINDOW_HALVED"}));
  the_case.window.fits = 2060;  // what fits is what stays
  EXPECT_EQ(names(the_case), (Names{"USAGE_POST_TRUNC", "TRUNC_HEAD"}));
}

TEST(Diagnosis, HalvesAreSeenWithoutUsage) {
  Case the_case =
      ladder({probe(kWhole, 3950, Loss::None), probe("........xxxxxxxx", 4200, Loss::Cut),
              probe("............xxxx", 8000, Loss::Cut)});
  the_case.window.fits = 4096;
  EXPECT_EQ(names(the_case), Names{"WINDOW_HALVED"});
}

TEST(Diagnosis, OneEndpointAloneLoses) {  // S05
  Probe other = probe(kWhole, 8000, Loss::None);
  other.api = Api::Completions;
  Case the_case = ladder({probe(kWhole, 4000, Loss::None),
                          counted(probe("xxxxxxxxxxxx....", 8000, Loss::Cut), 6000), other});
  the_case.claims = {{"/v1/models context_length", 262144}};
  the_case.window.fits = 6000;
  EXPECT_EQ(names(the_case), (Names{"TRUNC_TAIL", "USAGE_POST_TRUNC", "WINDOW_BELOW_CLAIM"}));
  for (const Finding& finding : diagnose(the_case)) {
    if (finding.id == "TRUNC_TAIL") {
      EXPECT_EQ(finding.facts.at("endpoint"), "chat");
    }
  }
}

TEST(Diagnosis, ALongerOneThatIsWholeMakesABand) {  // S06
  const Case the_case =
      ladder({probe(kWhole, 4000, Loss::None), probe("xxxxxxxxxxxxx...", 6000, Loss::Cut),
              probe(kWhole, 8000, Loss::None)});
  EXPECT_EQ(names(the_case), Names{"LENGTH_BAND"});
}

TEST(Diagnosis, ACliffAtOneDistanceFromTheEndIsASlidingWindow) {  // S13
  EXPECT_EQ(
      names(ladder({probe(kWhole, 2000, Loss::None), probe("........xxxxxxxx", 8000, Loss::Unused),
                    probe("............xxxx", 16000, Loss::Unused)})),
      Names{"SWA_SUSPECT"});
}

TEST(Diagnosis, AConstantShareIsNoSlidingWindow) {
  EXPECT_EQ(
      names(ladder({probe(kWhole, 2000, Loss::None), probe("............xxxx", 8000, Loss::Unused),
                    probe("............xxxx", 32000, Loss::Unused)})),
      Names());
}

TEST(Diagnosis, ACliffAtOneIndex) {  // S12
  EXPECT_EQ(
      names(ladder({probe(kWhole, 7000, Loss::None), probe("xxxxxxxxxxx.....", 12000, Loss::Unused),
                    probe("xxxxxxxx........", 16000, Loss::Unused)})),
      Names{"POSITION_CLIFF"});
  EXPECT_EQ(names(ladder({probe(kWhole, 7000, Loss::None),
                          probe("................", 12000, Loss::Garbage)})),
            Names{"POSITION_CLIFF"});
}

TEST(Diagnosis, TheClaimIsDividedAmongSlots) {  // S09
  Case the_case = ladder({probe(kWhole, 3500, Loss::None), probe("", 8000, Loss::Refused)});
  the_case.claims = {{"/props n_ctx", 16384}};
  the_case.told = 4096;
  EXPECT_EQ(names(the_case), (Names{"WINDOW_BELOW_CLAIM", "SLOT_SPLIT"}));
  the_case.slots = 1;  // the server says that nothing is divided
  EXPECT_EQ(names(the_case), Names{"WINDOW_BELOW_CLAIM"});
  the_case.slots.reset();
  the_case.told = 6000;
  EXPECT_EQ(names(the_case), Names{"WINDOW_BELOW_CLAIM"});
}

TEST(Diagnosis, AnHonestRefusalOverTheClaimIsNoFinding) {
  Case the_case = ladder({probe(kWhole, 2000, Loss::None), probe("", 6000, Loss::Refused)});
  the_case.claims = {{"/v1/models max_model_len", 4096}};
  the_case.told = 4096;
  EXPECT_EQ(names(the_case), Names());
}

TEST(Diagnosis, OverflowByItsManners) {  // S08, X02
  EXPECT_EQ(names(ladder({probe(kWhole, 2000, Loss::None), probe("", 6000, Loss::Empty)})),
            Names{"OVERFLOW_200"});
  Probe error = probe("", 6000, Loss::Failed);
  error.server_error = true;
  EXPECT_EQ(names(ladder({probe(kWhole, 2000, Loss::None), error})), Names{"OVERFLOW_5XX"});
  error.closed = true;
  EXPECT_EQ(names(ladder({probe(kWhole, 2000, Loss::None), error})),
            (Names{"OVERFLOW_5XX", "SERVER_CLOSED"}));
  EXPECT_EQ(names(ladder({error})), Names()) << "nothing shorter worked";
}

TEST(Diagnosis, AWeakModelHasNoFinding) {
  EXPECT_EQ(names(ladder({probe("x.xxx..xx.xxxx.x", 1000, Loss::Weak),
                          probe("..xx..x..xx..x.x", 8000, Loss::Weak)})),
            Names());
}

TEST(ConstantStay, NeedsEqualCounts) {
  EXPECT_EQ(constant_stay({counted(probe(".......xxxxxxxxx", 3900, Loss::Cut), 1848),
                           counted(probe(".......xxxxxxxxx", 3863, Loss::Cut), 1811)})
                .tokens,
            std::nullopt);
  const Constant same = constant_stay({counted(probe(".......xxxxxxxxx", 3900, Loss::Cut), 2048),
                                       counted(probe("............xxxx", 8000, Loss::Cut), 2048)});
  EXPECT_EQ(same.tokens, 2048);
  EXPECT_TRUE(same.by_usage);
}

}  // namespace
}  // namespace gyre::accept
