// Records, keys and names. Sentences are compared with those of testing/mock_server/README.md.
#include "gyre/accept/text/records.h"

#include <gtest/gtest.h>

namespace gyre::accept {
namespace {

// ledger, Oslo, kettle, the baker, January
const Key kKey{0, 0, 0, 0, 0};

TEST(Records, AreWrittenAsTheMockReadsThem) {
  EXPECT_EQ(record(kKey, "code", "KX7-3QD"),
            "In the ledger of Oslo, the kettle filed under the baker in January carries code "
            "KX7-3QD.");
  EXPECT_EQ(record(kKey, "digit", "7", "2021-05-01"),
            "On 2021-05-01 it was recorded that in the ledger of Oslo, the kettle filed under the "
            "baker in January carries digit 7.");
  EXPECT_EQ(record_question(kKey),
            "What code does the kettle filed under the baker in January in the ledger of Oslo "
            "carry?");
  EXPECT_EQ(paraphrased_question(kKey),
            "Which identifier belongs to the water boiler that the bread maker lodged during the "
            "first month with the account book at the Norwegian capital?");
  EXPECT_EQ(plain_name(kKey), "the red wooden kettle of the baker in Oslo");
}

TEST(Records, SimilarKeysShareExactlySoManySlots) {
  Rng rng(1, "similar");
  for (const Family family : {Family::Record, Family::Plain}) {
    for (int64_t equal = 0; equal <= 4; ++equal) {
      for (int i = 0; i < 200; ++i) {
        const Key key = evidence_key(rng, family);
        const Key other = similar_key(rng, key, equal, family);
        ASSERT_EQ(equal_slots(key, other), equal);
        ASSERT_NE((other[0] + other[1] + other[2] + other[3] + other[4]) % 8, 0);
      }
    }
  }
}

TEST(Records, NamesFitTheMocks60Bytes) {
  Rng rng(1, "names");
  for (int i = 0; i < 5000; ++i) {
    ASSERT_LE(plain_name(evidence_key(rng, Family::Plain)).size(), 60u);
  }
}

TEST(Records, WordJaccardIsTheShareOfCommonWords) {
  EXPECT_DOUBLE_EQ(word_jaccard("the red hat", "The red cap."), 0.5);  // the, red of 4
  EXPECT_DOUBLE_EQ(word_jaccard("a b", "c d"), 0.0);
  EXPECT_DOUBLE_EQ(word_jaccard("", ""), 1.0);
}

}  // namespace
}  // namespace gyre::accept
