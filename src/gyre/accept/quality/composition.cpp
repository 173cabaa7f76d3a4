// Level 3: answers that need several pieces of evidence, and records that contradict each other.
#include <algorithm>
#include <array>

#include "gyre/accept/quality/grid.h"
#include "gyre/accept/quality/measures.h"
#include "gyre/base/error.h"
#include "gyre/base/rng.h"

namespace gyre::accept {
namespace {

Join join_of(bool sum, int64_t parts, const Slot& slot, const Frame& frame) {
  Join dials;
  dials.sum = sum;
  dials.index = slot.index;
  dials.parts = parts;
  dials.fractions = places_from(slot.bucket, slot.index, parts, frame.seed);
  return dials;
}

/// parts 0: two, three and four in turn.
Spec join_spec(bool sum, int64_t parts) {
  Spec spec;
  spec.level = 3;
  spec.task = sum ? "sum" : "join";
  spec.dials = {{"m", parts > 0 ? str(parts) : "2-4"}};
  const auto parts_at = [parts](int64_t index) { return parts > 0 ? parts : 2 + index % 3; };
  spec.make = [=](const Slot& slot, Arm arm, const Frame& frame) {
    Join dials = join_of(sum, parts_at(slot.index), slot, frame);
    dials.arm = arm;
    return make_join(dials, frame);
  };
  if (!sum) {
    spec.steps = parts_at;
    spec.make_step = [=](const Slot& slot, int64_t step, const Frame& frame) {
      Join dials = join_of(sum, parts_at(slot.index), slot, frame);
      dials.only = step;
      return make_join(dials, frame);
    };
  }
  return spec;
}

Chain chain_of(int64_t hops, const Slot& slot, const Frame& frame) {
  Chain dials;
  dials.index = slot.index;
  dials.hops = hops;
  dials.order = static_cast<LinkOrder>(slot.index / 4 % 3);
  dials.decoys = 1 + slot.index % 3;
  dials.fractions = places_from(slot.bucket, slot.index, hops + 1, frame.seed);
  return dials;
}

/// hops 0: one to four in turn.
Spec chain_spec(int64_t hops) {
  Spec spec;
  spec.level = 3;
  spec.task = "chain";
  spec.dials = {{"h", hops > 0 ? str(hops) : "1-4"}};
  const auto hops_at = [hops](int64_t index) { return hops > 0 ? hops : 1 + index % 4; };
  spec.make = [=](const Slot& slot, Arm arm, const Frame& frame) {
    Chain dials = chain_of(hops_at(slot.index), slot, frame);
    dials.arm = arm;
    return make_chain(dials, frame);
  };
  // Every copy alone, then the first variable's code.
  spec.steps = [=](int64_t index) { return hops_at(index) + 1; };
  spec.make_step = [=](const Slot& slot, int64_t step, const Frame& frame) {
    Chain dials = chain_of(hops_at(slot.index), slot, frame);
    dials.only = step;
    return make_chain(dials, frame);
  };
  return spec;
}

/// Half of the items conflict, the other half is shared by the three forms that do not: whoever
/// always says the same is right half of the time. Buckets are of the distance between the two.
Spec contradiction_spec() {
  static constexpr std::array kForms{Conflict::Flat,      Conflict::Amended, Conflict::Flat,
                                     Conflict::Withdrawn, Conflict::Flat,    Conflict::NearMiss};
  Spec spec;
  spec.level = 3;
  spec.task = "contradiction";
  spec.dials = {{"bucket", "distance"}};
  spec.make = [](const Slot& slot, Arm arm, const Frame& frame) {
    constexpr double kLeast = 0.02, kMost = 0.96;
    Contradiction dials;
    dials.index = slot.index;
    dials.form = kForms[static_cast<size_t>(slot.index) % kForms.size()];
    const double distance = kLeast + (kMost - kLeast) * place_in(slot.bucket, slot.index);
    Rng rng(frame.seed, "contradiction place", static_cast<uint64_t>(slot.index));
    dials.first = 0.01 + (0.98 - distance) * rng.uniform();
    dials.second = dials.first + distance;
    dials.later_first = slot.index / static_cast<int64_t>(kForms.size()) % 2 == 1;
    dials.arm = arm;
    return make_contradiction(dials, frame);
  };
  return spec;
}

/// Every step of the first items alone; the gap by number of steps.
void measure_gaps(Examiner& examiner, const CellRun& run, int64_t per_bucket) {
  std::vector<Slot> wanted, owner;
  std::vector<Item> items;
  for (const Slot& slot : slots(0, per_bucket)) {
    // One bucket in turn for each index: what is composed counts, not where.
    if (slot.bucket != slot.index % kBuckets || !run.find(slot)) {
      continue;
    }
    wanted.push_back(slot);
    for (int64_t step = 1; step <= run.spec.steps(slot.index); ++step) {
      const Frame frame = examiner.frame(run.cell.length);
      items.push_back(examiner.labelled(run.spec, slot, run.cell.length,
                                        run.spec.make_step(slot, step, frame)));
      owner.push_back(slot);
    }
  }
  const auto outcomes = examiner.ask(std::move(items), owner);
  std::map<size_t, std::vector<Composed>> by_steps;
  size_t next = 0;
  for (const Slot& slot : wanted) {
    Composed composed{run.find(slot)->ok(), {}};
    for (int64_t step = 0; step < run.spec.steps(slot.index); ++step) {
      composed.steps.push_back(outcomes[next++].ok());
    }
    by_steps[composed.steps.size()].push_back(std::move(composed));
  }
  CellRun alone{run.cell, run.spec, outcomes};
  for (const auto& [n, group] : by_steps) {
    examiner.bench().result.measures.push_back(composition_gap(group, alone, str(n, " steps")));
  }
}

void add_all(Acceptance& result, const std::vector<Measure>& measures) {
  std::copy_if(measures.begin(), measures.end(), std::back_inserter(result.measures),
               [](const Measure& measure) { return measure.n > 0; });
}

void evidence_controls(Examiner& examiner, const CellRun& run, int64_t per_bucket) {
  Acceptance& result = examiner.bench().result;
  const auto wanted = slots(0, per_bucket);
  const auto noev = run_control(examiner, run.spec, run.cell.length, Arm::NoEvidence, wanted);
  const auto swap = run_control(examiner, run.spec, run.cell.length, Arm::Swap, wanted);
  result.cells.push_back(noev.cell);
  result.cells.push_back(swap.cell);
  add_all(result, guess_measures(noev));
  add_all(result, {following_measure(run, swap)});
}

void composition_controls(Examiner& examiner, const CellRun& run, int64_t items) {
  Acceptance& result = examiner.bench().result;
  if (run.outcomes.empty()) {
    return;
  }
  if (run.spec.steps) {
    measure_gaps(examiner, run, 3 * items);
  }
  if (run.spec.task == "join" || run.spec.task == "chain") {
    evidence_controls(examiner, run, (items + 1) / 2);
    add_all(result, accuracy_by(run, run.spec.task == "join" ? "m" : "h",
                                run.spec.task == "join" ? "parts" : "hops"));
  }
  if (run.spec.task == "sum") {
    add_all(result, accuracy_by(run, "m", "summands"));
  }
  if (run.spec.task == "chain") {
    add_all(result, accuracy_by(run, "order", "links"));
  }
  if (run.spec.task == "contradiction") {
    add_all(result, {agreement_measure(run)});
    add_all(result, accuracy_by(run, "form", "form"));
  }
}

}  // namespace

std::vector<Spec> composition_specs(const AcceptOptions& options) {
  if (!options.full_grid) {
    return {join_spec(false, 0), join_spec(true, 0), chain_spec(0), contradiction_spec()};
  }
  std::vector<Spec> out;
  for (const int64_t parts : {2, 3, 4}) {
    out.push_back(join_spec(false, parts));
    out.push_back(join_spec(true, parts));
  }
  for (const int64_t hops : {1, 2, 3, 4}) {
    out.push_back(chain_spec(hops));
  }
  out.push_back(contradiction_spec());
  return out;
}

void run_composition(Bench& bench) {
  Examiner examiner(bench);
  const int64_t items = control_items(bench.options);
  run_grid(examiner, composition_specs(bench.options), [&](int64_t, std::vector<CellRun>& runs) {
    for (const CellRun& run : runs) {
      composition_controls(examiner, run, items);
    }
  });
}

}  // namespace gyre::accept
