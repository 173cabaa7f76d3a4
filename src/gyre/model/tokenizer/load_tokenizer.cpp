// Reads any tokenizer that serialize() wrote: one JSON object with "schema" and "kind".
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/model/tokenizer/base64.h"
#include "gyre/model/tokenizer/bpe.h"
#include "gyre/model/tokenizer/sentencepiece_model.h"

namespace gyre::model {
namespace {

using Json = nlohmann::json;

std::unique_ptr<Tokenizer> build(const Json& json, const std::string& path) {
  const std::string kind = json.at("kind").get<std::string>();
  if (kind == "bytes") {
    return byte_tokenizer();
  }
  if (kind == "bpe") {
    auto tokenizer = bpe_tokenizer(json.at("merges").get<std::vector<Merge>>());
    if (json.at("vocab").get<int64_t>() != tokenizer->vocab()) {
      throw Error(Code::Format, "'vocab' is ", json.at("vocab").dump(), " but the merges give ",
                  tokenizer->vocab());
    }
    return tokenizer;
  }
  if (kind == "sentencepiece") {
    return sentencepiece_from_bytes(base64_decode(json.at("model").get<std::string>()), path);
  }
  throw Error(Code::Format, "unknown tokenizer kind '", kind,
              "'; known: bytes, bpe, sentencepiece");
}

}  // namespace

std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& path) {
  const Json json = Json::parse(read_file(path), nullptr, false);
  if (!json.is_object() || json.value("schema", Json()) != "gyre.tokenizer/1") {
    throw Error(Code::Format, path.string(),
                ": not a gyre tokenizer file (expected schema gyre.tokenizer/1)");
  }
  try {
    return build(json, path.string());
  } catch (const Json::exception& e) {
    throw Error(Code::Format, path.string(), ": damaged tokenizer file: ", e.what());
  } catch (const Error& e) {
    throw Error(e.code(), path.string(), ": ", e.what());
  }
}

std::string tokenizer_hash(const Tokenizer& tokenizer) {
  return sha256(tokenizer.serialize());
}

}  // namespace gyre::model
