#include "gyre/accept/findings.h"

#include <gtest/gtest.h>

#include <set>

#include "gyre/accept/acceptance.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

TEST(Findings, HasEveryIdOfTheProtocolOnce) {
  std::set<std::string> ids;
  for (const FindingKind& kind : finding_kinds()) {
    EXPECT_TRUE(ids.insert(kind.id).second) << kind.id;
    EXPECT_FALSE(std::string(kind.title).empty()) << kind.id;
  }
  for (const char* id :
       {"TRUNC_HEAD",         "TRUNC_MIDDLE",         "TRUNC_TAIL",         "WINDOW_HALVED",
        "WINDOW_BELOW_CLAIM", "SLOT_SPLIT",           "SHARED_KV",          "LENGTH_BAND",
        "SWA_SUSPECT",        "POSITION_CLIFF",       "CONTEXT_SHIFT",      "CACHE_DIVERGENCE",
        "NONDETERMINISTIC",   "USAGE_MISSING",        "USAGE_ZERO",         "USAGE_POST_TRUNC",
        "USAGE_INCONSISTENT", "OVERFLOW_200",         "OVERFLOW_5XX",       "ERROR_IN_200_STREAM",
        "STREAM_NO_END",      "EMPTY_WITH_REASONING", "THINK_IN_CONTENT",   "BUDGET_CUT",
        "ECHO_IGNORED",       "TEMPLATE_DOUBLE_BOS",  "RATE_UNSATISFIABLE", "SLOW_FIRST_BYTE",
        "BYTE_UNSAFE",        "TEMPLATE_LOSS",        "SERVER_CLOSED"}) {
    EXPECT_EQ(ids.count(id), 1u) << id;
  }
  EXPECT_EQ(ids.size(), 31u);
}

TEST(Findings, UnknownKindIsABug) {
  try {
    finding_kind("TRUNC_ALL");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "finding 'TRUNC_ALL' is not in findings.def");
  }
}

}  // namespace
}  // namespace gyre::accept
