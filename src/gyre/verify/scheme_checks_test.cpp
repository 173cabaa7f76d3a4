// Checks of a scheme's plan and of a model: every registered scheme passes, faults do not.
#include <gtest/gtest.h>

#include <algorithm>

#include "gyre/base/error.h"
#include "gyre/position/scheme.h"
#include "gyre/verify/battery.h"
#include "gyre/verify/model_checks.h"

namespace gyre::verify {
namespace {

bool passes(const std::vector<Check>& checks, const std::string& id) {
  const auto found =
      std::find_if(checks.begin(), checks.end(), [&](const Check& c) { return c.id == id; });
  EXPECT_NE(found, checks.end()) << id;
  return found != checks.end() && found->result.passed;
}

TEST(CheckScheme, SchemesPass) {
  for (const char* spec :
       {"rope", "rope:layout=interleaved", "prope:p=0.5", "partial", "nope", "lerope", "alibi"}) {
    for (const Check& check : check_scheme(sound_subject(), spec)) {
      EXPECT_TRUE(check.result.passed)
          << spec << ", " << check.id << ": " << check.result.worst << " at " << check.result.where;
    }
  }
}

TEST(CheckScheme, FaultsShow) {
  EXPECT_FALSE(passes(check_scheme(faulty_subject("wrong-pairing"), "rope"), "plan-reference"));
  EXPECT_FALSE(passes(check_scheme(faulty_subject("cache-position"), "rope"), "plan-continuation"));
  EXPECT_FALSE(
      passes(check_scheme(faulty_subject("flipped-key-direction"), "rope"), "plan-relative"));
  EXPECT_FALSE(passes(check_scheme(faulty_subject("bias-sign"), "alibi"), "plan-reference"));
}

model::Transformer small_model(const std::string& scheme, const std::string& mask) {
  model::ModelConfig config;
  config.layout = position::PairLayout::Halves;
  config.vocab = 23;
  config.width = 24;
  config.layers = 2;
  config.heads = 4;
  config.kv_heads = 2;
  config.head_dim = 8;
  config.hidden = 20;
  config.init_std = 0.2;
  model::Transformer model(config,
                           position::make_plan(scheme, mask, model::plan_request(config, 32)));
  model.init(5);
  return model;
}

TEST(CheckModel, CachesAreConsistent) {
  for (const char* scheme : {"rope", "alibi", "nope"}) {
    for (const char* mask : {"full", "window:6"}) {
      for (const Check& check : check_model(small_model(scheme, mask), 32)) {
        EXPECT_TRUE(check.result.passed)
            << scheme << ", " << mask << ", " << check.id << ": " << check.result.where;
      }
    }
  }
}

TEST(CheckModel, EveryFaultOfACacheIsCaught) {
  for (const char* mask : {"window:6", "window:6/full"}) {
    const model::Transformer model = small_model("rope", mask);
    const std::vector<FaultRow> rows = run_cache_faults(model, 32);
    EXPECT_EQ(rows.size(), cache_faults().size());
    for (const FaultRow& row : rows) {
      EXPECT_FALSE(row.caught_by.empty()) << row.name << " under " << mask;
    }
  }
  // Without rotation, windows and bias some cannot show; the rest must.
  const std::vector<FaultRow> rows = run_cache_faults(small_model("nope", "full"), 32);
  EXPECT_LT(rows.size(), cache_faults().size());
  for (const FaultRow& row : rows) {
    EXPECT_FALSE(row.caught_by.empty()) << row.name;
  }
}

TEST(CheckModel, AFaultThatTheModelCannotShowIsSaidSo) {
  const auto message = [](const std::string& name) {
    try {
      faulty_cache_use(name, small_model("rope", "full"), 32);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message("cache-window-lost"),
            "verify: this model cannot show the fault cache-window-lost: no layer has a window; "
            "try cache-padding-seen");
  EXPECT_EQ(message("cache-positon"),
            "--fault cache-positon: no such fault of a cache; did you mean cache-position?");
}

TEST(CheckModel, FaultsOfWindowsNeedMoreTokensThanTheShortestWindow) {
  const model::Transformer model = small_model("rope", "window:6/window:9");
  const auto window_rows = [&](int64_t n_tokens) {
    std::vector<FaultRow> rows = run_cache_faults(model, n_tokens);
    EXPECT_EQ(rows.size(), cache_faults().size());
    std::erase_if(rows, [](const FaultRow& row) { return !row.name.starts_with("cache-window"); });
    return rows;
  };
  for (const FaultRow& row : window_rows(6)) {
    EXPECT_EQ(row.needs_tokens, 6) << row.name;
    EXPECT_TRUE(row.caught_by.empty()) << row.name;
    EXPECT_FALSE(row.missed()) << row.name;
  }
  for (const FaultRow& row : window_rows(7)) {
    EXPECT_EQ(row.needs_tokens, 0) << row.name;
    EXPECT_FALSE(row.caught_by.empty()) << row.name;
  }
  try {
    faulty_cache_use("cache-window-short", model, 6);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "verify: 6 tokens cannot show the fault cache-window-short: the shortest window "
                 "is 6; give --tokens 7 or more");
  }
}

TEST(CheckModel, NoticesATokenThatHasNoEffect) {
  // Under a window of 1 no token sees another.
  EXPECT_FALSE(passes(check_model(small_model("nope", "window:1"), 32), "model-notices"));
}

}  // namespace
}  // namespace gyre::verify
