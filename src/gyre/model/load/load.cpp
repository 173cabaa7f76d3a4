#include "gyre/model/load/load.h"

#include <cstdio>

#include "gyre/base/error.h"
#include "gyre/base/log.h"
#include "gyre/inspect/inspect.h"
#include "gyre/inspect/readers.h"
#include "gyre/tensor/header_text.h"

namespace gyre::model {
namespace {

namespace fs = std::filesystem;
using inspect::SourceKind;

std::string padded(int64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(5 - std::min<size_t>(5, digits.size()), '0') + digits;
}

/// All files of the model that `path` is one of: llama-gguf-split names them
/// NAME-00001-of-00003.gguf and says in each how many there are.
std::vector<fs::path> gguf_parts(const fs::path& path) {
  const tensor::GgufFile file(path);
  const auto n = static_cast<int64_t>(file.number("split.count", 1.0));
  if (n <= 1) {
    return {path};
  }
  const std::string stem = path.stem().string(), end = "-of-" + padded(n);
  if (n > 99999 || !stem.ends_with(end) || stem.size() < end.size() + 6) {
    throw Error(Code::Format, path.string(), ": one of ", n,
                " parts, and its name does not end in -00001", end, ".gguf; restore the name");
  }
  const std::string start = stem.substr(0, stem.size() - end.size() - 5);
  std::vector<fs::path> parts;
  for (int64_t i = 1; i <= n; ++i) {
    parts.push_back(path.parent_path() / (start + padded(i) + end + ".gguf"));
    if (!fs::is_regular_file(parts.back())) {
      throw Error(Code::Format, path.string(), ": part ", parts.back().filename().string(),
                  " is missing; fetch it");
    }
  }
  return parts;
}

/// A tokenizer may have special tokens that the model was not made for (Gemma 3's of images), and
/// gaps. Error(Format) when it has others: it belongs to another model.
void check_fits(const Tokenizer& tokenizer, int64_t vocab, const fs::path& path) {
  const SpecialIds around = tokenizer.special_ids();
  bool fits = !around.add_bos || around.bos < vocab;
  for (int64_t id = vocab; id < tokenizer.vocab() && fits; ++id) {
    const auto one = static_cast<int32_t>(id);
    fits = tokenizer.is_special(one) || tokenizer.piece(one).empty();
  }
  if (!fits) {
    throw Error(Code::Format, path.string(), ": the tokenizer has ids up to ",
                tokenizer.vocab() - 1, ", the model's vocabulary is ", vocab,
                "; they are not of one checkpoint, fetch the model's own tokenizer");
  }
}

// A tokenizer that cannot be read is no reason not to run token ids.
std::unique_ptr<Tokenizer> tokenizer_of(const inspect::ResolvedModel& resolved, int64_t vocab,
                                        const std::string& text_for) {
  const fs::path path = resolved.path;
  const bool there = resolved.source == SourceKind::Gguf ? resolved.raw.has("tokenizer.ggml.tokens")
                                                         : fs::exists(path / "tokenizer.json") ||
                                                               fs::exists(path / "tokenizer.model");
  if (!there) {
    if (!text_for.empty()) {
      no_tokenizer(text_for, path);
    }
    return nullptr;
  }
  try {
    auto tokenizer = load_tokenizer(path);
    check_fits(*tokenizer, vocab, path);
    return tokenizer;
  } catch (const Error& fault) {
    if (!text_for.empty()) {
      throw;
    }
    log(Level::Warning, "tokens have no text: ", fault.what());
    return nullptr;
  }
}

struct Opened {
  const Family* family = nullptr;
  std::unique_ptr<TensorStore> store;
  TensorNames names;
  int64_t n_tokens = -1;  // entries of a GGUF's token list
};

void refuse_quantised(const inspect::ResolvedModel& resolved) {
  for (const std::string root : {"", "text_config."}) {
    const inspect::RawKey* key = resolved.raw.find(root + "quantization_config");
    if (key == nullptr || key->type == inspect::RawType::Null) {
      continue;
    }
    const inspect::RawKey* method = resolved.raw.find(key->path + ".quant_method");
    throw Error(Code::Format, resolved.path, ": the weights are quantised (",
                method == nullptr ? key->path : "quant_method " + method->text,
                "), which is not supported; use the checkpoint it was made from, or a GGUF");
  }
}

Opened open_folder(const inspect::ResolvedModel& resolved) {
  const fs::path folder = resolved.path;
  if (!fs::is_regular_file(folder / "config.json")) {
    throw Error(Code::Format, folder.string(),
                ": no config.json beside the weights, so the model is not known; fetch it");
  }
  const Family* family = find_family(resolved.model_type);
  if (family == nullptr) {
    throw Error(Code::Format, folder.string(), ": model_type '",
                tensor::printable(resolved.model_type), "' cannot be loaded; known are ",
                known_model_types());
  }
  refuse_quantised(resolved);
  auto store = open_safetensors(folder);
  const TensorNames names = TensorNames::hugging_face(*store, *family, folder.string());
  return {family, std::move(store), names};
}

Opened open_gguf(const inspect::ResolvedModel& resolved, const std::vector<fs::path>& files) {
  const Family* family = find_gguf_family(resolved.model_type);
  if (family == nullptr) {
    throw Error(Code::Format, resolved.path, ": architecture '",
                tensor::printable(resolved.model_type), "' cannot be loaded; known are ",
                known_gguf_architectures());
  }
  std::vector<std::shared_ptr<const tensor::GgufFile>> parts;
  for (const fs::path& file : files) {
    parts.push_back(std::make_shared<const tensor::GgufFile>(file));
  }
  if (parts.front()->tensors().empty() && parts.size() == 1) {
    throw Error(Code::Format, resolved.path, ": a vocabulary without weights; fetch the model");
  }
  const auto& metadata = parts.front()->metadata();
  const auto tokens = metadata.find("tokenizer.ggml.tokens");
  return {family, gguf_store(parts), TensorNames::gguf(),
          tokens == metadata.end() ? -1 : static_cast<int64_t>(tokens->second.count)};
}

}  // namespace

void no_tokenizer(const std::string& text_for, const fs::path& path) {
  throw Error(Code::Usage, text_for, ": ", path.string(),
              " has no tokenizer, and texts need one; gyre logits --tokens takes ids");
}

LoadedModel load_model(const fs::path& path, const LoadOptions& options) {
  TORCH_CHECK_VALUE(options.dtype == at::kFloat || options.dtype == at::kBFloat16,
                    "checkpoint: models run in float32 or bfloat16, not ", options.dtype);
  LoadedModel out;
  out.path = path;
  out.resolved = inspect::resolve(path);
  Opened opened;
  switch (out.resolved.source) {
    case SourceKind::Folder:
      opened = open_folder(out.resolved);
      break;
    case SourceKind::Gguf: {
      const std::vector<fs::path> files = gguf_parts(out.resolved.path);
      if (files.size() > 1) {
        out.resolved = inspect::read_gguf_parts(files);
      }
      opened = open_gguf(out.resolved, files);
      break;
    }
    case SourceKind::Config:
    case SourceKind::Safetensors:
      throw Error(Code::Format, path.string(),
                  ": a model is a folder with config.json and *.safetensors, or a .gguf file; "
                  "name the folder");
    case SourceKind::Run:
      throw Error(Code::Usage, path.string(), ": a run of gyre, no checkpoint of another program");
  }
  out.family = opened.family;
  out.settings =
      read_settings(out.resolved, *opened.family, opened.names, *opened.store, opened.n_tokens);
  out.config = out.settings.config;
  out.plan = plan_of(out.resolved, out.settings, 0);
  out.max_length = out.resolved.max_length;
  out.tokenizer = tokenizer_of(out.resolved, out.config.vocab, options.text_for);
  out.weights =
      std::make_shared<CheckpointWeights>(std::move(opened.store), opened.names, *opened.family,
                                          out.config, out.settings.biases, options.dtype);
  for (const inspect::Finding& doubt : out.resolved.doubts) {  // not beside an error
    if (doubt.severity == inspect::Severity::Error) {
      log(Level::Warning, path.string(), ": ", doubt.message);
    }
  }
  return out;
}

}  // namespace gyre::model
