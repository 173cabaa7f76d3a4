// The sound subject passes every check; every known fault is caught by one at least.
#include "gyre/verify/battery.h"

#include <ATen/ops/allclose.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "gyre/base/error.h"

namespace gyre::verify {
namespace {

Subject quick(Subject subject) {
  subject.quick = true;
  return subject;
}

class EachIdentity : public ::testing::TestWithParam<size_t> {};

TEST_P(EachIdentity, HoldsForTheSoundSubject) {
  const Identity& identity = identities()[GetParam()];
  const CheckResult result = identity.run(quick(sound_subject()));
  EXPECT_TRUE(result.passed) << identity.id << ": " << result.worst << " > " << result.tolerance
                             << " at " << result.where;
  EXPECT_FALSE(result.where.empty()) << identity.id << " looked at nothing";
  EXPECT_FALSE(identity.claim.empty());
  EXPECT_FALSE(identity.source.empty());
}

std::string identity_name(const ::testing::TestParamInfo<size_t>& info) {
  std::string name = identities()[info.param].id;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Battery, EachIdentity, ::testing::Range<size_t>(0, identities().size()),
                         identity_name);

// Which check is meant to catch a fault; others may too.
const std::map<std::string, std::vector<std::string>>& guards() {
  static const std::map<std::string, std::vector<std::string>> list{
      {"flipped-direction", {"direction", "scores-match-reference"}},
      {"flipped-key-direction", {"direction", "shift-invariance"}},
      {"wrong-pairing", {"pairing", "scores-match-reference"}},
      {"pairs-over-head", {"pairing", "scores-match-reference"}},
      {"double-rotation", {"rotation-composes", "frequency-gradient"}},
      {"rotates-every-layer", {"unrotated-bound"}},
      {"exponent-over-rotated-width", {"kept-bands"}},
      {"bf16-positions", {"precision-cases", "rotation-precision"}},
      {"bf16-angles", {"precision-cases", "rotation-precision"}},
      {"fp16-angles", {"precision-cases", "rotation-precision"}},
      {"fp32-angles", {"rotation-precision", "slowest-band"}},
      {"table-without-offset", {"table-offsets"}},
      {"table-too-short", {"table-offsets"}},
      {"table-keeps-first-dtype", {"table-offsets"}},
      {"amplitude-missing", {"amplitude"}},
      {"amplitude-squared", {"amplitude"}},
      {"mixed-dynamic-tables", {"length-dependent-tables"}},
      {"table-by-allocated-length", {"length-dependent-tables"}},
      {"cache-position", {"continuation", "rolled-back-window"}},
      {"chunk-offset-reset", {"continuation"}},
      {"chunk-offset-twice", {"continuation"}},
      {"shared-padding-counter", {"padded-rows"}},
      {"stale-window-cache", {"rolled-back-window"}},
      {"window-off-by-one", {"masks", "reach"}},
      {"window-halved", {"masks", "reach"}},
      {"window-lost-in-decode", {"masks", "continuation"}},
      {"chunk-mask-ignored", {"masks", "reach"}},
      {"causal-top-left", {"continuation", "masks"}},
      {"causal-off-by-one", {"masks", "scores-match-reference"}},
      {"groups-interleaved", {"scores-match-reference", "bias-scores"}},
      {"scale-missing", {"scores-match-reference", "bias-scores"}},
      {"bias-sign", {"bias-scores"}},
      {"bias-scaled", {"bias-scores", "bias-row-constant"}},
      {"bias-bf16", {"precision-cases"}},
      {"slope-exponent", {"bias-slopes"}},
  };
  return list;
}

class EachFault : public ::testing::TestWithParam<size_t> {};

TEST_P(EachFault, IsCaughtByTheChecksMeantForIt) {
  const std::string& name = faults()[GetParam()].name;
  ASSERT_TRUE(guards().contains(name)) << name << ": say in this file which check catches it";
  const Subject subject = quick(faulty_subject(name));
  for (const std::string& id : guards().at(name)) {
    const auto identity = std::find_if(identities().begin(), identities().end(),
                                       [&](const Identity& one) { return one.id == id; });
    ASSERT_NE(identity, identities().end()) << "no check " << id;
    bool passed = false;
    try {
      passed = identity->run(subject).passed;
    } catch (const std::exception&) {
    }
    EXPECT_FALSE(passed) << name << " passes " << id;
  }
}

std::string fault_name(const ::testing::TestParamInfo<size_t>& info) {
  std::string name = faults()[info.param].name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Battery, EachFault, ::testing::Range<size_t>(0, faults().size()),
                         fault_name);

// A decaying layer has other tables for keys than for queries. Positions below 256 are whole in
// bfloat16, and a kept table found again is the one that was put in: neither fault shows here.
TEST(Faults, TreatTheKeysOfADecayingLayerAsKeys) {
  const auto plan =
      sound_subject().plan("xpos", position::PlanRequest{.n_layers = 1,
                                                         .n_heads = 1,
                                                         .n_kv_heads = 1,
                                                         .head_dim = 8,
                                                         .train_length = 64,
                                                         .layout = position::PairLayout::Halves});
  const std::vector<int64_t> positions{0, 1, 7, 200};
  const auto sound = sound_subject().table(plan, 0, positions, true);
  ASSERT_FALSE(at::allclose(sound.cos, sound.key_cos));
  for (const char* name : {"bf16-positions", "table-without-offset"}) {
    const Subject faulty = faulty_subject(name);
    faulty.table(plan, 0, positions, true);
    const auto again = faulty.table(plan, 0, positions, true);
    EXPECT_TRUE(at::allclose(again.cos, sound.cos, 1e-12, 1e-14)) << name;
    EXPECT_TRUE(at::allclose(again.sin, sound.sin, 1e-12, 1e-14)) << name;
    EXPECT_TRUE(at::allclose(again.key_cos, sound.key_cos, 1e-12, 1e-14)) << name;
    EXPECT_TRUE(at::allclose(again.key_sin, sound.key_sin, 1e-12, 1e-14)) << name;
  }
}

// The table of faults runs the battery once per fault; `gyre verify` itself looks everywhere.
TEST(Battery, TheQuickOneAsksForLess) {
  const auto tokens_of = [](bool is_quick) {
    int64_t n_tokens = 0;
    Subject subject = sound_subject();
    subject.quick = is_quick;
    subject.table = [&n_tokens, sound = subject.table](
                        const position::PositionPlan& plan, int64_t layer,
                        const std::vector<int64_t>& positions, bool exact) {
      n_tokens += static_cast<int64_t>(positions.size());
      return sound(plan, layer, positions, exact);
    };
    const auto any = std::find_if(identities().begin(), identities().end(),
                                  [](const Identity& one) { return one.id == "any-distance"; });
    EXPECT_TRUE(any->run(subject).passed);
    return n_tokens;
  };
  EXPECT_LT(tokens_of(true) * 5, tokens_of(false));
}

TEST(Battery, NamesAreUnique) {
  std::set<std::string> names;
  for (const Identity& identity : identities()) {
    EXPECT_TRUE(names.insert(identity.id).second) << identity.id;
  }
  for (const Fault& fault : faults()) {
    EXPECT_TRUE(names.insert(fault.name).second) << fault.name;
  }
}

TEST(Battery, AnUnknownFaultNamesTheNearest) {
  try {
    faulty_subject("window-off-by-on");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "no fault 'window-off-by-on'; did you mean 'window-off-by-one'?");
  }
}

TEST(Battery, ACheckThatThrowsHasFailed) {
  Subject subject = quick(sound_subject());
  subject.attention = [](const at::Tensor&, const at::Tensor&, const at::Tensor&,
                         const position::LayerPlan&) -> at::Tensor {
    throw Error(Code::Internal, "no attention today");
  };
  const std::vector<Check> checks = run_battery(subject);
  EXPECT_FALSE(all_passed(checks));
  const auto masks = std::find_if(checks.begin(), checks.end(),
                                  [](const Check& check) { return check.id == "masks"; });
  ASSERT_NE(masks, checks.end());
  EXPECT_FALSE(masks->result.passed);
  EXPECT_EQ(masks->result.where, "stopped: no attention today");
}

}  // namespace
}  // namespace gyre::verify
