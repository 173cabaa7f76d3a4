// `gyre plan`: parameters, FLOPs, memory and time of a training run, from shapes alone.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/progress.h"
#include "gyre/cli/option_set.h"
#include "gyre/cli/verb.h"
#include "gyre/train/estimate.h"

namespace gyre::cli {
namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
constexpr int64_t kByteVocab = 257;  // of the byte tokenizer

struct Subject {
  std::string preset = "h16";
  std::string scheme = "rope";
  std::string mask = "full";

  template <class V>
  void fields(V& v) {
    v("preset", preset, "tiny | h2 ... h40 | gemma2b-paper");
    v("scheme", scheme, "position scheme (gyre schemes)");
    v("mask", mask, "attention mask, as in gyre train");
  }
};

struct PlanVerb {
  CommonOptions common;
  OptionSet options;
  Subject subject;
  train::PlanOptions plan;
  model::ModelConfig config;
};

model::Preset chosen(PlanVerb& verb) {
  model::Preset preset = model::find_preset(verb.subject.preset);
  for (const Field& field : fields_of(preset.config)) {
    verb.options.set(field.name, field.get(), "preset");
  }
  preset.config = verb.config;
  if (preset.config.vocab == 0) {
    preset.config.vocab = kByteVocab;
  }
  return preset;
}

std::string to_json(const train::Estimate& e, const Subject& subject) {
  return nlohmann::ordered_json{{"schema", "gyre.plan/1"},
                                {"preset", subject.preset},
                                {"scheme", subject.scheme},
                                {"mask", subject.mask},
                                {"params", e.params},
                                {"alpha_params", e.alpha_params},
                                {"steps", e.steps},
                                {"tokens", e.tokens},
                                {"length", e.length},
                                {"batch", e.batch},
                                {"flops_per_token", e.flops_per_token},
                                {"flops", e.flops},
                                {"state_bytes", e.state_bytes},
                                {"activation_bytes", e.activation_bytes},
                                {"bytes_per_gpu", e.bytes_per_gpu},
                                {"fits", e.fits},
                                {"hours", e.hours}}
      .dump(1);
}

void print_table(const train::Estimate& e, const PlanVerb& verb) {
  const auto gib = [](double bytes) { return bytes / kGiB; };
  std::printf("%-18s %s, %s, mask %s\n", "run", verb.subject.preset.c_str(),
              verb.subject.scheme.c_str(), verb.subject.mask.c_str());
  std::printf("%-18s %lld (%.1fM; %lld of them frequencies)\n", "parameters",
              static_cast<long long>(e.params), static_cast<double>(e.params) / 1e6,
              static_cast<long long>(e.alpha_params));
  std::printf("%-18s %.3g (%lld steps of %lld x %lld)\n", "tokens", static_cast<double>(e.tokens),
              static_cast<long long>(e.steps), static_cast<long long>(e.batch),
              static_cast<long long>(e.length));
  std::printf("%-18s %.3g per token, %.3g in all\n", "FLOPs", e.flops_per_token, e.flops);
  std::printf(
      "%-18s %.2f GiB: %.2f weights, gradients and moments, %.2f activations, %.2f logits\n",
      "memory per device", gib(e.bytes_per_gpu), gib(e.state_bytes), gib(e.activation_bytes),
      gib(e.logits_bytes));
  std::printf("%-18s %s of %.0f GiB\n", "", e.fits ? "fits" : "does NOT fit",
              verb.plan.gpu_memory_gib);
  std::printf("%-18s %s on %lld device(s) at %.0f TFLOP/s x %.0f %%\n", "time",
              format_duration(3600.0 * e.hours).c_str(), static_cast<long long>(verb.plan.gpus),
              verb.plan.gpu_tflops, 100.0 * verb.plan.mfu);
}

int run_plan(PlanVerb& verb) {
  if (!verb.common.config.empty()) {
    verb.options.apply_file(verb.common.config);
  }
  verb.options.apply_flags();
  const model::Preset preset = chosen(verb);
  if (verb.common.print_config) {
    std::cout << verb.options.describe();
    return 0;
  }
  const train::Estimate e =
      train::estimate(preset, verb.subject.scheme, verb.subject.mask, verb.plan);
  if (verb.common.json != "-") {
    print_table(e, verb);
  }
  write_json(verb.common, to_json(e, verb.subject));
  return 0;
}

}  // namespace

Action add_plan(CLI::App& app) {
  auto verb = std::make_shared<PlanVerb>();
  verb->options.add(app, "Run", fields_of(verb->subject));
  verb->options.add(app, "Plan", fields_of(verb->plan));
  verb->options.add(app, "Model (overrides the preset)", fields_of(verb->config));
  add_common(app, verb->common);
  app.footer(
      "Nothing is allocated or run: shapes only. Give your devices' --gpu-tflops and --mfu.");
  return [verb] { return run_plan(*verb); };
}

}  // namespace gyre::cli
