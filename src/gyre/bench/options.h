// What a benchmark runs: shapes, repetitions, limits. Flags have the names of the peer scripts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gyre/base/options.h"

namespace gyre::bench {

/// Frequencies of the trained model: given, trained, or one after the other.
enum class Rope { Fixed, Learned, Both };

struct TrainShape {
  int64_t width = 256;
  int64_t layers = 6;
  int64_t hidden = 768;  // width of the MLP
  int64_t vocab = 4096;
  int64_t length = 512;
  int64_t batch = 16;  // sequences per step
  int64_t head_dim = 64;

  // batch and head-dim are flags that attention has too, so the command line lists them apart.
  template <class V>
  void fields(V& v) {
    v("width", width, "model width; heads = width / head-dim");
    v("layers", layers, "number of blocks");
    v("hidden", hidden, "width of the SwiGLU MLP");
    v("vocab", vocab, "vocabulary size");
    v("length", length, "tokens per sequence");
  }
};

struct TrainRun {
  std::vector<std::string> modes = {"bf16", "bf16-compile"};
  Rope rope = Rope::Both;
  int64_t pairs = 20;
  bool profile = false;  // also time per operator of ours
  int64_t steps = 7;

  template <class V>
  void fields(V& v) {
    v("modes", modes, "what PyTorch runs: fp32, bf16, fp32-compile, bf16-compile");
    v("rope", rope, "frequencies: fixed | learned | both, and what learning costs");
    v("pairs", pairs, "further pairs of learned and fixed steps behind that ratio");
  }
};

struct AttentionShape {
  int64_t heads = 8;
  std::vector<int64_t> lengths = {512, 1024, 2048, 4096, 8192};
  std::vector<std::string> kinds = {"causal", "window:512", "alibi"};
  std::string dtype = "bfloat16";
  int64_t batch = 1;
  std::vector<int64_t> head_dims = {64, 128};
  int64_t steps = 5;

  template <class V>
  void fields(V& v) {
    v("heads", heads, "heads");
    v("lengths", lengths, "tokens per sequence; length: 512 ... 32768, memory: 512,2048,8192");
    v("kinds", kinds, "causal, window:W (keys seen per query), alibi");
    v("dtype", dtype, "bfloat16 | float32");
  }
};

struct InferShape {
  std::string model;  // checkpoint: folder, .gguf file or run
  std::vector<int64_t> lengths = {512};
  int64_t new_tokens = 32;
  std::string dtype = "bf16";
  int64_t steps = 5;

  template <class V>
  void fields(V& v) {
    v("model", model, "infer: folder with config.json, .gguf file or run");
    v("new", new_tokens, "infer: tokens of one decoding step");
  }
};

/// The shapes of `gyre bench length` and of the attention part of `gyre bench memory`.
AttentionShape length_shape();
AttentionShape memory_shape();

struct Limits {
  std::string python;
  int64_t start_limit_s = 600;
  double step_limit_s = 60;
  double memory_limit_gib = 0;

  template <class V>
  void fields(V& v) {
    v("python", python, "Python with torch for the peer (default: GYRE_PYTHON, .venv, python3)");
    v("start-limit-s", start_limit_s, "longest wait for a peer's first step (it may compile), s");
    v("step-limit-s", step_limit_s, "a case whose step would take longer is left out, s");
    v("memory-limit-gib", memory_limit_gib,
      "a case that would need more is left out, GiB; 0 = 70 % of what is free");
  }
};

/// Throws Error(Usage) naming the option that does not fit.
void check(const TrainShape& shape);
void check(const TrainRun& run);
void check(const AttentionShape& shape);
void check(const InferShape& shape);
void check(const Limits& limits);

/// "512" of "window:512"; 0 for other kinds. Error(Usage) for no kind.
int64_t window_of(const std::string& kind);

/// Two shapes with a name: "small" and "large".
TrainShape train_preset(const std::string& name);

}  // namespace gyre::bench

template <>
struct gyre::EnumNames<gyre::bench::Rope> {
  static constexpr std::pair<gyre::bench::Rope, const char*> list[] = {
      {gyre::bench::Rope::Fixed, "fixed"},
      {gyre::bench::Rope::Learned, "learned"},
      {gyre::bench::Rope::Both, "both"}};
};
