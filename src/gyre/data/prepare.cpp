#include "gyre/data/prepare.h"

#include <algorithm>
#include <cstdio>

#include "gyre/base/error.h"
#include "gyre/data/temporary_folder.h"

namespace gyre::data {
namespace fs = std::filesystem;
namespace {

void check_options(const DataOptions& options) {
  if (options.data.empty()) {
    throw Error(Code::Usage, "--data names nothing; give corpus names or paths");
  }
  if (!(options.val_share > 0.0 && options.val_share < 1.0)) {
    throw Error(Code::Usage, "--val-share must be in (0, 1), got ", options.val_share);
  }
}

bool all_tokens(const std::vector<Source>& sources) {
  const auto is_tokens = [](const Source& s) { return s.kind == SourceKind::Tokens; };
  const auto n = std::count_if(sources.begin(), sources.end(), is_tokens);
  if (n > 0 && n < static_cast<int64_t>(sources.size())) {
    throw Error(Code::Usage, "--data mixes token shards (.bin) and text: ", n, " of ",
                sources.size(), " files are shards; prepare them apart");
  }
  return n > 0;
}

std::shared_ptr<const model::Tokenizer> given_tokenizer(const std::string& option, bool tokens) {
  if (option == "bpe" && tokens) {
    throw Error(Code::Usage,
                "--tokenizer bpe learns from text, but --data holds token shards (.bin); give the "
                "tokenizer file they were made with, or none");
  }
  if (option == "bytes") {
    return tokens ? nullptr : model::byte_tokenizer();
  }
  if (option == "bpe") {
    return nullptr;
  }
  if (!fs::exists(option)) {
    throw Error(Code::Usage, "--tokenizer '", option,
                "': not bytes or bpe, and no such file; give a .model, tokenizer.json or "
                ".gguf file or a model folder");
  }
  return model::load_tokenizer(option);
}

std::string key_of(const Plan& plan, bool tokens) {
  const DataOptions& o = plan.options;
  char share[32];
  std::snprintf(share, sizeof(share), "%.17g", o.val_share);
  std::string text = str("gyre.dataset/1\nval ", share, "\ntokenizer ",
                         plan.tokenizer ? model::tokenizer_hash(*plan.tokenizer) : o.tokenizer);
  if (!plan.tokenizer && !tokens) {
    text += str(" ", o.bpe_vocab);
  }
  for (const Source& source : plan.sources) {
    text += str("\n", static_cast<int>(source.kind), static_cast<int>(source.compression),
                static_cast<int>(source.in_folder), " ", source.sha256);
    if (source.kind == SourceKind::JsonLines) {
      text += " " + o.field;
    } else if (source.kind == SourceKind::Tokens) {
      text += " " + source.path.filename().string();  // names decide the split of shards
    }
  }
  return sha256(text).substr(0, 32);
}

}  // namespace

Plan plan_preparation(const DataOptions& options) {
  check_options(options);
  Plan plan{options, resolve_sources(options.data), nullptr, ""};
  const bool tokens = all_tokens(plan.sources);
  plan.tokenizer = given_tokenizer(options.tokenizer, tokens);
  for (Source& source : plan.sources) {
    source.sha256 = sha256_file(source.path);
  }
  plan.key = key_of(plan, tokens);
  return plan;
}

Dataset prepare_into(const DataOptions& options, const fs::path& out, bool force) {
  if (fs::exists(out) && !force) {
    throw Error(Code::Usage, out.string(), ": already there; give another --out, or --force");
  }
  if (fs::exists(out) && !is_prepared(out) && !(fs::is_directory(out) && fs::is_empty(out))) {
    throw Error(Code::Usage, out.string(),
                ": not a prepared dataset; --force replaces only what gyre data prepare wrote");
  }
  const Plan plan = plan_preparation(options);
  TemporaryFolder folder(out);
  write_shards(plan, folder.path());
  if (!folder.publish(true)) {
    throw Error(Code::File, out.string(), ": another process created it meanwhile");
  }
  return open_prepared(out);
}

}  // namespace gyre::data
