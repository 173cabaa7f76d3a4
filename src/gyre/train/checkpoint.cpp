#include "gyre/train/checkpoint.h"

#include <c10/core/GradMode.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/json_words.h"
#include "gyre/tensor/safetensors.h"

namespace gyre::train {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr size_t kKept = 2;
constexpr const char* kModelFile = "model.safetensors";
constexpr const char* kOptimizerFile = "optimizer.safetensors";

bool is_step_name(const std::string& name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

/// Complete checkpoints, oldest first.
std::vector<fs::path> checkpoints(const fs::path& run) {
  std::vector<fs::path> out;
  const fs::path folder = run / "checkpoints";
  if (fs::is_directory(folder)) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (is_step_name(entry.path().filename()) && fs::exists(entry.path() / "state.json")) {
        out.push_back(entry.path());
      }
    }
  }
  std::sort(out.begin(), out.end(), [](const fs::path& a, const fs::path& b) {
    return std::stoll(a.filename()) < std::stoll(b.filename());
  });
  return out;
}

/// Makes a rename inside `folder` survive a power cut.
void sync_folder(const fs::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    ::fsync(fd);
    ::close(fd);
  }
}

tensor::NamedTensors weights_of(const model::Transformer& model) {
  tensor::NamedTensors out;
  for (const model::Parameter& each : model.parameters()) {
    out.emplace_back(each.name, each.value);
  }
  return out;
}

Json state_to_json(const CheckpointState& state, const fs::path& folder) {
  return {{"schema", "gyre.checkpoint/1"},
          {"step", state.step},
          {"data_position", state.step},
          {"seed", state.seed},
          {"train_seconds", state.train_seconds},
          {"loss_mean", state.loss_mean},
          {"loss_count", state.loss_count},
          {"sha256",
           {{kModelFile, sha256_file(folder / kModelFile)},
            {kOptimizerFile, sha256_file(folder / kOptimizerFile)}}},
          {"manifest", Json::parse(manifest_to_json(state.manifest))}};
}

void check_sum(const fs::path& file, const Json& sums) {
  const std::string name = file.filename().string();
  const std::string found = sha256_file(file);
  if (!sums.contains(name) || sums.at(name) != found) {
    throw Error(Code::Format, file.string(), ": SHA-256 is ", found, ", state.json says ",
                sums.value(name, "nothing"), "; the checkpoint is damaged");
  }
}

}  // namespace

void save_checkpoint(const fs::path& run, const CheckpointState& state,
                     const model::Transformer& model, const Optimizer& optimizer) {
  const fs::path folder = run / "checkpoints";
  const fs::path temporary = folder / str(".writing-", state.step);
  const fs::path final_name = folder / str(state.step);
  fs::remove_all(temporary);
  fs::create_directories(temporary);
  tensor::write_safetensors(temporary / kModelFile, weights_of(model), {{"format", "pt"}});
  tensor::write_safetensors(temporary / kOptimizerFile, optimizer.state());
  write_file_atomic(temporary / "state.json", state_to_json(state, temporary).dump(1) + "\n");
  sync_folder(temporary);
  fs::remove_all(final_name);
  fs::rename(temporary, final_name);
  sync_folder(folder);
  const std::vector<fs::path> all = checkpoints(run);
  for (size_t i = 0; i + kKept < all.size(); ++i) {
    fs::remove_all(all[i]);
  }
}

fs::path last_checkpoint(const fs::path& run) {
  const std::vector<fs::path> all = checkpoints(run);
  return all.empty() ? fs::path() : all.back();
}

CheckpointState read_state(const fs::path& checkpoint) {
  const fs::path file = checkpoint / "state.json";
  const Json object = Json::parse(read_file(file), nullptr, false);
  CheckpointState out;
  try {
    out.step = object.at("step").get<int64_t>();
    out.seed = object.at("seed").get<int64_t>();
    out.train_seconds = object.at("train_seconds").get<double>();
    out.loss_mean = object.at("loss_mean").get<double>();
    out.loss_count = object.at("loss_count").get<int64_t>();
    check_sum(checkpoint / kModelFile, object.at("sha256"));
    check_sum(checkpoint / kOptimizerFile, object.at("sha256"));
    out.manifest = manifest_from_json(object.at("manifest").dump(), file.string() + ": manifest");
  } catch (const Json::exception& e) {
    throw Error(Code::Format, file.string(), ": ", json_words(e));
  }
  out.manifest.step = out.step;
  return out;
}

void load_weights(const fs::path& checkpoint, model::Transformer& model) {
  const c10::NoGradGuard no_grad;
  const tensor::SafetensorsFile file(checkpoint / kModelFile);
  for (model::Parameter& each : model.parameters()) {
    const at::Tensor found = file.load(each.name);
    if (found.sizes() != each.value.sizes() || found.scalar_type() != each.value.scalar_type()) {
      const std::string have = c10::str(found.sizes(), " ", found.scalar_type());
      const std::string want = c10::str(each.value.sizes(), " ", each.value.scalar_type());
      throw Error(Code::Format, (checkpoint / kModelFile).string(), ": tensor ", each.name, " is ",
                  have, ", the model's is ", want);
    }
    each.value.copy_(found);
  }
  for (const std::string& name : file.names()) {
    if (!model.has_parameter(name)) {
      throw Error(Code::Format, (checkpoint / kModelFile).string(), ": tensor ", name,
                  " belongs to no parameter of the model");
    }
  }
}

void load_optimizer(const fs::path& checkpoint, int64_t step, Optimizer& optimizer) {
  const tensor::SafetensorsFile file(checkpoint / kOptimizerFile);
  optimizer.load(step, [&](const std::string& name) { return file.load(name); });
}

}  // namespace gyre::train
