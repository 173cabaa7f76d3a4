// Opens datasets: from the cache when they are there, otherwise after preparing them.
#include "gyre/data/dataset.h"

#include "gyre/base/error.h"
#include "gyre/base/log.h"
#include "gyre/data/prepare.h"
#include "gyre/data/temporary_folder.h"
#include "gyre/data/token_file.h"

namespace gyre::data {
namespace fs = std::filesystem;
namespace {

std::shared_ptr<const TokenStream> open_stream(const fs::path& path, const SplitRecord& record) {
  MappedFile file(path);
  const TokenFileInfo info = inspect_token_file(file);
  if (info.n_tokens != record.tokens) {
    throw Error(Code::Format, path.string(), ": holds ", info.n_tokens,
                " tokens, its manifest says ", record.tokens, "; damaged, prepare it again");
  }
  return std::make_shared<TokenStream>(std::move(file), info.header_bytes, info.n_tokens);
}

std::shared_ptr<const model::Tokenizer> open_tokenizer(const fs::path& dir, const Manifest& m) {
  if (m.tokenizer_hash.empty()) {
    return nullptr;
  }
  std::shared_ptr<const model::Tokenizer> tokenizer = model::load_tokenizer(dir / "tokenizer.json");
  if (model::tokenizer_hash(*tokenizer) != m.tokenizer_hash || tokenizer->vocab() != m.vocab) {
    throw Error(Code::Format, (dir / "tokenizer.json").string(), ": vocabulary ",
                tokenizer->vocab(), ", hash ", model::tokenizer_hash(*tokenizer).substr(0, 12),
                "; its manifest says ", m.vocab, " and ", m.tokenizer_hash.substr(0, 12),
                "; prepare it again");
  }
  return tokenizer;
}

/// A prepared folder as --data: its tokenizer is fixed, so another one asked for is a mismatch.
Dataset open_given(const DataOptions& options) {
  Dataset dataset = open_prepared(options.data.front());
  const std::string kind = dataset.tokenizer ? dataset.tokenizer->kind() : "none";
  const std::string& asked = options.tokenizer;
  const bool by_name = asked == "bytes" || asked == "bpe";
  const bool fits =
      by_name ? asked == "bytes" || asked == kind
              : read_file(asked).starts_with("{") &&
                    model::tokenizer_hash(*model::load_tokenizer(asked)) == dataset.tokenizer_hash;
  if (!fits) {
    throw Error(Code::Format, options.data.front(), ": prepared with tokenizer ", kind,
                " (vocabulary ", dataset.vocab, "), --tokenizer asks for ", asked,
                "; prepare the text again with that tokenizer");
  }
  return dataset;
}

}  // namespace

Dataset open_prepared(const fs::path& dir) {
  if (!fs::exists(dir / "manifest.json")) {
    throw Error(Code::File, dir.string(), ": no manifest.json; not a prepared dataset");
  }
  const Manifest manifest = read_manifest(dir / "manifest.json");
  Dataset dataset;
  dataset.dir = dir;
  dataset.corpus_hash = manifest.corpus_hash;
  dataset.tokenizer_hash = manifest.tokenizer_hash;
  dataset.vocab = manifest.vocab;
  dataset.tokenizer = open_tokenizer(dir, manifest);
  dataset.train = open_stream(dir / "train.bin", manifest.train);
  dataset.val = open_stream(dir / "val.bin", manifest.val);
  if (manifest.val.tokens > 0) {
    dataset.val_bytes_per_token =
        static_cast<double>(manifest.val.bytes) / static_cast<double>(manifest.val.tokens);
  }
  return dataset;
}

Dataset open_dataset(const DataOptions& options) {
  if (options.data.size() == 1 && is_prepared(options.data.front())) {
    return open_given(options);
  }
  const Plan plan = plan_preparation(options);
  const fs::path dir = cache_dir() / "shards" / plan.key;
  bool damaged = false;
  if (fs::exists(dir)) {
    try {
      return open_prepared(dir);
    } catch (const Error& error) {
      log(Level::Warning, "cached dataset is damaged, preparing it again: ", error.what());
      damaged = true;
    }
  }
  TemporaryFolder folder(dir);
  write_shards(plan, folder.path());
  folder.publish(damaged);
  return open_prepared(dir);
}

}  // namespace gyre::data
