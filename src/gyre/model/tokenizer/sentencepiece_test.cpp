// SentencePiece files: a small model is trained here, so that no file need be kept.
#include <gtest/gtest.h>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gyre/base/error.h"
#include "gyre/model/tokenizer/base64.h"
#include "gyre/model/tokenizer/tokenizer.h"

namespace gyre::model {
namespace {

namespace fs = std::filesystem;

class SentencePiece : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / str("gyre-sp-", ::getpid(), "-", info->name());
    fs::create_directories(folder_);
    std::ofstream text(folder_ / "text");
    for (int i = 0; i < 300; ++i) {
      text << "the quick brown fox number " << i << " jumps over the lazy dog\n";
    }
    text.close();
    const auto status = sentencepiece::SentencePieceTrainer::Train(str(
        "--minloglevel=2 --vocab_size=80 --model_type=bpe --input=", (folder_ / "text").string(),
        " --model_prefix=", (folder_ / "m").string()));
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(SentencePiece, EncodesAsTheLibraryDoes) {
  const auto t = sentencepiece_tokenizer(folder_ / "m.model");
  EXPECT_EQ(t->kind(), "sentencepiece");
  EXPECT_EQ(t->vocab(), 80);
  sentencepiece::SentencePieceProcessor peer;
  ASSERT_TRUE(peer.Load((folder_ / "m.model").string()).ok());
  std::vector<int> expected;
  ASSERT_TRUE(peer.Encode("the lazy fox", &expected).ok());
  EXPECT_EQ(t->encode("the lazy fox"), std::vector<int32_t>(expected.begin(), expected.end()));
  EXPECT_EQ(t->decode(t->encode("the lazy fox")), "the lazy fox");
  EXPECT_EQ(t->end_of_document(), peer.eos_id());
}

TEST_F(SentencePiece, SurvivesSerialisation) {
  const auto t = sentencepiece_tokenizer(folder_ / "m.model");
  std::ofstream(folder_ / "t.json") << t->serialize();
  const auto again = load_tokenizer(folder_ / "t.json");
  EXPECT_EQ(again->encode("brown dog 17"), t->encode("brown dog 17"));
  EXPECT_EQ(tokenizer_hash(*again), tokenizer_hash(*t));
}

TEST_F(SentencePiece, ParsesControlTokensOnlyWhenAsked) {
  const auto t = sentencepiece_tokenizer(folder_ / "m.model");
  EXPECT_EQ(t->encode("</s>", Specials::Parse), (std::vector<int32_t>{2}));
  EXPECT_GT(t->encode("</s>").size(), 1U);
  EXPECT_TRUE(t->is_special(2));
  std::string joined;
  for (const int32_t id : t->encode("the lazy fox")) {
    joined += t->piece(id);
  }
  EXPECT_EQ(joined, " the lazy fox");
}

TEST_F(SentencePiece, TakesItsIdsFromTheFilesBeside) {
  fs::rename(folder_ / "m.model", folder_ / "tokenizer.model");
  const auto bare = load_tokenizer(folder_);
  EXPECT_FALSE(bare->special_ids().add_bos);
  std::ofstream(folder_ / "tokenizer_config.json") << R"({"eos_token": "<s>"})";
  const auto t = load_tokenizer(folder_);
  EXPECT_TRUE(t->special_ids().add_bos);
  EXPECT_EQ(t->special_ids().eos, (std::vector<int64_t>{2, 1}));
  std::ofstream(folder_ / "t.json") << t->serialize();
  EXPECT_EQ(load_tokenizer(folder_ / "t.json")->special_ids().eos, t->special_ids().eos);
  EXPECT_EQ(load_tokenizer(folder_ / "t.json")->serialize(), t->serialize());
}

TEST_F(SentencePiece, RefusesOtherFiles) {
  for (const char* bytes : {"", "this is no model"}) {
    std::ofstream(folder_ / "bad.model", std::ios::trunc) << bytes;
    try {
      sentencepiece_tokenizer(folder_ / "bad.model");
      ADD_FAILURE() << "accepted '" << bytes << "'";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("bad.model: not a SentencePiece model"),
                std::string::npos)
          << e.what();
    }
  }
}

// RFC 4648, section 10.
TEST(Base64, MatchesTheStandardsVectors) {
  EXPECT_EQ(base64_encode("f"), "Zg==");
  EXPECT_EQ(base64_encode("fo"), "Zm8=");
  EXPECT_EQ(base64_encode("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64_decode("Zg=="), "f");
  EXPECT_EQ(base64_decode("Zm9vYmE="), "fooba");
  EXPECT_EQ(base64_decode(""), "");
  EXPECT_THROW(base64_decode("Zg="), Error);
  EXPECT_THROW(base64_decode("Z!=="), Error);
}

}  // namespace
}  // namespace gyre::model
