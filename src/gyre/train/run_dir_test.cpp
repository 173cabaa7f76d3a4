// Reading a run back, and refusing records that are incomplete, changed or damaged (claim P53).
#include "gyre/train/run_dir.h"

#include <ATen/ops/equal.h>

#include <fstream>

#include "gyre/position/scheme.h"
#include "gyre/train/checkpoint.h"
#include "gyre/train/run_testing.h"

namespace gyre::train {
namespace {

namespace fs = std::filesystem;
using data::error_of;
using data::expect_contains;
using data::TestFolder;
using Json = nlohmann::ordered_json;

class LoadRun : public ::testing::Test {
 protected:
  LoadRun() : setup_(small_setup(folder_, "run")) {
    setup_.train.tokens = 3 * 4 * 32;
    result_ = run(setup_);
    manifest_ = Json::parse(read_file(setup_.out / "manifest.json"));
  }

  std::string fault_with(const Json& manifest) const {
    write_file_atomic(setup_.out / "manifest.json", manifest.dump());
    return error_of(Code::Format, [&] { load_run(setup_.out); });
  }

  TestFolder folder_;
  RunSetup setup_;
  RunResult result_;
  Json manifest_;
};

TEST_F(LoadRun, GivesTheTrainedModelAndItsRecord) {
  const train::Run loaded = load_run(setup_.out);
  EXPECT_EQ(loaded.manifest.step, 3);
  EXPECT_EQ(loaded.manifest.scheme, "lerope");
  EXPECT_EQ(loaded.manifest.train_length, 32);
  EXPECT_EQ(loaded.manifest.params, result_.params);
  EXPECT_EQ(loaded.manifest.alpha_params, 8);
  EXPECT_EQ(loaded.manifest.tokenizer_kind, "bytes");
  EXPECT_EQ(loaded.model.config().vocab, 257);
  EXPECT_GT(loaded.model.parameter("alpha").value.abs().max().item<double>(), 0.0);
  EXPECT_EQ(open_run_dataset(loaded.manifest).corpus_hash, loaded.manifest.corpus_hash);
}

TEST(PlanAtLength, IsTheSchemesForThatLength) {
  RunManifest manifest;
  manifest.train_length = 64;
  manifest.mask = "window:9/full";
  manifest.model.layers = 2;
  const auto plan_of = [&](const std::string& scheme, int64_t length) {
    position::PlanRequest request = model::plan_request(manifest.model, 64);
    request.length = length;
    return position::make_plan(scheme, manifest.mask, request);
  };
  for (const char* scheme : {"dynamic:factor=2", "longrope:max=256"}) {
    manifest.scheme = scheme;
    manifest.plan = plan_of(scheme, 0);
    EXPECT_EQ(plan_at_length(manifest, 64), manifest.plan);
    EXPECT_EQ(plan_at_length(manifest, 200), plan_of(scheme, 200));
    EXPECT_NE(plan_at_length(manifest, 200), manifest.plan);
  }
  manifest.scheme = "not read when there is no rule";
  manifest.plan = plan_of("rope", 0);
  EXPECT_EQ(plan_at_length(manifest, 200), manifest.plan);
}

TEST(PlanAtLength, RefusesASchemeThatHasChangedSince) {
  RunManifest manifest;
  manifest.train_length = 64;
  manifest.mask = "full";
  manifest.scheme = "dynamic:factor=2";
  manifest.plan =
      position::make_plan(manifest.scheme, "full", model::plan_request(manifest.model, 64));
  manifest.plan.layers[0].inv_freq[0][1] *= 1.001;
  expect_contains(
      error_of(Code::Format, [&] { plan_at_length(manifest, 200); }),
      "field 'plan': dynamic:factor=2 now makes other positions than the run was trained "
      "with, so those of a sequence of 200 tokens are not known");
}

TEST_F(LoadRun, NamesEveryMissingField) {
  for (const auto& [key, value] : manifest_.items()) {
    Json cut = manifest_;
    cut.erase(key);
    expect_contains(fault_with(cut), "manifest.json: field '" + key + "' is missing");
  }
  for (const char* group : {"model", "data"}) {
    Json cut = manifest_;
    const std::string key = cut[group].begin().key();
    cut[group].erase(key);
    expect_contains(fault_with(cut), str(": ", group, ": field '", key, "' is missing"));
  }
}

TEST_F(LoadRun, NamesEveryChangedField) {
  for (const auto& [key, value] : manifest_.items()) {
    if (!value.is_string() && !value.is_number()) {
      continue;
    }
    Json changed = manifest_;
    changed[key] = value.is_string() ? Json("other") : Json(value.get<int64_t>() + 1);
    const std::string text = fault_with(changed);
    expect_contains(text, key == "schema" ? "schema is other" : "field '" + key + "' is ");
  }
  Json changed = manifest_;
  changed["plan"]["layers"][0]["inv_freq"][0][1] = 0.125;
  expect_contains(fault_with(changed), "field 'plan.layers' is ");
  changed = manifest_;
  changed["seed"] = "one";
  expect_contains(fault_with(changed), "field 'seed' has the wrong type: \"one\"");
}

TEST_F(LoadRun, NoticesADamagedCheckpoint) {
  std::fstream file(setup_.out / "checkpoints/3/model.safetensors",
                    std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-4, std::ios::end);
  file.write("\x01\x02\x03\x04", 4);
  file.close();
  const std::string text = error_of(Code::Format, [&] { load_run(setup_.out); });
  expect_contains(text, "model.safetensors: SHA-256 is ");
  expect_contains(text, "the checkpoint is damaged");
}

TEST_F(LoadRun, NoticesAChangedCorpus) {
  const RunManifest manifest = load_run(setup_.out).manifest;
  folder_.write("corpus/0.txt", data::numbered_text(1500, "changed"));
  expect_contains(error_of(Code::Format, [&] { open_run_dataset(manifest); }),
                  "field 'corpus_hash': the run was trained on ");
}

TEST_F(LoadRun, SaysWhatAFolderLacks) {
  expect_contains(error_of(Code::File, [&] { load_run(folder_ / "corpus"); }), "no manifest.json");
  fs::remove_all(setup_.out / "checkpoints");
  expect_contains(error_of(Code::File, [&] { load_run(setup_.out); }), "no complete checkpoint");
}

TEST_F(LoadRun, FrozenFrequenciesComeFromThisRun) {
  RunSetup frozen = small_setup(folder_, "frozen", "frozen:from=" + setup_.out.string());
  frozen.train.tokens = 2 * 4 * 32;
  EXPECT_EQ(run(frozen).alpha_params, 0);
  const auto learned = load_run(setup_.out).model.current_inv_freq();
  const auto fixed = load_run(frozen.out).model.current_inv_freq();
  ASSERT_EQ(learned.size(), fixed.size());
  for (size_t p = 0; p < learned[0][0].size(); ++p) {
    EXPECT_DOUBLE_EQ(fixed[0][0][p], learned[0][0][p]);
  }
}

}  // namespace
}  // namespace gyre::train
