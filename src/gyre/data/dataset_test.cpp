// From options to an opened dataset: cache, hashes, atomicity, mismatches.
#include "gyre/data/dataset.h"

#include <nlohmann/json.hpp>
#include <thread>

#include "gyre/base/files.h"
#include "gyre/data/manifest.h"
#include "gyre/data/prepare.h"
#include "gyre/data/temporary_folder.h"
#include "gyre/data/test_folder.h"

namespace gyre::data {
namespace fs = std::filesystem;
namespace {

DataOptions options_for(const std::vector<std::string>& data) {
  DataOptions options;
  options.data = data;
  return options;
}

/// A folder of twelve documents.
std::string small_corpus(const TestFolder& f, const std::string& name = "corpus") {
  for (int i = 0; i < 12; ++i) {
    f.write(str(name, "/", i, ".txt"), numbered_text(2000, str("text", i)));
  }
  return (f / name).string();
}

std::string decoded(const Dataset& d, const TokenStream& stream) {
  const at::Tensor ids = stream.read(0, stream.size());
  const auto* begin = ids.const_data_ptr<int64_t>();
  return d.tokenizer->decode(std::vector<int32_t>(begin, begin + ids.numel()));
}

size_t entries(const fs::path& folder) {
  size_t n = 0;
  if (fs::exists(folder)) {
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) {
      ++n;
    }
  }
  return n;
}

TEST(OpenDataset, HoldsEveryByteOnceInOneSplit) {
  const TestFolder f;
  const Dataset d = open_dataset(options_for({small_corpus(f)}));
  EXPECT_EQ(d.vocab, 257);
  EXPECT_EQ(d.train->size() + d.val->size(), 12 * 2001);  // a byte each and 12 document ends
  EXPECT_EQ(d.val->size() % 2001, 0);
  const std::string train = decoded(d, *d.train);
  const std::string val = decoded(d, *d.val);
  for (int i = 0; i < 12; ++i) {
    const std::string text = numbered_text(2000, str("text", i));
    EXPECT_NE(train.find(text) == std::string::npos, val.find(text) == std::string::npos);
  }
  EXPECT_NEAR(d.val_bytes_per_token, 2000.0 / 2001.0, 1e-12);
  EXPECT_EQ(d.corpus_hash.size(), 64U);
}

TEST(OpenDataset, FindsTheCacheTheSecondTime) {
  const TestFolder f;
  const DataOptions options = options_for({small_corpus(f)});
  const Dataset first = open_dataset(options);
  const auto written = fs::last_write_time(first.dir / "train.bin");
  const Dataset second = open_dataset(options);
  EXPECT_EQ(second.dir, first.dir);
  EXPECT_EQ(second.corpus_hash, first.corpus_hash);
  EXPECT_EQ(fs::last_write_time(second.dir / "train.bin"), written);
  EXPECT_EQ(entries(f / "cache/shards"), 1U);  // no temporary folder stays
}

TEST(OpenDataset, ChangesItsHashWithTheContentAndTheSplitOnly) {
  const TestFolder f;
  const std::string corpus = small_corpus(f);
  const std::string hash = open_dataset(options_for({corpus})).corpus_hash;
  fs::rename(corpus, f / "moved");
  EXPECT_EQ(open_dataset(options_for({(f / "moved").string()})).corpus_hash, hash);
  f.write("moved/3.txt", numbered_text(2000, "other"));
  EXPECT_NE(open_dataset(options_for({(f / "moved").string()})).corpus_hash, hash);
  f.write("moved/3.txt", numbered_text(2000, "text3"));
  DataOptions larger = options_for({(f / "moved").string()});
  larger.val_share = 0.3;
  EXPECT_NE(open_dataset(larger).corpus_hash, hash);
}

TEST(OpenDataset, TrainsBpeOnTheTrainingSplit) {
  const TestFolder f;
  DataOptions options = options_for({small_corpus(f)});
  options.tokenizer = "bpe";
  options.bpe_vocab = 300;
  const Dataset d = open_dataset(options);
  EXPECT_EQ(d.vocab, 300);
  EXPECT_EQ(d.tokenizer->kind(), "bpe");
  EXPECT_LT(d.train->size(), 11 * 1200);
  EXPECT_NE(decoded(d, *d.train).find(numbered_text(300, "text")), 0U);
  EXPECT_GT(d.val_bytes_per_token, 1.5);
  // the tokenizer file that was written can be named for another corpus
  DataOptions again = options_for({f.write("one.txt", numbered_text(20000))});
  again.tokenizer = (d.dir / "tokenizer.json").string();
  EXPECT_EQ(open_dataset(again).tokenizer_hash, d.tokenizer_hash);
}

TEST(OpenDataset, LeavesRepeatedDocumentsOutAndSaysSo) {
  const TestFolder f;
  const std::string corpus = small_corpus(f);
  f.write("corpus/copy.txt", numbered_text(2000, "text3"));
  const Dataset d = open_dataset(options_for({corpus}));
  EXPECT_EQ(d.train->size() + d.val->size(), 12 * 2001);
  expect_contains(f.log_text(), "documents left out because their text came before: 1");
  EXPECT_EQ(read_manifest(d.dir / "manifest.json").duplicates, 1);
}

TEST(OpenDataset, LeavesNothingBehindOnFailure) {
  const TestFolder f;
  const std::string corpus = small_corpus(f);
  f.write("corpus/7.txt", "caf\xe9");
  expect_contains(error_of(Code::Format, [&] { open_dataset(options_for({corpus})); }),
                  "invalid UTF-8 at byte 3");
  EXPECT_EQ(entries(f / "cache/shards"), 0U);
}

TEST(OpenDataset, RebuildsADamagedCache) {
  const TestFolder f;
  const DataOptions options = options_for({small_corpus(f)});
  const Dataset first = open_dataset(options);
  fs::resize_file(first.dir / "train.bin", 5000);
  const Dataset second = open_dataset(options);
  EXPECT_EQ(second.corpus_hash, first.corpus_hash);
  EXPECT_EQ(second.train->size(), first.train->size());
  expect_contains(f.log_text(), "cached dataset is damaged");
}

// Threads stand in for processes: nothing but the file system is shared, and forking after torch
// has started its threads would hang.
TEST(OpenDataset, MayBePreparedSeveralTimesAtOnce) {
  const TestFolder f;
  const DataOptions options = options_for({small_corpus(f)});
  std::vector<std::string> hashes(4);
  std::vector<std::thread> threads;
  for (std::string& hash : hashes) {
    threads.emplace_back([&] { hash = open_dataset(options).corpus_hash; });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(hashes, std::vector<std::string>(4, hashes[0]));
  EXPECT_EQ(hashes[0].size(), 64U);
  EXPECT_EQ(entries(f / "cache/shards"), 1U);
}

TEST(OpenDataset, RefusesImpossibleOptions) {
  const TestFolder f;
  DataOptions options = options_for({small_corpus(f)});
  options.val_share = 1.0;
  expect_contains(error_of(Code::Usage, [&] { open_dataset(options); }),
                  "--val-share must be in (0, 1), got 1");
  options.val_share = 0.1;
  options.tokenizer = "words";
  expect_contains(error_of(Code::Usage, [&] { open_dataset(options); }),
                  "--tokenizer 'words': not bytes or bpe, and no such file");
  expect_contains(error_of(Code::Usage, [&] { open_dataset(options_for({})); }),
                  "--data names nothing");
}

TEST(OpenPrepared, NamesWhatIsMissingOrDiffers) {
  const TestFolder f;
  expect_contains(error_of(Code::File, [&] { open_prepared(f / "none"); }), "no manifest.json");
  const Dataset d = open_dataset(options_for({small_corpus(f)}));
  fs::copy_file(d.dir / "val.bin", f / "val.bin");
  fs::copy_file(d.dir / "train.bin", d.dir / "val.bin", fs::copy_options::overwrite_existing);
  expect_contains(
      error_of(Code::Format, [&] { open_prepared(d.dir); }),
      str("val.bin: holds ", d.train->size(), " tokens, its manifest says ", d.val->size()));
  fs::copy_file(f / "val.bin", d.dir / "val.bin", fs::copy_options::overwrite_existing);
  f.write("other.json",
          "{\"schema\":\"gyre.tokenizer/1\",\"kind\":\"bpe\",\"vocab\":257,"
          "\"merges\":[]}");
  fs::copy_file(f / "other.json", d.dir / "tokenizer.json", fs::copy_options::overwrite_existing);
  expect_contains(error_of(Code::Format, [&] { open_prepared(d.dir); }),
                  "tokenizer.json: vocabulary 257, hash ");
  std::ofstream(d.dir / "manifest.json") << "{\"schema\":\"gyre.dataset/1\"}";
  expect_contains(error_of(Code::Format, [&] { open_prepared(d.dir); }), "damaged manifest");
}

TEST(PrepareInto, WritesAFolderThatIsData) {
  const TestFolder f;
  const DataOptions options = options_for({small_corpus(f)});
  const Dataset d = prepare_into(options, f / "out", false);
  const auto manifest = nlohmann::json::parse(read_file(f / "out/manifest.json"));
  EXPECT_EQ(manifest.at("schema"), "gyre.dataset/1");
  EXPECT_EQ(manifest.at("documents"), 12);
  EXPECT_EQ(manifest.at("bytes"), 24000);
  EXPECT_EQ(manifest.at("tokens"), 24012);
  EXPECT_EQ(manifest.at("train").at("sha256"), sha256_file(f / "out/train.bin"));
  EXPECT_EQ(manifest.at("sources").size(), 12U);
  EXPECT_EQ(manifest.at("sources")[0].at("sha256"), sha256_file(f / "corpus/0.txt"));
  EXPECT_EQ(open_dataset(options_for({(f / "out").string()})).corpus_hash, d.corpus_hash);
  DataOptions other = options_for({(f / "out").string()});
  other.tokenizer = "bpe";
  expect_contains(error_of(Code::Format, [&] { open_dataset(other); }),
                  "prepared with tokenizer bytes (vocabulary 257), --tokenizer asks for bpe");
}

TEST(PrepareInto, ReplacesOnlyWithForceAndOnlyItsOwn) {
  const TestFolder f;
  const DataOptions options = options_for({small_corpus(f)});
  prepare_into(options, f / "out", false);
  expect_contains(error_of(Code::Usage, [&] { prepare_into(options, f / "out", false); }),
                  "already there; give another --out, or --force");
  prepare_into(options, f / "out", true);
  f.write("mine/thesis.txt", "precious");
  expect_contains(error_of(Code::Usage, [&] { prepare_into(options, f / "mine", true); }),
                  "not a prepared dataset");
  EXPECT_TRUE(fs::exists(f / "mine/thesis.txt"));
}

TEST(TemporaryFolder, ShowsAllOrNothing) {
  const TestFolder f;
  {
    const TemporaryFolder t(f / "goal");
    std::ofstream(t.path() / "a") << "x";
  }
  EXPECT_FALSE(fs::exists(f / "goal"));
  TemporaryFolder first(f / "goal");
  TemporaryFolder second(f / "goal");
  std::ofstream(first.path() / "a") << "first";
  std::ofstream(second.path() / "a") << "second";
  EXPECT_TRUE(first.publish(false));
  EXPECT_FALSE(second.publish(false));
  EXPECT_EQ(read_file(f / "goal/a"), "first");
  EXPECT_TRUE(second.publish(true));
  EXPECT_EQ(read_file(f / "goal/a"), "second");
}

}  // namespace
}  // namespace gyre::data
