// Opens whatever holds a tokenizer; what it is, is decided by its content.
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/json_words.h"
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

/// "" = not there. One that is there and cannot be read is an error: what it says of ids would be
/// lost without a word.
std::string side_file(const fs::path& path) {
  const std::string text = fs::is_regular_file(path) ? read_file(path) : "";
  try {
    check_json_depth(text);
    if (fs::exists(path) && !Json::parse(text).is_object()) {
      throw Error(Code::Format, "expected a JSON object");
    }
  } catch (const Json::exception& fault) {
    throw Error(Code::Format, path.string(), ": no JSON: ", json_words(fault));
  } catch (const Error& fault) {
    throw Error(fault.code(), path.string(), ": ", fault.what());
  }
  return text;
}

SideFiles side_files(const fs::path& folder) {
  const fs::path config = folder / "config.json";  // has a reader of its own, which takes more
  return {side_file(folder / "tokenizer_config.json"), side_file(folder / "generation_config.json"),
          fs::is_regular_file(config) ? read_file(config) : std::string()};
}

/// Whether this is what serialize() wrote; the whole text is not read for that.
bool is_own(std::string_view text) {
  return text.substr(0, 200).find("gyre.tokenizer/1") != std::string_view::npos;
}

/// Errors of `read` begin with the path.
template <class Read>
std::unique_ptr<Tokenizer> naming(const fs::path& path, Read read) {
  try {
    return read();
  } catch (const Json::exception& fault) {
    throw Error(Code::Format, path.string(), ": damaged tokenizer file: ", json_words(fault));
  } catch (const Error& fault) {
    const std::string text = one_line(fault.what());
    throw Error(fault.code(), text.starts_with(path.string()) ? "" : path.string() + ": ", text);
  }
}

std::unique_ptr<Tokenizer> load_file(const fs::path& path) {
  const std::string text = read_file(path);
  if (is_own(text)) {
    return naming(path, [&] {
      check_json_depth(text);
      return own(Json::parse(text), text, path);
    });
  }
  const SideFiles side = side_files(path.parent_path());
  return naming(path, [&] {
    const size_t first = text.find_first_not_of(" \t\r\n");
    return first == std::string::npos || text[first] != '{'
               ? sentencepiece_from_bytes(text, path.string(), {}, side)
               : hf_tokenizer(text, side);
  });
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
  if (is_gguf(path)) {
    return naming(path, [&] { return gguf_tokenizer(read_gguf_vocab(tensor::GgufFile(path))); });
  }
  return load_file(path);
}

}  // namespace gyre::model
