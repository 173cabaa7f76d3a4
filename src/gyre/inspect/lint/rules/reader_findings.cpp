// Faults that only the readers can see, while the file is open: they stand in
// ResolvedModel::doubts. These rules list them like any other and put nothing beside them.
#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

std::vector<Finding> doubts_of(const ResolvedModel& model, std::string_view id) {
  std::vector<Finding> found;
  for (const Finding& one : model.doubts) {
    if (one.id == id) {
      found.push_back(one);
    }
  }
  return found;
}

}  // namespace

Rule position_encoding_unknown_rule() {
  return {
      "position-encoding-unknown",
      Severity::Warning,
      "The model type is not known and no key says that it rotates: it may have learned, relative "
      "or no positions, and no table is shown. Silent where the keys are those of an encoder.",
      "Read the model's code; a rope_theta or position_embedding_type key would tell.",
      "configs with remote code: no key of rotation, and some of them do not rotate",
      [](const ResolvedModel& model) { return doubts_of(model, "position-encoding-unknown"); }};
}

Rule partial_factor_stops_rule() {
  return {
      "partial-factor-stops",
      Severity::Error,
      "Llama-like classes of transformers make fewer pairs by the key for an extended rope type "
      "and multiply the whole head by them: the forward pass stops.",
      "Delete the key or use a class that splits the head.",
      "measured on transformers 5.24",
      [](const ResolvedModel& model) { return doubts_of(model, "partial-factor-stops"); }};
}

Rule shard_missing_rule() {
  return {"shard-missing",
          Severity::Error,
          "The index of a sharded checkpoint names a file that is not in the folder: layers are "
          "missing.",
          "Download the shard again or mend the index.",
          "model.safetensors.index.json, weight_map",
          [](const ResolvedModel& model) { return doubts_of(model, "shard-missing"); }};
}

Rule shard_outside_rule() {
  return {"shard-outside",
          Severity::Error,
          "The index names a path instead of a file of its own folder; such files are not opened.",
          "Put the shard beside the index and name it alone.",
          "model.safetensors.index.json, weight_map",
          [](const ResolvedModel& model) { return doubts_of(model, "shard-outside"); }};
}

Rule weights_kv_heads_rule() {
  return {
      "weights-kv-heads",
      Severity::Error,
      "Rows of a k_proj are not key/value heads * head dim of the config: heads would be cut at "
      "the wrong channels.",
      "Correct num_key_value_heads or head_dim.",
      "shapes in the safetensors header",
      [](const ResolvedModel& model) { return doubts_of(model, "weights-kv-heads"); }};
}

}  // namespace gyre::inspect
