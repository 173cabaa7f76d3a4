#include "gyre/train/run_record.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/json_words.h"

namespace gyre::train {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json setup_groups(const RunSetup& setup) {
  RunSetup copy = setup;  // field handles need non-const structs
  return {{"position", {{"scheme", copy.scheme}, {"mask", copy.mask}}},
          {"model", Json::parse(fields_to_json(fields_of(copy.model)))},
          {"training", Json::parse(fields_to_json(fields_of(copy.train)))},
          {"data", Json::parse(fields_to_json(fields_of(copy.data)))}};
}

/// flag -> value of a config.json, whatever the group, origins removed.
Json flat_values(const Json& groups) {
  Json out = Json::object();
  for (const auto& [group, values] : groups.items()) {
    for (const auto& [name, value] : values.items()) {
      out[name] = value.is_object() && value.contains("value") ? value.at("value") : value;
    }
  }
  return out;
}

bool changes_result(const std::string& name) {
  return name != "log-every" && name != "checkpoint-every";
}

Json finite_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

}  // namespace

std::string setup_to_json(const RunSetup& setup) {
  return setup_groups(setup).dump(1);
}

void write_config(const RunSetup& setup) {
  Json options = setup_groups(setup);
  const Json origins = setup.config_json.empty() ? Json::object() : Json::parse(setup.config_json);
  for (auto& [group, values] : options.items()) {
    for (auto& [name, value] : values.items()) {
      std::string origin = "default";
      for (const auto& [other, entries] : origins.items()) {
        if (entries.contains(name) && entries.at(name).contains("origin")) {
          origin = entries.at(name).at("origin").get<std::string>();
        }
      }
      value = {{"value", value}, {"origin", origin}};
    }
  }
  write_file_atomic(setup.out / "config.json",
                    Json{{"schema", "gyre.config/1"}, {"options", options}}.dump(1) + "\n");
}

void check_same_config(const RunSetup& setup, const fs::path& config_file) {
  const Json file = Json::parse(read_file(config_file), nullptr, false);
  if (!file.is_object() || !file.contains("options")) {
    throw Error(Code::Format, config_file.string(), ": not a run's config.json");
  }
  const Json before = flat_values(file.at("options")), now = flat_values(setup_groups(setup));
  for (const auto& [name, value] : now.items()) {
    const Json old = before.value(name, Json());
    if (changes_result(name) && old != value) {
      throw Error(Code::Usage, config_file.parent_path().string(), ": started with --", name, " ",
                  old.dump(), ", now ", value.dump(), "; give --", name, " ", old.dump(),
                  " to go on, another --out, or --force to start over");
    }
  }
}

std::string metric_line(const Metric& m) {
  return Json{{"schema", "gyre.metric/1"},
              {"step", m.step},
              {"tokens", m.tokens},
              {"loss", finite_or_null(m.loss)},
              {"lr", m.lr},
              {"grad_norm", finite_or_null(m.norms.grad)},
              {"alpha_grad_norm", finite_or_null(m.norms.alpha)},
              {"step_ms", m.step_ms},
              {"tokens_per_s", m.tokens_per_s}}
      .dump();
}

std::string frequency_line(int64_t step, const model::Transformer& model) {
  std::vector<double> alpha;
  if (model.has_parameter("alpha")) {
    const at::Tensor flat =
        model.parameter("alpha").value.detach().to(at::kCPU, at::kDouble).flatten().contiguous();
    alpha.assign(flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel());
  }
  auto inv_freq = model.current_inv_freq();
  const bool alike = std::equal(inv_freq.begin() + 1, inv_freq.end(), inv_freq.begin());
  if (alike) {
    inv_freq.resize(1);
  }
  return Json{
      {"schema", "gyre.frequency/1"}, {"step", step}, {"alpha", alpha}, {"inv_freq", inv_freq}}
      .dump();
}

void truncate_lines(const fs::path& file, int64_t step) {
  if (!fs::exists(file)) {
    return;
  }
  std::istringstream in(read_file(file));
  std::string kept;
  for (std::string line; std::getline(in, line);) {
    const Json object = Json::parse(line, nullptr, false);  // the last line may be half written
    if (object.is_object() && object.value("step", step + 1) <= step) {
      kept += line + "\n";
    }
  }
  write_file_atomic(file, kept);
}

fs::path write_failure(const fs::path& run, const Metric& metric, const std::string& notice,
                       double running_mean) {
  const fs::path file = run / "failures" / str("step-", metric.step, ".json");
  fs::create_directories(file.parent_path());
  const Json record = {{"schema", "gyre.failure/1"},
                       {"step", metric.step},
                       {"batch_index", metric.step - 1},
                       {"noticed", notice},
                       {"loss", finite_or_null(metric.loss)},
                       {"running_mean", finite_or_null(running_mean)},
                       {"lr", metric.lr},
                       {"grad_norm", finite_or_null(metric.norms.grad)},
                       {"alpha_grad_norm", finite_or_null(metric.norms.alpha)}};
  write_file_atomic(file, record.dump(1) + "\n");
  return file;
}

std::string result_to_json(const RunResult& r) {
  return Json{{"schema", "gyre.train/1"},
              {"steps", r.steps},
              {"tokens", r.tokens},
              {"val_loss", r.val_loss},
              {"tokens_per_s", r.tokens_per_s},
              {"mfu", r.mfu},
              {"params", r.params},
              {"overhead", {{"params", r.alpha_params}, {"alpha_params", r.alpha_params}}},
              {"seconds", r.seconds},
              {"peak_rss_mib", r.peak_rss_mib}}
      .dump(1);
}

RunResult result_from_json(const std::string& text, const std::string& owner) {
  const Json object = Json::parse(text, nullptr, false);
  RunResult out;
  try {
    object.at("steps").get_to(out.steps);
    object.at("tokens").get_to(out.tokens);
    object.at("val_loss").get_to(out.val_loss);
    object.at("tokens_per_s").get_to(out.tokens_per_s);
    object.at("mfu").get_to(out.mfu);
    object.at("params").get_to(out.params);
    object.at("overhead").at("alpha_params").get_to(out.alpha_params);
    object.at("seconds").get_to(out.seconds);
    object.at("peak_rss_mib").get_to(out.peak_rss_mib);
  } catch (const Json::exception& e) {
    throw Error(Code::Format, owner, ": ", json_words(e));
  }
  return out;
}

}  // namespace gyre::train
