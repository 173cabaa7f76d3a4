// Level 2: one record among others like it, in two families of needles that are never pooled.
#include <algorithm>

#include "gyre/accept/quality/grid.h"
#include "gyre/accept/quality/measures.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

constexpr int64_t kBaseDistractors = 7, kBaseSimilarity = 2;  // of the cell with controls

/// What no cell of the default grid changes.
struct Manner {
  bool paraphrase = false, question_first = false, near_value = false;
};

Spec needle_spec(const std::string& family, int64_t k, int64_t s, const Manner& manner) {
  Spec spec;
  spec.level = 2;
  spec.task = family;
  spec.dials = {{"k", str(k)}, {"s", k > 0 ? str(s) : "-"}};
  if (manner.paraphrase) {
    spec.dials["o"] = "none";
  }
  if (manner.question_first) {
    spec.dials["qpos"] = "start";
  }
  if (manner.near_value) {
    spec.dials["v"] = "near";
  }
  spec.make = [=](const Slot& slot, Arm arm, const Frame& frame) {
    Needle dials;
    dials.family = family;
    dials.index = slot.index;
    dials.fraction = place_in(slot.bucket, slot.index);
    dials.distractors = k;
    dials.similarity = s;
    dials.paraphrase = manner.paraphrase;
    dials.question_first = manner.question_first;
    dials.near_value = manner.near_value;
    dials.arm = arm;
    if (arm != Arm::Short && arm != Arm::Alone && k > most_distractors(frame)) {
      throw Error(Code::Usage, k, " distractors, but ", most_distractors(frame),
                  " fit in a prompt of ", frame.length - frame.max_tokens, " tokens");
    }
    return make_needle(dials, frame);
  };
  return spec;
}

std::vector<Spec> full_grid() {
  std::vector<Spec> out;
  for (int bits = 0; bits < 8; ++bits) {
    const Manner manner{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
    for (const int64_t k : {0, 1, 3, 7, 15, 31}) {
      for (const int64_t s : {0, 1, 2, 3, 4}) {
        // Without distractors there is neither a similarity nor a near value.
        if (k == 0 && (s > 0 || manner.near_value)) {
          continue;
        }
        out.push_back(needle_spec("needle", k, s, manner));
      }
    }
  }
  for (const int64_t k : {0, 1, 3, 7, 15, 31}) {
    out.push_back(needle_spec("plain", k, 0, {}));
  }
  return out;
}

bool is_base(const CellRun& run) {
  const auto& dials = run.spec.dials;
  return run.spec.task == "needle" && dials.at("k") == str(kBaseDistractors) &&
         dials.at("s") == str(kBaseSimilarity) && dials.size() == 2;
}

void add(Acceptance& result, const CellRun& run, std::vector<Measure> measures) {
  result.cells.push_back(run.cell);
  for (Measure& measure : measures) {
    if (measure.n > 0) {
      result.measures.push_back(std::move(measure));
    }
  }
}

void controls_of(Examiner& examiner, const CellRun& main, int64_t per_bucket, bool reseeds) {
  Acceptance& result = examiner.bench().result;
  const int64_t length = main.cell.length;
  const auto wanted = slots(0, per_bucket);
  const auto noev = run_control(examiner, main.spec, length, Arm::NoEvidence, wanted);
  add(result, noev, guess_measures(noev));
  const auto swap = run_control(examiner, main.spec, length, Arm::Swap, wanted);
  add(result, swap, {following_measure(main, swap)});
  if (reseeds) {
    const auto reseed = run_control(examiner, main.spec, length, Arm::Reseed, wanted);
    add(result, reseed, {nuisance_measure(main, reseed)});
  }
}

}  // namespace

std::vector<Spec> retrieval_specs(const AcceptOptions& options) {
  if (options.full_grid) {
    return full_grid();
  }
  return {needle_spec("needle", 0, 0, {}), needle_spec("needle", 7, 2, {}),
          needle_spec("needle", 31, 4, {}), needle_spec("plain", 7, 0, {})};
}

void run_retrieval(Bench& bench) {
  Examiner examiner(bench);
  const int64_t items = control_items(bench.options);
  const auto specs = retrieval_specs(bench.options);
  bool alone = false;
  run_grid(examiner, specs, [&](int64_t, std::vector<CellRun>& runs) {
    for (const CellRun& run : runs) {
      const bool plain = run.spec.task == "plain" && run.spec.dials.at("k") == "7";
      if (run.outcomes.empty() || (!is_base(run) && !plain)) {
        continue;
      }
      controls_of(examiner, run, plain ? (items + 1) / 2 : items, !plain);
      if (is_base(run) && !alone) {
        // The question alone has no length: once is enough.
        alone = true;
        const auto asked = run_control(examiner, run.spec, bench.options.original_length,
                                       Arm::Alone, slots(0, std::max<int64_t>(1, items / 4)));
        add(bench.result, asked, guess_measures(asked));
      }
    }
  });
}

}  // namespace gyre::accept
