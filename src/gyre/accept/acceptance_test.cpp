// The order of a whole run: what is left out when nothing answers.
#include "gyre/accept/acceptance.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "gyre/accept/record.h"

namespace gyre::accept {
namespace {

/// A server that takes every request and never says anything.
class Mute : public Subject {
 public:
  std::string name() const override { return asked == 0 ? "mute" : "mute model"; }
  Facts discover() override { return {}; }
  bool concurrent() const override { return false; }
  bool can(Api) const override { return true; }
  std::optional<int64_t> count_tokens(const std::string&) override { return std::nullopt; }
  Reply ask(const Ask&) override {
    ++asked;
    Reply reply;
    reply.fault = Fault::FirstByte;
    reply.fault_text = "no byte for 120 s";
    return reply;
  }
  int64_t asked = 0;
};

TEST(Acceptance, AMuteServerIsAskedAFewTimesNotThousands) {
  Mute subject;
  Record record;
  Session session(subject, record, {});
  const Acceptance out = accept(session, record, {});
  EXPECT_LE(subject.asked, 4);           // each costs a time-out
  EXPECT_EQ(out.subject, "mute model");  // as it is known after the first answers about itself
  EXPECT_EQ(exit_status(out), 1);
  EXPECT_NE(out.says[2].find("not one request was answered"), std::string::npos) << out.says[2];
  EXPECT_EQ(out.levels[1].status, Status::NotRun);
  EXPECT_EQ(out.levels[2].status, Status::NotRun);
  EXPECT_FALSE(out.cells.empty());
  for (const Cell& cell : out.cells) {
    EXPECT_EQ(cell.why_not_run, "no request of level 1 was answered");
  }
  EXPECT_TRUE(out.curves.empty());
}

}  // namespace
}  // namespace gyre::accept
