#include "gyre/evaluate/evaluate.h"

#include <ATen/ops/stack.h>
#include <c10/core/GradMode.h>

#include <chrono>
#include <cmath>

#include "gyre/base/files.h"
#include "gyre/base/log.h"
#include "gyre/evaluate/eval_record.h"
#include "gyre/evaluate/models_by_length.h"
#include "gyre/train/trainer.h"

namespace gyre::evaluate {
namespace {

at::Device device_of(const model::Transformer& model) {
  return model.parameters().front().value.device();
}

NllFn nll_of(ModelsByLength& models) {
  return [&models](const at::Tensor& tokens, const at::Tensor& targets) {
    const model::Transformer& model = models.at(tokens.size(1));
    return model.nll(tokens.to(device_of(model)), targets.to(device_of(model)));
  };
}

NextLogitsFn next_logits_of(ModelsByLength& models) {
  return [&models](const at::Tensor& tokens) {
    const model::Transformer& model = models.at(tokens.size(1));
    const at::Tensor hidden_BTC = model.hidden(tokens.to(device_of(model)));
    return model.project(hidden_BTC.select(1, tokens.size(1) - 1));
  };
}

void check_dataset(const train::Run& run, const data::Dataset& dataset) {
  if (dataset.tokenizer_hash != run.manifest.tokenizer_hash) {
    throw Error(Code::Usage, "eval: the run was trained with tokenizer ",
                run.manifest.tokenizer_hash.substr(0, 12), ", the data is tokenised with ",
                dataset.tokenizer_hash.substr(0, 12), "; prepare it with the run's tokenizer");
  }
  if (dataset.vocab > run.manifest.model.vocab) {
    throw Error(Code::Usage, "eval: the data has ", dataset.vocab, " token ids, the model ",
                run.manifest.model.vocab);
  }
}

std::vector<NeedleCell> needle_cells(ModelsByLength& models, const data::Dataset& dataset,
                                     const EvalOptions& options, std::vector<std::string>& notes) {
  std::vector<NeedleCell> cells;
  if (dataset.tokenizer == nullptr) {
    if (!options.distractors.empty()) {
      notes.push_back("needle: skipped, token shards without a tokenizer have no letters");
    }
    return cells;
  }
  const NeedleAlphabet alphabet = needle_alphabet(*dataset.tokenizer, options.needle_family);
  for (const int64_t n : options.distractors) {
    const NeedleDesign design{options.needle_family, n, options.needle_foils, options.needle_items,
                              static_cast<uint64_t>(options.eval_seed)};
    try {
      cells.push_back(rank_needles(alphabet, design, next_logits_of(models)));
    } catch (const train::Interrupted&) {
      throw;
    } catch (const Error& error) {  // too few letters for this many pairs: the other cells stand
      notes.push_back(str("skipped: ", error.what()));
      continue;
    }
    if (!std::isfinite(cells.back().evidence.option_nll)) {
      notes.push_back(str("needle: scores at ", n, " distractors are not finite"));
    }
  }
  return cells;
}

std::optional<BandReport> band_report(const train::Run& run, const data::Dataset& dataset,
                                      int64_t n_windows, std::vector<std::string>& notes) {
  const int64_t T = run.manifest.train_length;
  const int64_t held = std::min(n_windows, dataset.val->size() / T);
  if (held < n_windows) {
    notes.push_back(str("bands: ", n_windows, " windows asked, the validation split holds ", held));
  }
  if (held < 1) {
    return std::nullopt;
  }
  const c10::NoGradGuard no_grad;
  std::vector<at::Tensor> rows;
  for (int64_t i = 0; i < held; ++i) {
    rows.push_back(dataset.val->read(i * T, T));
  }
  model::Capture capture;
  run.model.hidden(at::stack(rows).to(device_of(run.model)), {.tap = capture.tap()});
  return analyze_bands(capture, run.model.plan(), run.model.current_inv_freq(), T);
}

/// Runs one part and keeps its time.
template <class Part>
auto timed(Evaluation& out, const char* name, Part part) {
  const auto start = std::chrono::steady_clock::now();
  auto result = part();
  out.seconds[name] =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace

Evaluation evaluate(const train::Run& run, const data::Dataset& dataset,
                    const EvalOptions& options) {
  check(options);
  check_dataset(run, dataset);
  const int64_t T = run.manifest.train_length;
  ModelsByLength models(run);
  const NllFn nll = nll_of(models);
  Evaluation out;
  if (const std::string& rule = run.manifest.plan.length_rule; !rule.empty()) {
    out.notes.push_back("positions depend on the length: " + rule);
  }
  out.corpus_hash = dataset.corpus_hash;
  out.tokenizer_hash = dataset.tokenizer_hash;
  out.options = options;
  out.val = timed(out, "val", [&] {
    return validate(dataset, T, options.val_tokens, options.val_block, nll, out.notes);
  });
  if (options.length_tokens > 0) {
    out.lengths = timed(out, "lengths", [&] {
      return length_curve(*dataset.val, parse_lengths(options.lengths, T), options.length_tokens,
                          nll, out.notes);
    });
  }
  out.needle =
      timed(out, "needle", [&] { return needle_cells(models, dataset, options, out.notes); });
  if (options.band_windows > 0) {
    out.bands = timed(out, "bands",
                      [&] { return band_report(run, dataset, options.band_windows, out.notes); });
  }
  for (const std::string& note : out.notes) {
    log(Level::Warning, run.dir.filename().string(), ": ", note);
  }
  return out;
}

std::string evaluate_run(const std::filesystem::path& dir, const EvalOptions& options, bool force,
                         at::Device device) {
  const train::Run run = train::load_run(dir, device);
  const std::filesystem::path file = dir / "eval.json";
  if (!force && std::filesystem::exists(file)) {
    const std::string old = read_file(file);
    if (same_evaluation(old, run, run.manifest.corpus_hash, options)) {
      return old;
    }
  }
  const data::Dataset dataset = train::open_run_dataset(run.manifest);
  const std::string text = to_json(evaluate(run, dataset, options), run);
  write_file_atomic(file, text + "\n");
  return text;
}

}  // namespace gyre::evaluate
