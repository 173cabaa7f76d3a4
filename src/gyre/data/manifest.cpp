#include "gyre/data/manifest.h"

#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/json_words.h"

namespace gyre::data {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char* kSchema = "gyre.dataset/1";

Json split_json(const SplitRecord& split) {
  return {{"documents", split.documents},
          {"bytes", split.bytes},
          {"tokens", split.tokens},
          {"sha256", split.sha256}};
}

SplitRecord split_from(const Json& json) {
  return {json.at("documents").get<int64_t>(), json.at("bytes").get<int64_t>(),
          json.at("tokens").get<int64_t>(), json.at("sha256").get<std::string>()};
}

Json parse_manifest(const std::filesystem::path& path) {
  const Json json = Json::parse(read_file(path), nullptr, false);
  if (!json.is_object() || !json.contains("schema") || json.at("schema") != kSchema) {
    throw Error(Code::Format, path.string(), ": not a manifest of schema ", kSchema);
  }
  return json;
}

}  // namespace

std::string manifest_to_json(const Manifest& m) {
  Json sources = Json::array();
  for (const SourceRecord& source : m.sources) {
    sources.push_back({{"name", source.name}, {"sha256", source.sha256}});
  }
  const Json json = {{"schema", kSchema},
                     {"documents", m.train.documents + m.val.documents},
                     {"bytes", m.train.bytes + m.val.bytes},
                     {"tokens", m.train.tokens + m.val.tokens},
                     {"sha256", m.corpus_hash},
                     {"corpus_hash", m.corpus_hash},
                     {"vocab", m.vocab},
                     {"tokenizer_kind", m.tokenizer_kind},
                     {"tokenizer_hash", m.tokenizer_hash},
                     {"train", split_json(m.train)},
                     {"val", split_json(m.val)},
                     {"val_share", m.val_share},
                     {"split_rule", m.split_rule},
                     {"duplicates", m.duplicates},
                     {"sources", sources}};
  return json.dump(1);
}

Manifest read_manifest(const std::filesystem::path& path) {
  const Json json = parse_manifest(path);
  try {
    Manifest m;
    for (const Json& source : json.at("sources")) {
      m.sources.push_back(
          {source.at("name").get<std::string>(), source.at("sha256").get<std::string>()});
    }
    m.duplicates = json.at("duplicates").get<int64_t>();
    m.tokenizer_kind = json.at("tokenizer_kind").get<std::string>();
    m.tokenizer_hash = json.at("tokenizer_hash").get<std::string>();
    m.vocab = json.at("vocab").get<int64_t>();
    m.val_share = json.at("val_share").get<double>();
    m.split_rule = json.at("split_rule").get<std::string>();
    m.train = split_from(json.at("train"));
    m.val = split_from(json.at("val"));
    m.corpus_hash = json.at("corpus_hash").get<std::string>();
    return m;
  } catch (const Json::exception& e) {
    throw Error(Code::Format, path.string(), ": damaged manifest: ", json_words(e));
  }
}

bool is_prepared(const std::filesystem::path& dir) {
  const std::filesystem::path path = dir / "manifest.json";
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return false;
  }
  const Json json = Json::parse(read_file(path), nullptr, false);
  return json.is_object() && json.contains("schema") && json.at("schema") == kSchema;
}

}  // namespace gyre::data
