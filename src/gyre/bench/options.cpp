#include "gyre/bench/options.h"

#include <algorithm>
#include <charconv>

#include "gyre/base/error.h"

namespace gyre::bench {
namespace {

void at_least(const char* flag, int64_t value, int64_t least) {
  if (value < least) {
    throw Error(Code::Usage, "--", flag, " must be at least ", least, ", got ", value);
  }
}

void check_lengths(const std::vector<int64_t>& lengths) {
  if (lengths.empty()) {
    throw Error(Code::Usage, "--lengths is empty; give tokens per sequence, e.g. 512,2048");
  }
  for (const int64_t each : lengths) {
    at_least("lengths", each, 1);
  }
}

void check_kinds(const std::vector<std::string>& kinds) {
  if (kinds.empty()) {
    throw Error(Code::Usage, "--kinds is empty; give some of causal, window:W, alibi");
  }
  for (const std::string& each : kinds) {
    window_of(each);
  }
}

}  // namespace

int64_t window_of(const std::string& kind) {
  constexpr std::string_view kPrefix = "window:";
  if (kind == "causal" || kind == "alibi") {
    return 0;
  }
  int64_t keys = 0;
  if (kind.starts_with(kPrefix)) {
    const char* end = kind.data() + kind.size();
    const auto read = std::from_chars(kind.data() + kPrefix.size(), end, keys);
    if (read.ec == std::errc() && read.ptr == end && keys > 0) {
      return keys;
    }
  }
  throw Error(Code::Usage, "--kinds: '", kind, "' is no kind of attention; known: causal, ",
              "window:W with W keys per query, alibi");
}

void check(const TrainShape& shape) {
  at_least("width", shape.width, 1);
  at_least("layers", shape.layers, 1);
  at_least("hidden", shape.hidden, 1);
  at_least("vocab", shape.vocab, 2);
  at_least("batch", shape.batch, 1);
  at_least("length", shape.length, 1);
  at_least("head-dim", shape.head_dim, 2);
  if (shape.width % shape.head_dim != 0 || shape.head_dim % 2 != 0) {
    throw Error(Code::Usage, "--width must be a multiple of --head-dim, which must be even, got ",
                shape.width, " and ", shape.head_dim);
  }
}

void check(const TrainRun& run) {
  const std::vector<std::string> known = {"fp32", "bf16", "fp32-compile", "bf16-compile"};
  if (run.modes.empty()) {
    throw Error(Code::Usage, "--modes is empty; give some of fp32, bf16, fp32-compile, ",
                "bf16-compile");
  }
  for (const std::string& mode : run.modes) {
    if (std::find(known.begin(), known.end(), mode) == known.end()) {
      throw Error(Code::Usage, "--modes: no mode '", mode,
                  "'; known: fp32, bf16, fp32-compile, bf16-compile");
    }
  }
  at_least("steps", run.steps, 1);
  at_least("pairs", run.pairs, 0);
}

void check(const AttentionShape& shape) {
  at_least("batch", shape.batch, 1);
  at_least("heads", shape.heads, 1);
  at_least("steps", shape.steps, 1);
  check_lengths(shape.lengths);
  check_kinds(shape.kinds);
  if (shape.head_dims.empty()) {
    throw Error(Code::Usage, "--head-dim is empty; give channels per head, e.g. 64,128");
  }
  for (const int64_t each : shape.head_dims) {
    if (each < 2 || each % 2 != 0) {
      throw Error(Code::Usage, "--head-dim must be even and at least 2, got ", each);
    }
  }
  if (shape.dtype != "bfloat16" && shape.dtype != "float32") {
    throw Error(Code::Usage, "--dtype must be bfloat16 or float32, got '", shape.dtype, "'");
  }
}

void check(const InferShape& shape) {
  if (shape.model.empty()) {
    throw Error(Code::Usage,
                "bench infer: which model? give --model with a folder with "
                "config.json, a .gguf file or a run");
  }
  at_least("new", shape.new_tokens, 1);
  at_least("steps", shape.steps, 1);
  check_lengths(shape.lengths);
}

void check(const Limits& limits) {
  at_least("start-limit-s", limits.start_limit_s, 1);
  if (!(limits.step_limit_s > 0.0)) {
    throw Error(Code::Usage, "--step-limit-s must be above 0, got ", limits.step_limit_s);
  }
  if (!(limits.memory_limit_gib >= 0.0)) {
    throw Error(Code::Usage, "--memory-limit-gib must be 0 or more, got ", limits.memory_limit_gib);
  }
}

AttentionShape length_shape() {
  AttentionShape out;
  out.lengths = {512, 1024, 2048, 4096, 8192, 16384, 32768};
  out.head_dims = {64};
  out.steps = 3;
  return out;
}

AttentionShape memory_shape() {
  AttentionShape out;
  out.lengths = {512, 2048, 8192};
  out.head_dims = {64};
  return out;
}

TrainShape train_preset(const std::string& name) {
  if (name == "small") {
    return {};
  }
  if (name == "large") {
    return {.width = 512,
            .layers = 8,
            .hidden = 1536,
            .vocab = 8192,
            .length = 1024,
            .batch = 8,
            .head_dim = 64};
  }
  throw Error(Code::Usage, "--preset must be small or large, got '", name, "'");
}

}  // namespace gyre::bench
