// Run directories for tests, written without training anything: every file that a finished cell
// leaves, with losses chosen by the test.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include <gtest/gtest.h>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/position/scheme.h"
#include "gyre/study/comparison.h"
#include "gyre/train/run_dir.h"

namespace gyre::study {

struct FakeRun {
  std::string scheme = "rope";
  std::string mask = "full";
  int64_t seed = 1;
  double loss = 2.0;
  double long_loss = 2.5;       // at four times the training length
  int64_t needle_correct = 40;  // of 64, one distractor
  double last_alpha = 0.0;      // learned frequencies end at exp(alpha) times the first
  int64_t dominant = 3;
  train::RunManifest manifest;  // what make_manifest gives, changed by the test
  nlohmann::ordered_json options = {{"lr", 0.004}, {"warmup", 0.05}};
};

inline train::RunManifest make_manifest(const FakeRun& run) {
  train::RunManifest m;
  m.train_length = 64;
  m.scheme = run.scheme;
  m.mask = run.mask;
  m.model = model::ModelConfig{};
  m.model.layout = position::PairLayout::Halves;
  m.model.width = 32;
  m.model.layers = 2;
  m.model.head_dim = 16;
  m.plan = position::make_plan(run.scheme, run.mask, model::plan_request(m.model, 64));
  m.alpha_params = m.plan.learning.sharing == position::Sharing::None ? 0 : m.plan.n_pairs();
  m.params = 1000 + m.alpha_params;
  m.tokenizer_kind = "bytes";
  m.tokenizer_hash = "t0";
  m.corpus_hash = "c0";
  m.data.data = {"fixture"};
  m.truncation_policy = "none";
  m.seed = run.seed;
  m.batch = 4;
  m.tokens = 1024;
  m.build_revision = "test";
  m.machine = "test";
  m.threads = 1;
  m.dtype = "fp32";
  return m;
}

inline FakeRun fake_run(const std::string& scheme, int64_t seed, double loss) {
  FakeRun run;
  run.scheme = scheme;
  run.seed = seed;
  run.loss = loss;
  run.manifest = make_manifest(run);
  return run;
}

inline nlohmann::ordered_json fake_eval(const FakeRun& run) {
  using Json = nlohmann::ordered_json;
  const bool rotates = run.manifest.plan.n_pairs() > 0;
  Json bands = {{"dominant",
                 {{"band", run.dominant},
                  {"wavelength", 140.0},
                  {"over_train_length", 140.0 / 64},
                  {"ratio", 3.0}}},
                {"suppressed", {6, 7}},
                {"gathered", 2}};
  Json blocks = Json::array();
  for (int i = 0; i < 8; ++i) {
    blocks.push_back(run.loss + 0.1 * (i % 2 == 0 ? 1 : -1));
  }
  const Json bucket = {{"begin", 0.0}, {"end", 0.5}, {"accuracy", 0.25}, {"n", 32}};
  return {{"schema", "gyre.eval/1"},
          {"corpus_hash", run.manifest.corpus_hash},
          {"tokenizer_hash", run.manifest.tokenizer_hash},
          {"options", {{"val-tokens", 512}}},
          {"val",
           {{"loss", run.loss},
            {"ppl", std::exp(run.loss)},
            {"bits_per_byte", run.loss / std::log(2.0)},
            {"n_tokens", 512},
            {"blocks", blocks}}},
          {"positions",
           {{{"begin", 0}, {"end", 32}, {"loss", run.loss + 0.2}, {"n", 256}},
            {{"begin", 32}, {"end", 64}, {"loss", run.loss - 0.2}, {"n", 256}}}},
          {"lengths",
           {{{"length", 64}, {"windows", "disjoint"}, {"loss", run.loss}},
            {{"length", 256}, {"windows", "disjoint"}, {"loss", run.long_loss}},
            {{"length", 512}, {"windows", "disjoint"}, {"loss", nullptr}}}},
          {"needle",
           {{{"distractors", 1},
             {"accuracy", static_cast<double>(run.needle_correct) / 64},
             {"n", 64},
             {"correct", run.needle_correct},
             {"chance", 0.5},
             {"no_evidence", {{"accuracy", 0.5}, {"n", 64}}},
             {"buckets", {bucket, {{"begin", 0.5}, {"end", 1.0}, {"accuracy", 0.5}, {"n", 32}}}}}}},
          {"bands", rotates ? bands : Json()}};
}

inline void write_run(const std::filesystem::path& dir, const FakeRun& run) {
  using Json = nlohmann::ordered_json;
  std::filesystem::create_directories(dir);
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(dir / name) << text << "\n";
  };
  Json options = Json::object();
  for (const auto& [flag, value] : run.options.items()) {
    options["Training"][flag] = {{"value", value}, {"origin", "default"}};
  }
  write("config.json", Json{{"schema", "gyre.config/1"}, {"options", options}}.dump());
  write("manifest.json", train::manifest_to_json(run.manifest));
  write("train.json", R"({"schema": "gyre.train/1", "tokens_per_s": 1000, "peak_rss_mib": 50})");
  write("eval.json", fake_eval(run).dump());
  write("metrics.jsonl", "{\"step\": 1, \"loss\": 5.5}\n{\"step\": 4, \"loss\": 2.5}");
  const auto& groups = run.manifest.plan.layers[0].inv_freq;
  Json last = groups;
  for (auto& group : last) {
    for (auto& value : group) {
      value = value.get<double>() * std::exp(run.last_alpha);
    }
  }
  write("frequencies.jsonl", Json{{"step", 0}, {"inv_freq", {groups}}}.dump() + "\n" +
                                 Json{{"step", 4}, {"inv_freq", {last}}}.dump());
}

/// A folder of its own per test, removed at the end; add() writes a run as a finished cell.
class FakeStudy : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    study_.out =
        std::filesystem::temp_directory_path() / ("gyre_study_" + std::to_string(::getpid()) + "_" +
                                                  info->test_suite_name() + "_" + info->name());
    std::filesystem::create_directories(study_.out);
  }
  void TearDown() override { std::filesystem::remove_all(study_.out); }

  size_t arm_index(const std::string& name) {
    for (size_t i = 0; i < study_.arms.size(); ++i) {
      if (study_.arms[i].name == name) {
        return i;
      }
    }
    study_.arms.push_back({name, name, "", -1});
    return study_.arms.size() - 1;
  }
  CellPlan& plan(const std::string& arm, int64_t seed) {
    CellPlan out;
    out.arm = arm_index(arm);
    out.seed = seed;
    out.dir = study_.out / "cells" / cell_name(study_.arms[out.arm], seed);
    study_.plans.push_back(out);
    return study_.plans.back();
  }
  void add(const FakeRun& run) {
    const CellPlan& cell = plan(run.scheme, run.seed);
    write_run(cell.dir, run);
    study_.results.push_back({CellStatus::Done, 3.0, 50.0, ""});
    study_.records.push_back(read_cell(cell.arm, run.seed, cell.dir));
  }
  void add_failed(const std::string& arm, int64_t seed, const std::string& error) {
    plan(arm, seed);
    study_.results.push_back({CellStatus::Failed, 1.0, 10.0, error});
  }

  StudyCells study_;
};

}  // namespace gyre::study
