// Options of a training run.
#pragma once

#include <cstdint>

#include "gyre/base/options.h"

namespace gyre::train {

enum class Schedule { Cosine, Wsd };
enum class ComputeDtype { Fp32, Bf16 };

struct TrainOptions {
  int64_t tokens = 500'000;  // of the whole run; rounded up to whole steps
  int64_t length = 256;      // T
  int64_t batch = 16;        // sequences per optimizer step
  int64_t accumulate = 1;    // parts a step is split into; same gradient, less memory
  double lr = 4e-3;          // peak learning rate
  double min_lr = 0.1;       // last learning rate as a share of the peak
  double warmup = 0.05;      // share of the steps
  Schedule schedule = Schedule::Cosine;
  double decay = 0.1;  // decoupled weight decay of matrices
  bool decay_embedding = false;
  double clip = 1.0;  // largest global gradient norm without alpha; 0 = none
  double beta1 = 0.9;
  double beta2 = 0.99;
  int64_t seed = 1;
  ComputeDtype dtype = ComputeDtype::Fp32;
  double alpha_lr = -1.0;  // overrides of the plan's learning; -1 = the plan's
  double alpha_clip = -1.0;
  int64_t eval_tokens = 65'536;  // validation tokens of the loss in the result; 0 = all
  int64_t log_every = 10;        // steps
  int64_t checkpoint_every = 0;  // steps; 0 = at the end and on Ctrl-C only
  double spike = 3.0;            // stop when a loss exceeds the running mean by this, nats; 0 = off

  template <class V>
  void fields(V& v) {
    v("tokens", tokens, "training tokens, rounded up to whole steps");
    v("length", length, "training sequence length, tokens");
    v("batch", batch, "sequences per optimizer step");
    v("accumulate", accumulate, "parts each step is computed in (less memory, same gradient)");
    v("lr", lr, "peak learning rate");
    v("min-lr", min_lr, "last learning rate, as a share of the peak");
    v("warmup", warmup, "share of the steps with a rising learning rate");
    v("schedule", schedule, "cosine | wsd (constant, then down over the last 20 %)");
    v("decay", decay, "decoupled weight decay of matrices; norms and alpha have none");
    v("decay-embedding", decay_embedding, "decay embeddings and the output head too");
    v("clip", clip, "largest gradient norm, alpha not counted; 0 = none");
    v("beta1", beta1, "AdamW beta 1");
    v("beta2", beta2, "AdamW beta 2");
    v("seed", seed, "seed of weights and batches");
    v("dtype", dtype, "compute type: fp32 | bf16 (master weights stay fp32)");
    v("alpha-lr", alpha_lr, "learning rate of learned frequencies; -1 = the scheme's");
    v("alpha-clip", alpha_clip, "largest gradient norm of alpha, 0 = none; -1 = the scheme's");
    v("eval-tokens", eval_tokens, "validation tokens of the final loss; 0 = all");
    v("log-every", log_every, "steps between lines of metrics.jsonl");
    v("checkpoint-every", checkpoint_every, "steps between checkpoints; 0 = only at the end");
    v("spike", spike, "stop when the loss exceeds its running mean by this, nats; 0 = never");
  }
};

/// What the verbs compute in unless told: bf16 on a CPU with bfloat16 products, else fp32.
ComputeDtype fastest_dtype();

/// Optimizer steps of a run: tokens / (batch * length), rounded up.
int64_t n_steps(const TrainOptions& options);

/// Throws Error(Usage) naming the option that does not fit.
void check(const TrainOptions& options);

}  // namespace gyre::train

template <>
struct gyre::EnumNames<gyre::train::Schedule> {
  static constexpr std::pair<gyre::train::Schedule, const char*> list[] = {
      {gyre::train::Schedule::Cosine, "cosine"}, {gyre::train::Schedule::Wsd, "wsd"}};
};
template <>
struct gyre::EnumNames<gyre::train::ComputeDtype> {
  static constexpr std::pair<gyre::train::ComputeDtype, const char*> list[] = {
      {gyre::train::ComputeDtype::Fp32, "fp32"}, {gyre::train::ComputeDtype::Bf16, "bf16"}};
};
