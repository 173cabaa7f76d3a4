// Token shards: both published forms, what is refused, and how they are split.
#include "gyre/data/token_file.h"

#include <array>

#include "gyre/data/dataset.h"
#include "gyre/data/manifest.h"
#include "gyre/data/test_folder.h"

namespace gyre::data {
namespace {

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// llm.c's header: 256 int32, magic, version, count.
std::string header(int32_t magic, int32_t version, int32_t count) {
  std::vector<int32_t> head(256, 0);
  head[0] = magic;
  head[1] = version;
  head[2] = count;
  return bytes_of(head);
}

std::vector<uint16_t> ramp(size_t n, size_t modulus) {
  std::vector<uint16_t> tokens(n);
  for (size_t i = 0; i < n; ++i) {
    tokens[i] = static_cast<uint16_t>(i * 31 % modulus + i / 5000);
  }
  return tokens;
}

TokenFileInfo inspect(const std::string& path) {
  return inspect_token_file(MappedFile(path));
}

Dataset open_tokens(const std::vector<std::string>& data, const std::string& tokenizer = "bytes") {
  DataOptions options;
  options.data = data;
  options.tokenizer = tokenizer;
  return open_dataset(options);
}

TEST(TokenFile, ReadsBothPublishedForms) {
  const TestFolder f;
  const auto tokens = ramp(100, 5000);
  const TokenFileInfo bare = inspect(f.write("nano.bin", bytes_of(tokens)));
  EXPECT_EQ(bare.header_bytes, 0U);
  EXPECT_EQ(bare.n_tokens, 100);
  const std::string path = f.write("llmc.bin", header(20240520, 1, 100) + bytes_of(tokens));
  const TokenFileInfo headed = inspect(path);
  EXPECT_EQ(headed.header_bytes, 1024U);
  EXPECT_EQ(headed.n_tokens, 100);
  EXPECT_EQ(token_at(MappedFile(path), headed, 99), tokens[99]);
  const std::vector<uint32_t> wide = {1, 128000, 7};
  const std::string llama = f.write("llama.bin", header(20240801, 7, 3) + bytes_of(wide));
  EXPECT_EQ(token_at(MappedFile(llama), inspect(llama), 1), 128000);
}

TEST(TokenFile, ReadsBackWhatItWrites) {
  const TestFolder f;
  for (const bool wide : {false, true}) {
    const std::vector<int32_t> ids = {0, 1, 65535, wide ? 1000000 : 2};
    TokenWriter writer(f / "w.bin", wide);
    writer.append(ids);
    writer.append(ids);
    writer.finish();
    const MappedFile file(f / "w.bin");
    const TokenFileInfo info = inspect_token_file(file);
    ASSERT_EQ(info.n_tokens, 8);
    EXPECT_EQ(info.token_bytes, wide ? 4U : 2U);
    for (int64_t i = 0; i < 8; ++i) {
      EXPECT_EQ(token_at(file, info, i), ids[static_cast<size_t>(i % 4)]);
    }
  }
}

TEST(TokenFile, RefusesDamagedFiles) {
  const TestFolder f;
  const auto message = [&](const std::string& bytes) {
    const std::string path = f.write("bad.bin", bytes);
    return error_of(Code::Format, [&] { inspect(path); });
  };
  const std::string body = bytes_of(ramp(100, 50));
  expect_contains(message(""), "bad.bin: empty file");
  expect_contains(message(header(20240520, 1, 120) + body),
                  "header says 120 tokens, the file has room for 100; truncated or damaged");
  expect_contains(message(header(20240520, 9, 100) + body), "token shard of version 9; known: ");
  expect_contains(message("odd"), "3 bytes are neither uint16 tokens (odd size)");
}

TEST(TokenStream, ChecksItsRange) {
  const TestFolder f;
  const TokenStream stream(MappedFile(f.write("n.bin", bytes_of(ramp(100, 500)))), 0, 100);
  EXPECT_EQ(stream.read(98, 2).const_data_ptr<int64_t>()[1], 99 * 31 % 500);
  EXPECT_EQ(stream.read(100, 0).numel(), 0);
  for (const auto& [begin, n] :
       std::vector<std::pair<int64_t, int64_t>>{{99, 2}, {-1, 1}, {0, -1}}) {
    EXPECT_THROW(stream.read(begin, n), c10::ValueError);
  }
  EXPECT_THROW(TokenStream(MappedFile(f / "n.bin"), 0, 77), c10::ValueError);
}

TEST(TokenData, TakesTheVocabularyFromTheLargestToken) {
  const TestFolder f;
  const Dataset d = open_tokens({f.write("t.bin", bytes_of(ramp(100000, 300)))});
  EXPECT_EQ(d.tokenizer, nullptr);
  EXPECT_EQ(d.vocab, 299 + 19 + 1);
  EXPECT_EQ(d.train->size() + d.val->size(), 100000);
  EXPECT_NEAR(static_cast<double>(d.val->size()) / 100000.0, 0.1, 0.03);
  EXPECT_EQ(d.val_bytes_per_token, 0.0);
}

TEST(TokenData, BelievesFilesNamedTrainAndVal) {
  const TestFolder f;
  f.write("d/train.bin", bytes_of(ramp(900, 50)));
  f.write("d/val.bin", bytes_of(ramp(300, 60)));
  const Dataset d = open_tokens({(f / "d").string()});
  EXPECT_EQ(d.train->size(), 900);
  EXPECT_EQ(d.val->size(), 300);
  EXPECT_EQ(d.vocab, 60);
  EXPECT_EQ(read_manifest(d.dir / "manifest.json").split_rule, "token shards named train and val");
}

TEST(TokenData, SplitsSeveralShardsWhole) {
  const TestFolder f;
  for (size_t i = 0; i < 10; ++i) {
    f.write(str("d/part", i, ".bin"), bytes_of(ramp(1000 + 2 * i, 40 + i)));
  }
  const Dataset d = open_tokens({(f / "d").string()});
  const Manifest m = read_manifest(d.dir / "manifest.json");
  EXPECT_EQ(m.val.documents, 1);
  EXPECT_EQ(m.train.documents, 9);
}

TEST(TokenData, RefusesAVocabularyMismatch) {
  const TestFolder f;
  std::vector<uint16_t> tokens = ramp(5000, 200);
  tokens[1234] = 900;
  const std::string path = f.write("t.bin", bytes_of(tokens));
  const std::string bytes =
      f.write("bytes.json", R"({"schema":"gyre.tokenizer/1","kind":"bytes"})");
  expect_contains(error_of(Code::Format, [&] { open_tokens({path}, bytes); }),
                  "token 900 at position 1234 is outside the vocabulary of 257 (bytes)");
  expect_contains(error_of(Code::Usage, [&] { open_tokens({path}, "bpe"); }),
                  "--tokenizer bpe learns from text, but --data holds token shards");
  const std::string text = f.write("t.txt", numbered_text(10000));
  expect_contains(error_of(Code::Usage,
                           [&] {
                             open_tokens({path, text});
                           }),
                  "mixes token shards (.bin) and text: 1 of 2 files are shards");
}

TEST(TokenData, WritesWideShardsForLargeVocabularies) {
  const TestFolder f;
  std::vector<uint32_t> ids(5000, 3);
  for (size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<uint32_t>(i * 20);
  }
  const Dataset d = open_tokens({f.write("l.bin", header(20240801, 7, 5000) + bytes_of(ids))});
  EXPECT_EQ(d.vocab, 4999 * 20 + 1);
  const at::Tensor all = d.train->read(0, d.train->size());
  int64_t largest = 0;
  for (int64_t i = 0; i < all.numel(); ++i) {
    largest = std::max(largest, all.const_data_ptr<int64_t>()[i]);
  }
  EXPECT_GT(largest, 65535);
}

}  // namespace
}  // namespace gyre::data
