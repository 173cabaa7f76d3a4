// `gyre bench memory`: peak memory of the training step and of attention by length. Also our side
// as a server, which is how a process of our own is measured.
#include <deque>
#include <iostream>
#include <map>

#include "gyre/base/error.h"
#include "gyre/base/progress.h"
#include "gyre/bench/bench.h"
#include "gyre/bench/capped.h"
#include "gyre/bench/commands.h"
#include "gyre/bench/least_memory.h"
#include "gyre/bench/machine.h"
#include "gyre/bench/our_training.h"
#include "gyre/bench/peer.h"
#include "gyre/train/machine.h"

namespace gyre::bench {
namespace {

constexpr int64_t kSteps = 2;

void training_row(const TrainShape& shape, const Contest& contest, Record& record) {
  const std::string words = "bf16 learned";
  const Peak ours =
      peak_of(train_command(contest.own_training, shape, contest), words, kSteps, contest.limits);
  const Peak eager =
      peak_of(train_command(contest.train_peer, shape, contest), words, kSteps, contest.limits);
  record.rows.push_back(memory_row(str("training step, ", words, ", width ", shape.width, ", ",
                                       shape.layers, " layers, ", shape.batch, " x ", shape.length),
                                   contest.train_peer.empty() ? "" : "eager", ours, eager));
  set_peer(record, eager.name);
}

}  // namespace

Record run_memory(const TrainShape& training, const AttentionShape& attention,
                  const Contest& contest) {
  check(training);
  check(attention);
  check(contest.limits);
  check_fits(training, contest);
  check_fits(attention, contest);
  Record record;
  record.what = "memory";
  record.title = "Peak resident memory, each case in a process of its own";
  record.machine = describe_machine();
  const std::vector<AttentionCase> cases = cases_of(attention);
  Progress progress("bench memory", static_cast<int64_t>(cases.size()) + 1, "case");
  progress.update(0, "training step");
  training_row(training, contest, record);
  int64_t done = 1;
  for (const AttentionCase& each : cases) {
    progress.update(done++, case_title(each));
    const std::string why = contest.attention_peer.empty() ? "" : over_memory(each, contest.limits);
    record.rows.push_back(attention_memory_row(each, contest, "", why));
  }
  return record;
}

void serve_training(const TrainShape& shape, const std::string& device) {
  check(shape);
  train::keep_freed_memory();
  std::map<std::string, OurTraining> known;
  serve(std::cin, std::cout, [&](const std::vector<std::string>& words) {
    if (words.size() != 2) {
      throw Error(Code::Usage, "a training case is 'DTYPE fixed|learned'");
    }
    const std::string key = words[0] + " " + words[1];
    auto found = known.find(key);
    if (found == known.end()) {
      const at::ScalarType dtype = words[0] == "bf16" ? at::kBFloat16 : at::kFloat;
      found = known.try_emplace(key, shape, dtype, words[1] == "learned", at::Device(device)).first;
    }
    return found->second.timed_ms();
  });
}

void serve_attention(const AttentionShape& shape, const std::string& device) {
  train::keep_freed_memory();
  std::map<std::string, OurAttention> current;  // at most one case
  serve(std::cin, std::cout, [&](const std::vector<std::string>& words) {
    if (words.size() != 3) {
      throw Error(Code::Usage, "an attention case is 'KIND LENGTH HEAD_DIM'");
    }
    const AttentionCase each{shape.batch, shape.heads,          shape.dtype,
                             words[0],    std::stoll(words[1]), std::stoll(words[2])};
    const std::string key = case_words(each);
    if (!current.contains(key)) {
      current.clear();
      current.try_emplace(key, each, at::Device(device));
    }
    return current.at(key).timed_ms();
  });
}

}  // namespace gyre::bench
