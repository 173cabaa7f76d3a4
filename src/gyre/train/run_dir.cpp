#include "gyre/train/run_dir.h"

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/position/scheme.h"
#include "gyre/train/checkpoint.h"
#include "gyre/train/train_options.h"

namespace gyre::train {

Run load_run(const std::filesystem::path& dir, at::Device device) {
  const std::filesystem::path file = dir / "manifest.json";
  if (!std::filesystem::exists(file)) {
    throw Error(Code::File, dir.string(),
                ": no manifest.json; expected a run directory written by: ", "gyre train --out ",
                dir.string());
  }
  RunManifest manifest = manifest_from_json(read_file(file), file.string());
  const std::filesystem::path checkpoint = last_checkpoint(dir);
  if (checkpoint.empty()) {
    throw Error(Code::File, dir.string(), ": no complete checkpoint in checkpoints/; ",
                "train it first: gyre train --out ", dir.string());
  }
  const CheckpointState state = read_state(checkpoint);
  manifest.step = state.step;
  check_same_manifest(state.manifest, manifest, file.string());
  model::Transformer model(manifest.model, manifest.plan, device);
  if (model.n_parameters() != manifest.params) {
    throw Error(Code::Format, file.string(), ": field 'params' is ", manifest.params,
                ", the model it describes has ", model.n_parameters());
  }
  if (model.n_alpha() != manifest.alpha_params) {
    throw Error(Code::Format, file.string(), ": field 'alpha_params' is ", manifest.alpha_params,
                ", the model it describes has ", model.n_alpha());
  }
  load_weights(checkpoint, model);
  if (manifest.dtype == "bf16") {
    model.set_compute_dtype(at::kBFloat16);
  } else if (manifest.dtype != "fp32") {
    throw Error(Code::Format, file.string(), ": field 'dtype' is ", manifest.dtype,
                ", expected fp32 or bf16");
  }
  return {dir, std::move(manifest), std::move(model)};
}

position::PositionPlan plan_at_length(const RunManifest& manifest, int64_t length) {
  if (manifest.plan.length_rule.empty()) {
    return manifest.plan;
  }
  const auto plan_for = [&](int64_t tokens) {
    position::PlanRequest request = model::plan_request(manifest.model, manifest.train_length);
    request.length = tokens;
    position::PositionPlan plan = position::make_plan(manifest.scheme, manifest.mask, request);
    plan.learning = manifest.plan.learning;  // rates may have been set by the run's own options
    return plan;
  };
  position::PositionPlan now = plan_for(manifest.train_length);
  now.holds_to = manifest.plan.holds_to;  // runs of before it was stated are no other positions
  if (now != manifest.plan) {
    throw Error(Code::Format, "field 'plan': ", manifest.scheme,
                " now makes other positions than the run was trained with, so those of a sequence ",
                "of ", length, " tokens are not known");
  }
  return plan_for(length);
}

data::Dataset open_run_dataset(const RunManifest& manifest) {
  data::Dataset dataset = data::open_dataset(manifest.data);
  if (dataset.corpus_hash != manifest.corpus_hash) {
    throw Error(Code::Format, "field 'corpus_hash': the run was trained on ", manifest.corpus_hash,
                ", its data options now give ", dataset.corpus_hash);
  }
  if (dataset.tokenizer_hash != manifest.tokenizer_hash) {
    throw Error(Code::Format, "field 'tokenizer_hash': the run was trained with ",
                manifest.tokenizer_hash, ", its data options now give ", dataset.tokenizer_hash);
  }
  return dataset;
}

}  // namespace gyre::train
