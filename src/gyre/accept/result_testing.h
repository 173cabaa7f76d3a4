// A result with something of everything, for tests of what is made from it.
#pragma once

#include "gyre/accept/record_testing.h"
#include "gyre/accept/result.h"

namespace gyre::accept::testing {

inline Acceptance a_result() {
  Acceptance a;
  a.subject = "http://127.0.0.1:8080/v1 qwen";
  a.facts.server = "llama.cpp";
  a.facts.claims = {{"/props n_ctx", 16384}};
  a.options.lengths = {4096, 8192};
  a.options.levels = {1, 2};
  a.verdict = Status::Fail;
  a.says = {"FAIL: kept to 4,096 tokens", "second line", "third line"};
  a.effective_length = 4096;
  a.levels = {{1, Status::Fail, 4096, "kept to 4,096 tokens", ""},
              {2, Status::Undecided, 0, "needs more", "bucket 3 of 5 at 4096: 0.62 (0.48-0.74)"}};
  Rung kept, cut;
  kept.length = 4096;
  kept.predicted = 4090;
  kept.reported = 4091;
  kept.status = Status::Pass;
  kept.says = "16 of 16 stripes";
  cut.length = 8192;
  cut.api = Api::Completions;
  cut.status = Status::Fail;
  cut.says = "stripes 1-7 <lost> & gone \x01";
  cut.evidence = {"aaaa", "bbbb"};
  a.one.ran = a.one.able = true;
  a.one.rungs = {kept, cut};
  a.one.window.fits = 4096;
  a.one.window.fails = 8192;
  Cell cell;
  cell.task = "needle";
  cell.length = 4096;
  cell.dials = {{"k", "7"}, {"s", "2"}};
  cell.buckets = {{16, 16, 0, 0.8, 1.0}, {16, 10, 1, 0.4, 0.8}};
  cell.planned = 640;
  cell.asked = 32;
  cell.answered = 31;
  cell.correct = 26;
  cell.threshold = 0.8;
  cell.worst = 1;
  cell.needs_about = 40;
  cell.status = Status::Undecided;
  Cell skipped;
  skipped.task = "plain";
  skipped.length = 8192;
  skipped.why_not_run = "level 1 failed at 8192 tokens";
  Cell control = cell;
  control.arm = "noev";
  control.status = Status::NotRun;
  a.cells = {cell, skipped, control};
  a.findings = {{"TRUNC_HEAD", "only the last 4,096 of 8,192 tokens are read", {"aaaa"}, {}},
                {"USAGE_MISSING", "no usage in 12 answers", {"cccc"}, {}}};
  a.failures = {a_sample(1, Verdict::Distractor)};
  a.cost.requests = 1234;
  return a;
}

}  // namespace gyre::accept::testing
