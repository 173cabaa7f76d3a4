#include "gyre/model/tokenizer/compare.h"

#include "gyre/model/tokenizer/bpe.h"
#include "gyre/model/tokenizer/tokenizer_testing.h"

namespace gyre::model {
namespace {

TEST(CompareTokenizers, CountsCutsAndShowsWhereTheyDiffer) {
  const auto bytes = byte_tokenizer();
  const auto bpe = bpe_tokenizer({{'b', 'c'}});  // "bc" is one token
  const TokenizerComparison found = compare_tokenizers(*bytes, *bpe, "abcd bc");
  EXPECT_EQ(found.n_bytes, 7);
  EXPECT_EQ(found.a.n_tokens, 7);
  EXPECT_EQ(found.b.n_tokens, 5);
  EXPECT_DOUBLE_EQ(found.b.bytes_per_token, 1.4);
  EXPECT_FALSE(found.same_ids);
  ASSERT_TRUE(found.cuts_compared);
  EXPECT_EQ(found.a.n_cuts, 6);
  EXPECT_EQ(found.b.n_cuts, 4);
  EXPECT_EQ(found.shared_cuts, 4);
  ASSERT_EQ(found.n_differences, 2);
  EXPECT_EQ(found.differences[0].begin, 1);
  EXPECT_EQ(found.differences[0].end, 3);
  EXPECT_EQ(found.differences[0].before, "a");
  EXPECT_EQ(found.differences[0].after, "d bc");
  EXPECT_EQ(found.differences[0].a, (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(found.differences[0].b, (std::vector<std::string>{"bc"}));
  EXPECT_EQ(found.shared_pieces, 256);
  EXPECT_EQ(compare_tokenizers(*bytes, *bpe, "abcd bc", 1).differences.size(), 1U);
}

TEST(CompareTokenizers, SameIdsHaveNoDifference) {
  const auto t = load_tokenizer(tokenizer_testdata() / "llama3.json");
  const TokenizerComparison found = compare_tokenizers(*t, *t, "the same text, twice");
  EXPECT_TRUE(found.same_ids);
  EXPECT_EQ(found.n_differences, 0);
  EXPECT_EQ(found.shared_cuts, found.a.n_cuts);
  EXPECT_EQ(compare_tokenizers(*t, *t, "").a.bytes_per_token, 0.0);
}

TEST(CompareTokenizers, SaysWhenATokenizerChangesTheText) {
  const auto plain = load_tokenizer(tokenizer_testdata() / "llama3.json");
  const auto nfc = load_tokenizer(tokenizer_testdata() / "qwen2.json");
  const TokenizerComparison found = compare_tokenizers(*plain, *nfc, "cafe\xcc\x81");
  EXPECT_TRUE(found.a.keeps_text);
  EXPECT_FALSE(found.b.keeps_text);
  EXPECT_EQ(found.b.first_change, 3);
  EXPECT_FALSE(found.cuts_compared);
}

TEST(CompareTokenizers, BitsPerByteTakeNoNoteOfTokens) {
  EXPECT_NEAR(bits_per_byte(8 * 0.6931471805599453, 4), 2.0, 1e-12);
}

}  // namespace
}  // namespace gyre::model
