// Bytes, BPE and the serialised form. BPE is compared with a trainer of a dozen lines that recounts
// every pair before each merge.
#include "gyre/model/tokenizer/tokenizer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "gyre/base/error.h"
#include "gyre/base/log.h"
#include "gyre/base/rng.h"
#include "gyre/model/tokenizer/bpe.h"
#include "gyre/model/tokenizer/pieces.h"

namespace gyre::model {
namespace {

std::string random_bytes(uint64_t seed, size_t n) {
  Rng rng(seed, "tokenizer test");
  std::string text;
  while (text.size() < n) {
    text += static_cast<char>(rng.below(256));
  }
  return text;
}

std::string sample_text() {
  std::string text;
  for (int i = 0; i < 200; ++i) {
    text += str("The ", i * 7919 % 101, "th king's men don't know; they'll ask\n\n   again. ",
                i % 3 == 0 ? "na\xc3\xafve caf\xc3\xa9 \xe2\x80\x94 end" : "aaaaaaa", "\n");
  }
  return text;
}

std::vector<std::string> pieces_of(std::string_view text) {
  std::vector<std::string> pieces;
  for (size_t i = 0; i < text.size(); i += pieces.back().size()) {
    pieces.emplace_back(text.substr(i, piece_length(text, i)));
  }
  return pieces;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

std::string temporary_file(std::string_view bytes) {
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  const auto path = std::filesystem::temp_directory_path() /
                    str("gyre-tokenizer-", ::getpid(), "-", info->name());
  std::ofstream(path, std::ios::binary) << bytes;
  return path.string();
}

/// The definition, without any of the trainer's bookkeeping.
std::vector<Merge> slow_merges(std::string_view text, size_t n) {
  std::vector<std::vector<int32_t>> words;
  for (const std::string& piece : pieces_of(text)) {
    words.emplace_back();
    for (const char c : piece) {
      words.back().push_back(static_cast<unsigned char>(c));
    }
  }
  std::vector<Merge> merges;
  while (merges.size() < n) {
    std::map<Merge, int> counts;  // ordered: the first of equal counts is the smallest pair
    for (const auto& word : words) {
      for (size_t i = 1; i < word.size(); ++i) {
        ++counts[{word[i - 1], word[i]}];
      }
    }
    Merge best;
    int most = 1;
    for (const auto& [pair, count] : counts) {
      if (count > most) {
        best = pair;
        most = count;
      }
    }
    if (most < 2) {
      break;
    }
    for (auto& word : words) {
      std::vector<int32_t> merged;
      for (size_t i = 0; i < word.size(); ++i) {
        if (i + 1 < word.size() && Merge{word[i], word[i + 1]} == best) {
          merged.push_back(kFirstMergeId + static_cast<int32_t>(merges.size()));
          ++i;
        } else {
          merged.push_back(word[i]);
        }
      }
      word = merged;
    }
    merges.push_back(best);
  }
  return merges;
}

TEST(ByteTokenizer, GivesOneIdPerByte) {
  const auto t = byte_tokenizer();
  EXPECT_EQ(t->encode("A\xff"), (std::vector<int32_t>{65, 255}));
  EXPECT_EQ(t->vocab(), 257);
  EXPECT_EQ(t->end_of_document(), 256);
  EXPECT_EQ(t->decode({72, 105, 256}), "Hi");
}

TEST(ByteTokenizer, RefusesIdsOutsideItsVocabulary) {
  EXPECT_NE(message_of([] {
              byte_tokenizer()->decode({257});
            }).find("bytes: id 257 is outside the vocabulary of 257"),
            std::string::npos);
}

// Expected pieces: the regular expression of GPT-2's encoder.py, applied by hand.
TEST(Pieces, FollowGpt2) {
  EXPECT_EQ(pieces_of("Hello world's 42 cats!!"),
            (std::vector<std::string>{"Hello", " world", "'s", " 42", " cats", "!!"}));
  EXPECT_EQ(pieces_of("a  b\n\n c"), (std::vector<std::string>{"a", " ", " b", "\n\n", " c"}));
  EXPECT_EQ(pieces_of("x\n"), (std::vector<std::string>{"x", "\n"}));
  EXPECT_EQ(pieces_of("caf\xc3\xa9 \xe2\x80\x9cok\xe2\x80\x9d"),
            (std::vector<std::string>{"caf\xc3\xa9", " \xe2\x80\x9c", "ok", "\xe2\x80\x9d"}));
}

TEST(Pieces, CoverAnyBytesAndAreNeverEmptyOrLong) {
  const std::string text = random_bytes(3, 20000) + std::string(5000, ' ') + std::string(5000, 'x');
  std::string joined;
  for (const std::string& piece : pieces_of(text)) {
    ASSERT_GE(piece.size(), 1U);
    ASSERT_LE(piece.size(), kMaxPieceBytes);
    joined += piece;
  }
  EXPECT_EQ(joined, text);
}

TEST(Bpe, LearnsTheMergesOfTheDefinition) {
  const std::string text = sample_text();
  EXPECT_EQ(learn_merges({text}, 120), slow_merges(text, 120));
}

TEST(Bpe, BreaksTiesByTheSmallerPair) {
  // "ab" and "cd" both occur twice, in different words.
  EXPECT_EQ(learn_merges({"cd ab\ncd ab\n"}, 1).front(), (Merge{' ', 'a'}));
  EXPECT_EQ(learn_merges({"cd\nab\ncd\nab\n"}, 1).front(), (Merge{'a', 'b'}));
}

TEST(Bpe, DecodeInvertsEncodeForAnyBytes) {
  const auto t = train_bpe({sample_text()}, 400);
  EXPECT_EQ(t->vocab(), 400);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const std::string text = random_bytes(seed, 500 + seed) + sample_text().substr(seed, 300);
    ASSERT_EQ(t->decode(t->encode(text)), text);
  }
  EXPECT_TRUE(t->encode("").empty());
}

TEST(Bpe, EncodesByRankNotByLength) {
  // merge 0 = "bc", merge 1 = "ab", merge 2 = "abc" as a + bc
  const auto t = bpe_tokenizer({{'b', 'c'}, {'a', 'b'}, {'a', 257}});
  EXPECT_EQ(t->encode("abc"), (std::vector<int32_t>{259}));
  EXPECT_EQ(t->encode("abab"), (std::vector<int32_t>{258, 258}));
  EXPECT_EQ(t->encode("abc abc"), (std::vector<int32_t>{259, ' ', 259}));
}

TEST(Bpe, CompressesItsOwnText) {
  const std::string text = sample_text();
  const auto t = train_bpe({text}, 400);
  EXPECT_LT(t->encode(text).size() * 3, text.size());
}

TEST(Bpe, SaysWhenTheTextGivesFewerMerges) {
  std::string said;
  const LogSink old = set_log_sink([&](Level, std::string_view line) { said += line; });
  const auto t = train_bpe({"abab"}, 300);
  set_log_sink(old);
  EXPECT_EQ(t->vocab(), 258);
  EXPECT_NE(said.find("gives a vocabulary of 258, not 300"), std::string::npos) << said;
}

TEST(Bpe, RefusesImpossibleVocabulariesAndMerges) {
  EXPECT_NE(message_of([] { train_bpe({"text"}, 256); }).find("must be in [257"),
            std::string::npos);
  EXPECT_NE(message_of([] {
              bpe_tokenizer({{'a', 257}});
            }).find("merge 0 uses id 257"),
            std::string::npos);
  EXPECT_NE(message_of([] {
              bpe_tokenizer({{'a', 'b'}, {'a', 'b'}});
            }).find("merges 0 and 1 are the same pair"),
            std::string::npos);
}

TEST(LoadTokenizer, GivesBackWhatWasSerialised) {
  const auto bpe = train_bpe({sample_text()}, 350);
  const std::string path = temporary_file(bpe->serialize());
  const auto again = load_tokenizer(path);
  EXPECT_EQ(again->encode(sample_text()), bpe->encode(sample_text()));
  EXPECT_EQ(tokenizer_hash(*again), tokenizer_hash(*bpe));
  std::ofstream(path) << byte_tokenizer()->serialize();
  EXPECT_EQ(load_tokenizer(path)->kind(), "bytes");
  std::filesystem::remove(path);
}

TEST(LoadTokenizer, RefusesAnythingElse) {
  const std::string path = temporary_file("hello");
  const auto message = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::trunc) << bytes;
    return message_of([&] { load_tokenizer(path); });
  };
  EXPECT_NE(message("hello").find("not a SentencePiece model"), std::string::npos);
  EXPECT_NE(message("{}").find("not a tokenizer file (expected schema gyre.tokenizer/1, or a "
                               "tokenizer.json with 'model')"),
            std::string::npos);
  const std::string head = R"({"schema":"gyre.tokenizer/1","kind":)";
  EXPECT_NE(message(head + R"("words"})")
                .find("unknown tokenizer kind 'words'; known: bytes, bpe, sentencepiece, "
                      "tokenizer.json, gguf"),
            std::string::npos);
  EXPECT_NE(message(head + R"("bpe","vocab":300,"merges":[[97,98]]})")
                .find("'vocab' is 300 but the merges give 258"),
            std::string::npos);
  EXPECT_NE(message(head + R"("bpe"})").find("damaged tokenizer file"), std::string::npos);
  std::filesystem::remove(path);
}

