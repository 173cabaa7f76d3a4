#include "gyre/analyze/analysis.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "gyre/analyze/layer_meter.h"
#include "gyre/analyze/part_times.h"
#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/json_words.h"
#include "gyre/base/log.h"
#include "gyre/base/progress.h"
#include "gyre/base/work_folder.h"
#include "gyre/train/trainer.h"

namespace gyre::analyze {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kLayers = "layers.jsonl";
constexpr const char* kTasksFile = "tasks.jsonl";
constexpr const char* kSpectrumFile = "spectrum.json";
constexpr const char* kTimes = "seconds.jsonl";

const WorkKind& folder_kind() {
  static const WorkKind kind{
      .record = "settings.json",
      .schema = "gyre.analyze.settings/1",
      .noun = "an analysis",
      .users = "gyre analyze",
      .own = {kLayers, kTasksFile, kSpectrumFile, kTimes, "analyze.json", "report.html", "figures"},
      .parts = {kLayers, kTasksFile, kSpectrumFile}};
  return kind;
}

/// What decides the parts that are kept. Which parts are asked for may differ.
WorkSettings settings_of(const AnalyzeSetup& setup) {
  WorkSettings out = {{"model", setup.subject.name},
                      {"model-identity", setup.subject.identity},
                      {"tokenizer", model::tokenizer_hash(setup.subject.tokenizer)}};
  std::string texts;
  for (const Text& text : setup.texts) {
    texts +=
        str(texts.empty() ? "" : ", ", text.source, " (", sha256(text.content).substr(0, 12), ")");
  }
  out["text"] = texts;
  AnalyzeOptions options = setup.options;
  for (const Field& field : fields_of(options)) {
    if (field.name != "ablation" && field.name != "spectrum" && field.name != "threshold" &&
        field.name != "train-length") {
      out[field.name] = field.get();
    }
  }
  return out;
}

void stop_when_interrupted() {
  if (interrupted()) {
    throw train::Interrupted(
        Code::CheckFailed, "analyze: interrupted; what is done is kept, the same command goes on");
  }
}

std::vector<std::string> lines_of(const fs::path& file) {
  std::vector<std::string> out;
  if (!fs::exists(file)) {
    return out;
  }
  std::istringstream lines(read_file(file));
  for (std::string line; std::getline(lines, line) && !lines.eof();) {
    out.push_back(line);  // a line without an end is what a killed run left
  }
  return out;
}

std::vector<LayerRecord> read_layers(const fs::path& file) {
  std::vector<LayerRecord> out;
  for (const std::string& line : lines_of(file)) {
    out.push_back(layer_from_line(line, file.string()));
  }
  return out;
}

/// One pass over all rows; layers measured before are passed by.
std::vector<LayerRecord> measure_layers(const Subject& subject, const Rows& rows,
                                        const fs::path& file, PartTimes& times) {
  std::vector<LayerRecord> layers = read_layers(file);
  const auto n_layers = static_cast<size_t>(subject.model.config().layers);
  if (layers.size() == n_layers) {
    return layers;
  }
  LineWriter writer(file);
  LayerMeter meter(subject, rows);
  Progress progress("analyze", static_cast<int64_t>(n_layers), "layers");
  const auto known = static_cast<int64_t>(layers.size());
  const auto tap = [&](int64_t n, at::Tensor& q, at::Tensor& k, at::Tensor& v) {
    stop_when_interrupted();
    if (n >= known) {
      layers.push_back(meter.measure(n, q, k, v));
      writer.write(to_line(layers.back()));
      times.lap("layers");
    }
    progress.update(n + 1);
  };
  const c10::NoGradGuard no_grad;
  subject.model.hidden(rows.tokens, {.tap = tap});
  return layers;
}

std::string task_line(const TaskLosses& run) {
  Json json = {{"task", run.task}, {"group", run.group}, {"loss", run.loss}};
  if (run.accuracy) {
    json["accuracy"] = *run.accuracy;
  }
  return json.dump();
}

TaskLosses task_from_line(const std::string& line, const std::string& owner) {
  try {
    const Json json = Json::parse(line);
    TaskLosses out{json.at("task").get<std::string>(),
                   json.at("group").get<int>(),
                   json.at("loss").get<std::vector<double>>(),
                   {}};
    if (json.contains("accuracy")) {
      out.accuracy = json.at("accuracy").get<double>();
    }
    return out;
  } catch (const Json::exception& fault) {
    throw Error(Code::Format, owner, ": not a line of gyre analyze: ", json_words(fault),
                "; --force starts over");
  }
}

Ablation run_ablation(const AnalyzeSetup& setup, const Rows& rows, const fs::path& file,
                      PartTimes& times) {
  std::vector<TaskLosses> runs;
  for (const std::string& line : lines_of(file)) {
    runs.push_back(task_from_line(line, file.string()));
  }
  LineWriter writer(file);
  constexpr int kGroups = static_cast<int>(kGroupNames.size());
  Progress progress("tasks without some pairs", static_cast<int64_t>(kTasks.size()) * (kGroups + 1),
                    "runs");
  int64_t done = 0;
  for (const char* task : kTasks) {
    for (int group = -1; group < kGroups; ++group) {
      stop_when_interrupted();
      const bool known = std::any_of(runs.begin(), runs.end(), [&](const TaskLosses& run) {
        return run.task == task && run.group == group;
      });
      if (!known) {
        runs.push_back(run_task(setup.subject, rows, setup.options, task, group));
        writer.write(task_line(runs.back()));
        times.lap("ablation");
      }
      progress.update(++done, task);
    }
  }
  return summarize_ablation(setup.subject.model, runs);
}

Spectrum run_spectrum(const AnalyzeSetup& setup, const Rows& rows, const fs::path& file,
                      PartTimes& times) {
  if (fs::exists(file)) {
    return spectrum_from_json(read_file(file), file.string());
  }
  Spectrum out = measure_spectrum(setup.subject, rows, setup.options);
  write_file_atomic(file, to_json(out) + "\n");
  times.lap("spectrum");
  return out;
}

Shape shape_of(const model::Transformer& model) {
  const model::ModelConfig& config = model.config();
  return {config.layers,          config.heads,
          config.n_kv_heads(),    config.head_dim,
          model.plan().n_pairs(), config.vocab,
          model.n_parameters(),   position::layout_name(model.plan().layout)};
}

/// The first tokens of a row as text, for the axes of drawn patterns.
std::vector<std::string> token_texts(const Subject& subject, const at::Tensor& row) {
  const at::Tensor ids = row.contiguous();
  std::vector<std::string> out;
  for (int64_t i = 0; i < std::min<int64_t>(64, ids.numel()); ++i) {
    const auto id = static_cast<int32_t>(ids.const_data_ptr<int64_t>()[i]);
    out.push_back(id == subject.begin_token ? "<begin>" : subject.tokenizer.piece(id));
  }
  return out;
}

void summarize(Analysis& out, const Subject& subject, const Rows& rows) {
  out.usage = summarize_usage(out.layers, rows, out.train_length);
  out.catalogue = make_catalogue(out.layers, out.options.threshold);
  out.positions = measure_positions(out.layers, subject.model, out.train_length);
  if (!out.positions) {
    out.notes.push_back("nothing rotates: shares, bands, ablation and spectrum are left out");
  }
}

}  // namespace

