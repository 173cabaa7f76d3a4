#include "gyre/data/token_split.h"

#include <algorithm>

#include "gyre/base/error.h"
#include "gyre/data/split.h"
#include "gyre/data/token_file.h"

namespace gyre::data {
namespace fs = std::filesystem;
namespace {

struct Shard {
  MappedFile file;
  TokenFileInfo info;
};

struct Section {
  const Shard* shard;
  int64_t begin, end;
  bool held_out;
};

int64_t check_tokens(const Shard& shard, const model::Tokenizer* tokenizer) {
  int64_t largest = 0;
  for (int64_t i = 0; i < shard.info.n_tokens; ++i) {
    const int64_t token = token_at(shard.file, shard.info, i);
    largest = std::max(largest, token);
    if (tokenizer != nullptr && token >= tokenizer->vocab()) {
      throw Error(Code::Format, shard.file.path().string(), ": token ", token, " at position ", i,
                  " is outside the vocabulary of ", tokenizer->vocab(), " (", tokenizer->kind(),
                  "); give the tokenizer these shards were made with");
    }
    if (token > INT32_MAX) {
      throw Error(Code::Format, shard.file.path().string(), ": token ", token, " at position ", i,
                  " is too large for a token id; damaged file");
    }
  }
  return largest;
}

std::vector<Shard> open_shards(const Plan& plan, Manifest& manifest) {
  std::vector<Shard> shards;
  int64_t largest = 0;
  for (const Source& source : plan.sources) {
    MappedFile file(source.path);
    const TokenFileInfo info = inspect_token_file(file);
    shards.push_back({std::move(file), info});
    largest = std::max(largest, check_tokens(shards.back(), plan.tokenizer.get()));
  }
  manifest.vocab = plan.tokenizer ? plan.tokenizer->vocab() : largest + 1;
  return shards;
}

bool named(const Source& source, const char* word) {
  return source.path.filename().string().find(word) != std::string::npos;
}

/// Whole files, held out by name; empty when the names do not say.
std::vector<Section> sections_by_name(const Plan& plan, const std::vector<Shard>& shards) {
  std::vector<Section> sections;
  int64_t n_val = 0;
  for (size_t i = 0; i < shards.size(); ++i) {
    const bool val = named(plan.sources[i], "val");
    if (val == named(plan.sources[i], "train")) {
      return {};
    }
    n_val += val ? 1 : 0;
    sections.push_back({&shards[i], 0, shards[i].info.n_tokens, val});
  }
  const bool both = n_val > 0 && n_val < static_cast<int64_t>(sections.size());
  return both ? sections : std::vector<Section>{};
}

std::string section_hash(const Section& section) {
  const size_t width = section.shard->info.token_bytes;
  const auto bytes = section.shard->file.bytes().subspan(section.shard->info.header_bytes);
  return sha256(bytes.subspan(static_cast<size_t>(section.begin) * width,
                              static_cast<size_t>(section.end - section.begin) * width));
}

std::vector<Section> sections_by_hash(const std::vector<Shard>& shards, double share) {
  std::vector<Section> sections;
  for (const Shard& shard : shards) {
    const int64_t n = shard.info.n_tokens;
    const int64_t step = shards.size() > 1 ? n : std::clamp<int64_t>(n / 20, 1, kSectionTokens);
    for (int64_t begin = 0; begin < n; begin += step) {
      sections.push_back({&shard, begin, std::min(n, begin + step), false});
    }
  }
  if (sections.size() < 2) {
    throw Error(Code::Format,
                "corpus too small: one token cannot be split into training and "
                "validation text");
  }
  std::vector<Piece> pieces;
  for (const Section& section : sections) {
    pieces.push_back({section.end - section.begin, section_hash(section)});
  }
  const std::vector<bool> held_out = choose_validation(pieces, share);
  for (size_t i = 0; i < sections.size(); ++i) {
    sections[i].held_out = held_out[i];
  }
  return sections;
}

SplitRecord copy_side(const std::vector<Section>& sections, bool held_out, const fs::path& path,
                      bool wide) {
  TokenWriter writer(path, wide);
  SplitRecord record;
  for (const Section& section : sections) {
    if (section.held_out != held_out) {
      continue;
    }
    std::vector<int32_t> ids;
    ids.reserve(static_cast<size_t>(section.end - section.begin));
    for (int64_t i = section.begin; i < section.end; ++i) {
      ids.push_back(static_cast<int32_t>(token_at(section.shard->file, section.shard->info, i)));
    }
    writer.append(ids);
    ++record.documents;
  }
  writer.finish();
  record.tokens = writer.n_tokens();
  record.sha256 = sha256_file(path);
  return record;
}

}  // namespace

void split_token_files(const Plan& plan, const fs::path& dir, Manifest& manifest) {
  const std::vector<Shard> shards = open_shards(plan, manifest);
  std::vector<Section> sections = sections_by_name(plan, shards);
  if (!sections.empty()) {
    manifest.split_rule = "token shards named train and val";
  } else {
    sections = sections_by_hash(shards, plan.options.val_share);
    manifest.split_rule = shards.size() > 1 ? "whole token shards, by content hash"
                                            : "one token shard, cut into sections; by content hash";
  }
  const bool wide = manifest.vocab > 65536;
  manifest.train = copy_side(sections, false, dir / "train.bin", wide);
  manifest.val = copy_side(sections, true, dir / "val.bin", wide);
}

}  // namespace gyre::data
