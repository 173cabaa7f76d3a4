#include "gyre/train/any_model.h"

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/log.h"
#include "gyre/inspect/lint/rule.h"
#include "gyre/model/load/load.h"
#include "gyre/model/weights.h"
#include "gyre/tensor/header_text.h"
#include "gyre/train/machine.h"
#include "gyre/train/run_dir.h"

namespace gyre::train {
namespace {

// A run records which tokenizer it had and where its corpus lies, not the tokenizer itself.
std::shared_ptr<const model::Tokenizer> tokenizer_of(const std::filesystem::path& path,
                                                     const RunManifest& manifest,
                                                     const std::string& text_for) {
  if (manifest.tokenizer_kind == "bytes") {
    return model::byte_tokenizer();
  }
  if (manifest.tokenizer_kind == "none") {
    if (!text_for.empty()) {
      model::no_tokenizer(text_for, path);
    }
    return nullptr;
  }
  try {
    return open_run_dataset(manifest).tokenizer;
  } catch (const Error& fault) {
    if (!text_for.empty()) {
      throw Error(fault.code(), path.string(),
                  ": the run's tokenizer is not there: ", fault.what());
    }
    log(Level::Warning, "the run's tokenizer is not there, tokens have no text: ", fault.what());
    return nullptr;
  }
}

AnyModel open_run(const std::filesystem::path& path, const AnyModelOptions& options) {
  const std::filesystem::path record = path / "manifest.json";
  auto tokenizer = tokenizer_of(path, manifest_from_json(read_file(record), record.string()),
                                options.text_for);  // before the weights are read
  Run run = load_run(path, options.device);
  run.model.set_compute_dtype(options.dtype);
  const int64_t length = run.manifest.train_length;
  return {path,
          "gyre",
          std::move(run.model),
          std::move(tokenizer),
          length,
          [manifest = run.manifest](int64_t tokens) { return plan_at_length(manifest, tokens); }};
}

// What gyre inspect calls an error may be what the model was trained with: said, and run as read.
void warn_of_positions(const inspect::ResolvedModel& model) {
  for (const inspect::Finding& finding : inspect::lint(model)) {
    if (finding.severity == inspect::Severity::Error) {
      log(Level::Warning, model.path, ": ", finding.id, " ", finding.key, ": ", finding.message,
          "; see: gyre inspect");
    }
  }
}

AnyModel open_checkpoint(const std::filesystem::path& path, const AnyModelOptions& options) {
  auto loaded = std::make_shared<model::LoadedModel>(
      model::load_model(path, {.dtype = options.dtype, .text_for = options.text_for}));
  warn_of_positions(loaded->resolved);
  std::shared_ptr<model::WeightSource> weights;
  if (options.streamed) {
    weights = std::make_shared<model::StreamedWeights>(loaded->weights);
  } else {
    weights =
        std::make_shared<model::ResidentWeights>(*loaded->weights, loaded->config, options.device);
  }
  std::shared_ptr<const model::Tokenizer> tokenizer = std::move(loaded->tokenizer);
  give_back_freed_memory();  // a tokenizer.json of 33 MB takes 300 MiB to read
  return {path,
          loaded->family->name,
          model::Transformer(loaded->config, loaded->plan, std::move(weights)),
          std::move(tokenizer),
          loaded->max_length,
          [loaded](int64_t tokens) { return loaded->plan_at_length(tokens); }};
}

}  // namespace

std::vector<int64_t> AnyModel::prompt(std::string_view text, model::Specials specials) const {
  const std::vector<int32_t> ids = model::encode_prompt(*tokenizer, text, specials);
  const int64_t vocab = model.config().vocab;
  for (const int32_t id : ids) {
    if (id >= vocab) {
      throw Error(Code::Format, path.string(), ": the text has the token ",
                  tensor::printable(tokenizer->piece(id)), ", id ", id,
                  " of the tokenizer, and the model's vocabulary is ", vocab,
                  "; leave it out of the text");
    }
  }
  return {ids.begin(), ids.end()};
}

AnyModel load_any_model(const std::filesystem::path& path, const AnyModelOptions& options) {
  return std::filesystem::is_regular_file(path / "manifest.json") ? open_run(path, options)
                                                                  : open_checkpoint(path, options);
}

}  // namespace gyre::train
