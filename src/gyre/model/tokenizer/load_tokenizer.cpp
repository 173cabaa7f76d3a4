// Opens whatever holds a tokenizer; what it is, is decided by its content.
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/model/tokenizer/base64.h"
#include "gyre/model/tokenizer/bpe.h"
#include "gyre/model/tokenizer/gguf_vocab.h"
#include "gyre/model/tokenizer/hf_tokenizer.h"
#include "gyre/model/tokenizer/sentencepiece_model.h"

namespace gyre::model {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

SpecialIds special_of(const Json& json) {
  SpecialIds ids;
  json.at("bos").get_to(ids.bos);
  json.at("eos").get_to(ids.eos);
  json.at("add_bos").get_to(ids.add_bos);
  json.at("add_eos").get_to(ids.add_eos);
  return ids;
}

std::unique_ptr<Tokenizer> own_bpe(const Json& json) {
  auto tokenizer = bpe_tokenizer(json.at("merges").get<std::vector<Merge>>());
  if (json.at("vocab").get<int64_t>() != tokenizer->vocab()) {
    throw Error(Code::Format, "'vocab' is ", json.at("vocab").dump(), " but the merges give ",
                tokenizer->vocab());
  }
  return tokenizer;
}

/// What serialize() wrote.
std::unique_ptr<Tokenizer> own(const Json& json, const std::string& text, const fs::path& path) {
  const std::string kind = json.at("kind").get<std::string>();
  if (kind == "bytes") {
    return byte_tokenizer();
  }
  if (kind == "bpe") {
    return own_bpe(json);
  }
  if (kind == "sentencepiece") {
    std::optional<SpecialIds> known;
    if (json.contains("special")) {
      known = special_of(json.at("special"));
    }
    return sentencepiece_from_bytes(base64_decode(json.at("model").get<std::string>()),
                                    path.string(), known);
  }
  if (kind == "tokenizer.json") {
    return hf_tokenizer(json.at("source").get<std::string>(), {}, special_of(json.at("special")));
  }
  if (kind == "gguf") {
    return gguf_tokenizer(gguf_vocab_from_json(text));
  }
  throw Error(Code::Format, "unknown tokenizer kind '", kind,
              "'; known: bytes, bpe, sentencepiece, tokenizer.json, gguf");
}

SideFiles side_files(const fs::path& folder) {
  const auto read = [&](const char* name) {
    return fs::is_regular_file(folder / name) ? read_file(folder / name) : std::string();
  };
  return {read("tokenizer_config.json"), read("generation_config.json"), read("config.json")};
}

/// Whether this is what serialize() wrote; the whole text is not read for that.
bool is_own(std::string_view text) {
  return text.substr(0, 200).find("gyre.tokenizer/1") != std::string_view::npos;
}

std::unique_ptr<Tokenizer> load_file(const fs::path& path) {
  const std::string text = read_file(path);
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text[first] != '{') {
    return sentencepiece_from_bytes(text, path.string(), {}, side_files(path.parent_path()));
  }
  return is_own(text) ? own(Json::parse(text), text, path)
                      : hf_tokenizer(text, side_files(path.parent_path()));
}

bool is_gguf(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  char magic[4] = {};
  return in.read(magic, 4) && std::string_view(magic, 4) == "GGUF";
}

/// The file of a model folder that holds its tokenizer.
fs::path in_folder(const fs::path& folder) {
  for (const char* name : {"tokenizer.json", "tokenizer.model"}) {
    if (fs::is_regular_file(folder / name)) {
      return folder / name;
    }
  }
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".gguf") {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  for (const fs::path& path : found) {  // of a file in parts, the first holds the vocabulary
    if (found.size() == 1 || path.string().find("-00001-of-") != std::string::npos) {
      return path;
    }
  }
  throw Error(Code::Format, folder.string(),
              ": no tokenizer.json, tokenizer.model or single .gguf file in this folder");
}

}  // namespace

std::unique_ptr<Tokenizer> load_tokenizer(const fs::path& given) {
  const fs::path path = fs::is_directory(given) ? in_folder(given) : given;
  try {
    return is_gguf(path) ? gguf_tokenizer(read_gguf_vocab(tensor::GgufFile(path)))
                         : load_file(path);
  } catch (const Json::exception& e) {
    throw Error(Code::Format, path.string(), ": damaged tokenizer file: ", e.what());
  } catch (const Error& e) {
    const std::string text = e.what();
    throw Error(e.code(), text.starts_with(path.string()) ? "" : path.string() + ": ", text);
  }
}

}  // namespace gyre::model
