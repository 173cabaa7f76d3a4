// Fills a folder with the two shards, the tokenizer and the manifest.

#include <algorithm>

#include "gyre/base/error.h"
#include "gyre/base/log.h"
#include "gyre/base/progress.h"
#include "gyre/data/prepare.h"
#include "gyre/data/split.h"
#include "gyre/data/token_file.h"
#include "gyre/data/token_split.h"
#include "gyre/tensor/parallel.h"

namespace gyre::data {
namespace fs = std::filesystem;
namespace {

constexpr size_t kGroupBytes = size_t{16} << 20U;  // of text encoded at once, bounds memory
constexpr int64_t kNarrowVocab = 65536;

void check_interrupt() {
  if (interrupted()) {
    throw Error(Code::CheckFailed, "interrupted while preparing data; nothing was written");
  }
}

/// Encodes documents in parallel, group by group, and appends them in order.
class Encoder {
 public:
  Encoder(const model::Tokenizer& tokenizer, int64_t total_bytes)
      : tokenizer_(tokenizer), progress_("encoding", total_bytes, "B") {}

  SplitRecord write(const std::vector<std::string_view>& texts, const fs::path& path) {
    TokenWriter writer(path, tokenizer_.vocab() > kNarrowVocab);
    SplitRecord record;
    for (size_t begin = 0; begin < texts.size();) {
      size_t end = begin;
      for (size_t bytes = 0; end < texts.size() && bytes < kGroupBytes; ++end) {
        bytes += texts[end].size();
      }
      append_group({texts.begin() + static_cast<int64_t>(begin), end - begin}, writer, record);
      begin = end;
    }
    writer.finish();
    record.documents = static_cast<int64_t>(texts.size());
    record.tokens = writer.n_tokens();
    record.sha256 = sha256_file(path);
    return record;
  }

 private:
  void append_group(std::span<const std::string_view> texts, TokenWriter& writer,
                    SplitRecord& record) {
    check_interrupt();
    std::vector<std::vector<int32_t>> ids(texts.size());
    parallel_for(0, static_cast<int64_t>(texts.size()), 1, [&](int64_t begin, int64_t end) {
      for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
        ids[i] = tokenizer_.encode(texts[i]);
        if (tokenizer_.end_of_document() >= 0) {
          ids[i].push_back(static_cast<int32_t>(tokenizer_.end_of_document()));
        }
      }
    });
    for (size_t i = 0; i < texts.size(); ++i) {
      writer.append(ids[i]);
      record.bytes += static_cast<int64_t>(texts[i].size());
      done_ += static_cast<int64_t>(texts[i].size());
    }
    progress_.update(done_);
  }

  const model::Tokenizer& tokenizer_;
  Progress progress_;
  int64_t done_ = 0;
};

std::shared_ptr<const model::Tokenizer> write_text(const Plan& plan, const fs::path& dir,
                                                   Manifest& manifest) {
  std::vector<Document> documents = read_documents(plan.sources, plan.options.field);
  manifest.duplicates = remove_duplicates(documents);
  if (manifest.duplicates > 0) {
    log(Level::Info, "documents left out because their text came before: ", manifest.duplicates);
  }
  check_interrupt();
  const TextSplit split = split_documents(documents, plan.options.val_share);
  manifest.split_rule = split.rule;
  std::shared_ptr<const model::Tokenizer> tokenizer = plan.tokenizer;
  if (!tokenizer) {  // from training text only: validation text must stay unseen
    tokenizer = model::train_bpe(split.train, plan.options.bpe_vocab);
  }
  int64_t bytes = 0;
  for (const Document& document : documents) {
    bytes += static_cast<int64_t>(document.text.size());
  }
  Encoder encoder(*tokenizer, bytes);
  manifest.train = encoder.write(split.train, dir / "train.bin");
  manifest.val = encoder.write(split.val, dir / "val.bin");
  manifest.vocab = tokenizer->vocab();
  return tokenizer;
}

}  // namespace

void write_shards(const Plan& plan, const fs::path& dir) {
  Manifest manifest;
  manifest.val_share = plan.options.val_share;
  for (const Source& source : plan.sources) {
    manifest.sources.push_back({source.name, source.sha256});
  }
  std::shared_ptr<const model::Tokenizer> tokenizer = plan.tokenizer;
  if (plan.sources.front().kind == SourceKind::Tokens) {
    split_token_files(plan, dir, manifest);
  } else {
    tokenizer = write_text(plan, dir, manifest);
  }
  if (tokenizer) {
    manifest.tokenizer_kind = tokenizer->kind();
    manifest.tokenizer_hash = model::tokenizer_hash(*tokenizer);
    write_file_atomic(dir / "tokenizer.json", tokenizer->serialize());
  }
  manifest.corpus_hash =
      sha256(manifest.train.sha256 + manifest.val.sha256 + manifest.tokenizer_hash);
  write_file_atomic(dir / "manifest.json", manifest_to_json(manifest) + "\n");
}

}  // namespace gyre::data
