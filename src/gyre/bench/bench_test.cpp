// Whole benchmarks at tiny shapes against a fake peer, limits, names, options. Nothing is timed.
#include "gyre/bench/bench.h"

#include <gtest/gtest.h>

#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>

#include <algorithm>
#include <cmath>

#include "gyre/base/error.h"
#include "gyre/base/progress.h"
#include "gyre/bench/capped.h"
#include "gyre/bench/fixtures.h"
#include "gyre/bench/machine.h"
#include "gyre/bench/our_training.h"
#include "gyre/bench/profile.h"

namespace gyre::bench {
namespace {

TrainShape tiny_training() {
  return {
      .width = 16, .layers = 1, .hidden = 16, .vocab = 11, .length = 8, .batch = 2, .head_dim = 8};
}

AttentionShape tiny_attention() {
  AttentionShape out;
  out.heads = 2;
  out.lengths = {16, 8};
  out.kinds = {"causal", "alibi"};
  out.head_dims = {8};
  out.steps = 2;
  return out;
}

double total(const Record& record, const std::string& name) {
  for (const auto& [key, value] : record.totals) {
    if (key == name) {
      return value;
    }
  }
  return kUnknown;
}

TEST(BenchTrain, PairsOursWithEveryModeOfThePeer) {
  const FakePeer fake;
  Contest contest;
  contest.quick = true;
  contest.train_peer = fake.command();
  TrainRun run;
  run.steps = run.pairs = 2;
  const Record record = run_train(tiny_training(), run, contest);
  EXPECT_EQ(record.machine.peer, "fake 1.0");
  const Row& step = record.rows.at(0);
  EXPECT_EQ(step.what, "training step, bf16, learned frequencies");
  EXPECT_EQ(step.peer_name, "eager");
  EXPECT_EQ(step.ours_samples.size(), 2U);
  EXPECT_EQ(step.peer_samples.size(), 2U);
  EXPECT_NEAR(step.ratio, step.peer / step.ours, 1e-9);
  const Row& rate = record.rows.at(1);
  EXPECT_EQ(rate.unit, "tokens/s");
  EXPECT_NEAR(rate.ours, 16e3 / step.ours, 1e-6);  // 2 x 8 tokens
  // The fake peer cannot compile: said, and the rest stands.
  ASSERT_EQ(record.notes.size(), 2U);
  EXPECT_EQ(record.notes[0],
            "left out: PyTorch bf16-compile learned: the peer failed: no compiler");
  EXPECT_GT(total(record, "tokens_per_s"), 0.0);
  EXPECT_NEAR(total(record, "mfu"), total(record, "gflops") / total(record, "peak_gflops"), 1e-12);
  const Row& memory = record.rows.back();
  EXPECT_EQ(memory.unit, "MiB");
  EXPECT_DOUBLE_EQ(memory.peer, 400.25);
  EXPECT_EQ(memory.note, "peer started with 101");
}

TEST(BenchTrain, OursAloneHasNoRatio) {
  Contest contest;
  contest.quick = true;
  TrainRun run;
  run.steps = 1;
  run.rope = Rope::Fixed;
  run.modes = {"fp32"};
  run.profile = true;
  const Record record = run_train(tiny_training(), run, contest);
  EXPECT_EQ(record.rows.at(0).what, "training step, fp32, fixed frequencies");
  EXPECT_TRUE(std::isnan(record.rows.at(0).ratio));
  double share = 0.0;
  for (const OpShare& op : record.profile) {
    share += op.share;
  }
  EXPECT_NEAR(share, 1.0, 1e-9);
  EXPECT_GT(record.machine.gbytes_per_s, 0.0);
}

TEST(BenchTrain, CtrlCEndsIt) {
  Contest contest;
  contest.quick = true;
  set_interrupted(true);
  EXPECT_EQ(message_of([&] { run_train(tiny_training(), {}, contest); }),
            "interrupted; nothing was written");
  set_interrupted(false);
}

// C 256, F 768, 6 layers, V 4096: 4 C^2 + 3 C F per layer, the tied embedding, 13 norms of C.
TEST(BenchTrain, TheModelIsThePeers) {
  EXPECT_EQ(model::count_parameters(model_of(TrainShape())),
            6 * (4 * 256 * 256 + 3 * 256 * 768) + 4096 * 256 + 13 * 256);
}

TEST(BenchAttention, MeasuresEveryCaseInRisingLength) {
  const FakePeer fake;
  Contest contest;
  contest.quick = true;
  contest.attention_peer = fake.command();
  const Record record = run_attention(tiny_attention(), contest);
  ASSERT_EQ(record.rows.size(), 4U);
  EXPECT_EQ(record.rows[0].what, "causal, T 8, D 8");
  EXPECT_EQ(record.rows[1].what, "causal, T 16, D 8");
  EXPECT_EQ(record.rows[3].what, "alibi, T 16, D 8");
  EXPECT_EQ(record.rows[3].series, "alibi, D 8");
  EXPECT_EQ(record.rows[3].x, 16.0);
  EXPECT_EQ(record.rows[0].peer_name, "SDPA");
  EXPECT_GT(record.rows[0].ours, 0.0);
  EXPECT_GT(record.rows[0].peer, 60.0);
}

TEST(BenchAttention, NamesCellsOverALimit) {
  const FakePeer fake;
  Contest contest;
  contest.quick = true;
  contest.attention_peer = fake.command();
  contest.limits.memory_limit_gib = 1e-9;
  contest.limits.step_limit_s = 0.05;  // the fake peer's steps take 0.06 s
  const AttentionShape shape = tiny_attention();
  const Record record = run_attention(shape, contest);
  const auto says = [&](size_t row, const std::string& text) {
    return record.rows[row].note.find(text) != std::string::npos;
  };
  EXPECT_TRUE(says(1, "peer left out: a step would take about 0.3 s, over --step-limit-s 0.05"))
      << record.rows[1].note;
  EXPECT_TRUE(says(2, "peer left out: it would need about 0 GiB, over the limit of 0"))
      << record.rows[2].note;
  EXPECT_TRUE(std::isnan(record.rows[2].peer));
}

TEST(BenchMemory, HasOneRowPerCaseAndOneOfTraining) {
  const FakePeer fake;
  Contest contest;
  contest.train_peer = contest.attention_peer = fake.command();
  contest.own_training = contest.own_attention = fake.command();
  const Record record = run_memory(tiny_training(), tiny_attention(), contest);
  ASSERT_EQ(record.rows.size(), 5U);
  for (const Row& row : record.rows) {
    EXPECT_EQ(row.unit, "MiB");
    EXPECT_DOUBLE_EQ(row.ratio, 1.0);
    EXPECT_EQ(row.note, "ours started with 101; peer started with 101");
  }
}

TEST(BenchMemory, NamesThePeersTorch) {
  const FakePeer fake;
  Contest contest;
  contest.train_peer = fake.command("--old-torch");
  const Record record = run_memory(tiny_training(), tiny_attention(), contest);
  EXPECT_EQ(record.machine.peer, "torch 1.0.0");
  ASSERT_EQ(record.notes.size(), 1U);
  EXPECT_TRUE(
      record.notes[0].starts_with("the peer runs torch 1.0.0, ours is linked with torch 2."))
      << record.notes[0];
}

TEST(BenchMemory, SaysWhatFailed) {
  const FakePeer fake;
  Contest contest;
  contest.train_peer = fake.command("--dies-at-once");
  const Record record = run_memory(tiny_training(), tiny_attention(), contest);
  EXPECT_EQ(record.rows[0].note, "peer: /usr/bin/env ended with exit status 3: no torch here");
}

TEST(BenchLength, AddsThePeakOfEveryCase) {
  const FakePeer fake;
  Contest contest;
  contest.quick = true;
  contest.own_attention = fake.command();
  const Record record = run_length(tiny_attention(), contest);
  ASSERT_EQ(record.rows.size(), 8U);
  EXPECT_EQ(record.rows[1].what, "peak memory, causal, T 8, D 8");
  EXPECT_DOUBLE_EQ(record.rows[1].ours, 400.25);
  EXPECT_EQ(record.rows[1].x, 8.0);
}

// From 10 s at 100 and 20 s at 200 tokens time is linear: 40 s at 400.
TEST(StepTimes, ExpectsWhatTheLastLengthsSay) {
  StepTimes times;
  AttentionCase each;
  each.kind = "causal";
  each.length = 100;
  EXPECT_EQ(times.over(each, 1.0), "");
  times.add(each, {10e3});
  each.length = 200;
  EXPECT_EQ(times.over(each, 39.0), "a step would take about 40 s, over --step-limit-s 39");
  EXPECT_EQ(times.over(each, 41.0), "");
  times.add(each, {20e3});
  each.length = 400;
  EXPECT_EQ(times.over(each, 39.0), "a step would take about 40 s, over --step-limit-s 39");
  EXPECT_EQ(times.over(each, 41.0), "");
}

// 8 heads of 8192 x 8192 in bfloat16, twice: 2 GiB; a boolean mask is shared by the heads.
TEST(ExpectedMemory, OfAMaskIsQuadratic) {
  AttentionCase each{1, 8, "bfloat16", "alibi", 8192, 64};
  EXPECT_DOUBLE_EQ(expected_peer_gib(each), 2.0);
  each.kind = "window:512";
  EXPECT_DOUBLE_EQ(expected_peer_gib(each), 0.25);
  each.kind = "causal";
  EXPECT_DOUBLE_EQ(expected_peer_gib(each), 0.0);
}

TEST(Profile, CountsTheWorkOfAProduct) {
  const at::Tensor a = at::ones({256, 128}), b = at::ones({128, 64});
  const std::vector<OpShare> found = profile([&] { at::mm(a, b); }, 4, 100.0, 10.0);
  const auto mm = std::find_if(found.begin(), found.end(),
                               [](const OpShare& op) { return op.name == "aten::mm"; });
  ASSERT_NE(mm, found.end());
  EXPECT_DOUBLE_EQ(mm->calls, 1.0);
  EXPECT_NEAR(mm->gflops, 2.0 * 256 * 128 * 64 / mm->ms / 1e6, 1e-6);
  // Inputs and output, float32.
  EXPECT_NEAR(mm->gbytes_per_s, 4.0 * (256 * 128 + 128 * 64 + 256 * 64) / mm->ms / 1e6, 1e-6);
  EXPECT_NEAR(mm->roofline, std::max(mm->gflops / 100.0, mm->gbytes_per_s / 10.0), 1e-9);
}

TEST(ShortName, KeepsTheLastPartOfANode) {
  EXPECT_EQ(short_name("torch::autograd::CppNode<gyre::model::(anonymous namespace)::LinearNll>"),
            "LinearNll");
  EXPECT_EQ(short_name("aten::mm"), "aten::mm");
}

TEST(Machine, PeaksAreFoundOutAndMemoryIsKnown) {
  MatmulPeak peak(at::kFloat, at::kCPU, true);
  peak.measure();
  EXPECT_GT(peak.gflops(), 0.0);
  EXPECT_GT(peak_resident_mib(), 1.0);
  EXPECT_GT(available_mib(), 1.0);
}

TEST(BenchOptions, NameWhatDoesNotFit) {
  EXPECT_EQ(message_of([] { window_of("window:0"); }),
            "--kinds: 'window:0' is no kind of attention; known: causal, window:W with W keys per "
            "query, alibi");
  EXPECT_EQ(window_of("window:512"), 512);
  TrainShape shape;
  shape.width = 100;
  EXPECT_EQ(message_of([&] { check(shape); }),
            "--width must be a multiple of --head-dim, which must be even, got 100 and 64");
  TrainRun run;
  run.modes = {"int8"};
  EXPECT_EQ(message_of([&] { check(run); }),
            "--modes: no mode 'int8'; known: fp32, bf16, fp32-compile, bf16-compile");
  run.modes = {};
  EXPECT_EQ(message_of([&] { check(run); }),
            "--modes is empty; give some of fp32, bf16, fp32-compile, bf16-compile");
  AttentionShape attention;
  attention.lengths = {512, 0};
  EXPECT_EQ(message_of([&] { check(attention); }), "--lengths must be at least 1, got 0");
  attention.lengths = {};
  EXPECT_EQ(message_of([&] { check(attention); }),
            "--lengths is empty; give tokens per sequence, e.g. 512,2048");
  attention = {};
  attention.dtype = "float16";
  EXPECT_EQ(message_of([&] { check(attention); }),
            "--dtype must be bfloat16 or float32, got 'float16'");
  attention = {};
  attention.head_dims = {63};
  EXPECT_EQ(message_of([&] { check(attention); }),
            "--head-dim must be even and at least 2, got 63");
  Limits limits;
  limits.step_limit_s = 0;
  EXPECT_EQ(message_of([&] { check(limits); }), "--step-limit-s must be above 0, got 0");
  EXPECT_EQ(message_of([] { train_preset("huge"); }),
            "--preset must be small or large, got 'huge'");
}

}  // namespace
}  // namespace gyre::bench