TEST(Tokenizer, EachKindHasPiecesAndIdsAroundAText) {
  const auto bpe = bpe_tokenizer({{'a', 'b'}});
  EXPECT_EQ(bpe->piece(257), "ab");
  EXPECT_TRUE(bpe->is_special(256));
  EXPECT_FALSE(bpe->is_special(257));
  EXPECT_EQ(bpe->special_ids().eos, (std::vector<int64_t>{256}));
  EXPECT_EQ(byte_tokenizer()->piece('x'), "x");
  EXPECT_EQ(byte_tokenizer()->piece(256), "");
  EXPECT_EQ(byte_tokenizer()->special_ids().bos, -1);
  EXPECT_EQ(encode_prompt(*bpe, "ab", Specials::Parse), (std::vector<int32_t>{257}));
}

TEST(TextStream, GivesOutWholeCharactersOnly) {
  const auto bytes = byte_tokenizer();
  TextStream stream(*bytes);
  EXPECT_EQ(stream.push('a'), "a");
  EXPECT_EQ(stream.push(0xc3), "");
  EXPECT_EQ(stream.push(0xa9), "\xc3\xa9");
  EXPECT_EQ(stream.push(0xf0), "");
  EXPECT_EQ(stream.finish(), "\xf0");
  EXPECT_EQ(stream.finish(), "");
}

TEST(TokenizerHash, DiffersBetweenTokenizers) {
  EXPECT_NE(tokenizer_hash(*byte_tokenizer()), tokenizer_hash(*train_bpe({"abab"}, 258)));
}

}  // namespace
}  // namespace gyre::model