Analysis analyze(const AnalyzeSetup& setup) {
  check(setup.options);
  const Subject& subject = setup.subject;
  std::vector<Text> texts = setup.options.builtin ? builtin_texts() : std::vector<Text>();
  texts.insert(texts.end(), setup.texts.begin(), setup.texts.end());
  const Rows rows = make_rows(subject, texts, setup.options);
  const WorkFolder folder(setup.out, folder_kind(), settings_of(setup), setup.force);
  Analysis out;
  out.model = subject.name;
  out.shape = shape_of(subject.model);
  out.options = setup.options;
  out.domains = rows.domains;
  out.notes = rows.notes;
  out.train_length = setup.options.train_length > 0 ? setup.options.train_length
                     : subject.train_length > 0     ? subject.train_length
                                                    : setup.options.tokens;
  if (setup.options.train_length == 0 && subject.train_length == 0) {
    out.notes.push_back(str("the model states no training length; ", out.train_length,
                            " tokens, those of a row, stand for it; give --train-length"));
  }
  for (const int64_t row : {int64_t{0}, rows.first_repeat(), rows.first_alphabet()}) {
    out.row_tokens.push_back(token_texts(subject, rows.tokens[row]));
  }
  PartTimes times(setup.out / kTimes);
  out.layers = measure_layers(subject, rows, setup.out / kLayers, times);
  summarize(out, subject, rows);
  if (setup.options.ablation && out.positions) {
    times.start();
    out.ablation = run_ablation(setup, rows, setup.out / kTasksFile, times);
  }
  if (setup.options.spectrum && out.positions) {
    times.start();
    out.spectrum = run_spectrum(setup, rows, setup.out / kSpectrumFile, times);
  }
  out.seconds = times.sums();
  out.findings = find(out);
  for (const std::string& note : out.notes) {
    log(Level::Warning, "analyze: ", note);
  }
  write_file_atomic(setup.out / "analyze.json", to_json(out) + "\n");
  return out;
}

}  // namespace gyre::analyze
