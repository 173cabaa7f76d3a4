// `gyre bench infer`: prefill and decoding of one checkpoint, ours and transformers' in turn, and
// the memory of a process that does only that.
#include <iostream>
#include <memory>

#include "gyre/base/error.h"
#include "gyre/base/progress.h"
#include "gyre/bench/bench.h"
#include "gyre/bench/commands.h"
#include "gyre/bench/interleave.h"
#include "gyre/bench/machine.h"
#include "gyre/bench/our_inference.h"
#include "gyre/bench/peer.h"
#include "gyre/train/machine.h"

namespace gyre::bench {
namespace {

Command infer_command(const Command& program, const InferShape& shape, const Contest& contest) {
  Command out = program;
  if (!program.empty()) {
    for (const std::string& each :
         {"--model=" + shape.model, "--dtype=" + shape.dtype, str("--new=", shape.new_tokens),
          str("--threads=", contest.threads), std::string("--serve")}) {
      out.push_back(each);
    }
  }
  return out;
}

void time_case(const InferCase& one, OurInference& ours, Server* peer, const InferShape& shape,
               Record& record) {
  std::vector<Side> sides;
  ours.timed_ms(one);  // warm-up
  sides.push_back({"ours", [&] { return ours.timed_ms(one); }, {}});
  if (peer != nullptr) {
    peer->step_ms(case_words(one));
    sides.push_back({"transformers", [&] { return peer->step_ms(case_words(one)); }, {}});
  }
  interleave(sides, shape.steps);
  const std::string title = one.kind == "prefill" ? str("prefill of ", one.length, " tokens")
                                                  : str("one token after ", one.length);
  Row row = time_row(title + ", " + shape.dtype, peer == nullptr ? "" : "transformers", sides[0].ms,
                     peer == nullptr ? std::vector<double>{} : sides[1].ms);
  row.series = one.kind;
  row.x = static_cast<double>(one.length);
  record.rows.push_back(std::move(row));
}

}  // namespace

Record run_infer(const InferShape& shape, const Contest& contest) {
  check(shape);
  check(contest.limits);
  Record record;
  record.what = "infer";
  record.title = str("Inference: ", shape.model, ", batch 1, ", shape.dtype);
  record.machine = describe_machine();
  const std::vector<InferCase> cases = cases_of(shape);
  Progress progress("bench infer", static_cast<int64_t>(cases.size()) + 1, "case");
  progress.update(0, "load");
  double bound = 0.0;
  {
    OurInference ours(shape);
    std::unique_ptr<Server> peer;
    if (!contest.infer_peer.empty()) {
      peer = std::make_unique<Server>(infer_command(contest.infer_peer, shape, contest),
                                      contest.limits);
      record.machine.peer = peer->name();
    }
    int64_t done = 0;
    for (const InferCase& one : cases) {
      progress.update(done++, case_words(one));
      time_case(one, ours, peer.get(), shape, record);
    }
    bound = ours.weights_mib() + ours.cache_mib();
    record.totals.emplace_back("weights_mib", ours.weights_mib());
    record.totals.emplace_back("cache_mib", ours.cache_mib());
  }
  progress.update(static_cast<int64_t>(cases.size()), "memory");
  const std::string last = case_words(cases.back());
  const Peak ours =
      peak_of(infer_command(contest.own_inference, shape, contest), last, 1, contest.limits);
  const Peak peer =
      peak_of(infer_command(contest.infer_peer, shape, contest), last, 1, contest.limits);
  record.rows.push_back(memory_row("peak memory, " + last,
                                   contest.infer_peer.empty() ? "" : "transformers", ours, peer));
  record.totals.emplace_back("over_weights_and_cache_mib", ours.mib - bound);
  return record;
}

void serve_inference(const InferShape& shape) {
  check(shape);
  OurInference ours(shape);
  serve(std::cin, std::cout, [&](const std::vector<std::string>& words) {
    if (words.size() != 2 || (words[0] != "prefill" && words[0] != "decode")) {
      throw Error(Code::Usage, "an inference case is 'prefill|decode LENGTH'");
    }
    return ours.timed_ms({words[0], std::stoll(words[1])});
  });
}

}  // namespace gyre::bench
