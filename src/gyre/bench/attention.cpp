// `gyre bench attention` and `gyre bench length`: rotation and attention, forward and backward, one
// case after the other, ours and PyTorch's in turn within each.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "gyre/base/error.h"
#include "gyre/base/progress.h"
#include "gyre/bench/bench.h"
#include "gyre/bench/capped.h"
#include "gyre/bench/commands.h"
#include "gyre/bench/interleave.h"
#include "gyre/bench/least_memory.h"
#include "gyre/bench/machine.h"
#include "gyre/bench/our_attention.h"
#include "gyre/bench/peer.h"
#include "gyre/train/machine.h"

namespace gyre::bench {
namespace {

class AttentionBench {
 public:
  AttentionBench(const AttentionShape& shape, const Contest& contest, bool with_memory)
      : shape_(shape),
        contest_(contest),
        with_memory_(with_memory),
        cases_(cases_of(shape)),
        progress_(with_memory ? "bench length" : "bench attention",
                  static_cast<int64_t>(cases_.size()), "case") {}

  void run(Record& record) {
    if (!contest_.attention_peer.empty()) {
      start_peer();
      set_peer(record, peer_->name());
    }
    for (const AttentionCase& each : cases_) {
      measure(each, record);
    }
  }

 private:
  void start_peer() {
    peer_ = std::make_unique<Server>(attention_command(contest_.attention_peer, shape_, contest_),
                                     contest_.limits);
  }
  void measure(const AttentionCase& each, Record& record);
  /// Why the peer leaves this case out, "" = it ran; its times are in `side`.
  std::string add_peer(const AttentionCase& each, std::vector<Side>& sides);

  AttentionShape shape_;
  Contest contest_;
  bool with_memory_;
  std::vector<AttentionCase> cases_;
  Progress progress_;
  std::unique_ptr<Server> peer_;
  StepTimes our_times_, peer_times_;
  int64_t done_ = 0;
};

std::string AttentionBench::add_peer(const AttentionCase& each, std::vector<Side>& sides) {
  if (peer_ == nullptr) {
    return "";
  }
  std::string why = over_memory(each, contest_.limits);
  if (why.empty()) {
    why = peer_times_.over(each, contest_.limits.step_limit_s);
  }
  if (!why.empty()) {
    return why;
  }
  const std::string words = case_words(each);
  try {
    peer_->step_ms(words);  // builds and warms up
  } catch (const Interrupted&) {
    throw;
  } catch (const Error& fault) {
    const std::string text = fault.what();
    start_peer();  // the old one ended, or is still at it
    return text;
  }
  sides.push_back({"SDPA", [this, words] { return peer_->step_ms(words); }, {}});
  return "";
}

void AttentionBench::measure(const AttentionCase& each, Record& record) {
  progress_.update(done_++, case_title(each));
  std::vector<Side> sides;
  std::unique_ptr<OurAttention> ours;
  const std::string why_ours = our_times_.over(each, contest_.limits.step_limit_s);
  if (why_ours.empty()) {
    ours = std::make_unique<OurAttention>(each, at::Device(contest_.device));
    sides.push_back({"ours", [&ours] { return ours->timed_ms(); }, {}});
  }
  const std::string why_peer = add_peer(each, sides);
  interleave(sides, shape_.steps);
  std::vector<double> our_ms, peer_ms;
  for (const Side& side : sides) {
    (side.name == "ours" ? our_ms : peer_ms) = side.ms;
  }
  our_times_.add(each, our_ms);
  peer_times_.add(each, peer_ms);
  Row row = time_row(case_title(each), peer_ == nullptr ? "" : "SDPA", our_ms, peer_ms);
  row.series = series_of(each);
  row.x = static_cast<double>(each.length);
  row.note = left_out(why_ours, why_peer);
  record.rows.push_back(std::move(row));
  if (with_memory_) {
    ours.reset();
    record.rows.push_back(attention_memory_row(each, contest_, why_ours, why_peer));
  }
}

Record measured(const char* what, const AttentionShape& shape, const Contest& contest) {
  check(shape);
  check(contest.limits);
  check_fits(shape, contest);
  train::keep_freed_memory();
  const bool with_memory = std::string(what) == "length";
  Record record;
  record.what = what;
  record.title = str(with_memory ? "Cost against length" : "Attention",
                     ": rotation and attention, forward and backward, batch ", shape.batch, ", ",
                     shape.heads, " heads, ", shape.dtype);
  record.machine = describe_machine();
  AttentionBench(shape, contest, with_memory).run(record);
  return record;
}

}  // namespace

Record run_attention(const AttentionShape& shape, const Contest& contest) {
  return measured("attention", shape, contest);
}

Record run_length(const AttentionShape& shape, const Contest& contest) {
  return measured("length", shape, contest);
}

}  // namespace gyre::bench
