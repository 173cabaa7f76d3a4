// Durations as people read them, the bar that is silent without a terminal, interrupts, log levels,
// exit codes.
#include "gyre/base/progress.h"

#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <limits>
#include <vector>

#include "gyre/base/error.h"
#include "gyre/base/log.h"

namespace gyre {
namespace {

TEST(Progress, DurationsReadWell) {
  const std::pair<double, const char*> cases[] = {
      {0, "0.0s"},      {0.44, "0.4s"},     {9.94, "9.9s"}, {9.96, "10s"},
      {59.4, "59s"},    {59.6, "1m 00s"},   {65, "1m 05s"}, {3599.7, "1h 00m"},
      {7380, "2h 03m"}, {90000, "25h 00m"}, {-1, "0.0s"}};
  for (const auto& [seconds, expected] : cases) {
    EXPECT_EQ(format_duration(seconds), expected) << seconds;
  }
  EXPECT_EQ(format_duration(std::numeric_limits<double>::infinity()), "?");
  EXPECT_EQ(format_duration(std::nan("")), "?");
}

TEST(Progress, SilentWithoutATerminal) {
  testing::internal::CaptureStderr();
  {
    Progress bar("training", 10, "tokens");
    bar.update(5, "loss 2.3");
    bar.update(10);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_FALSE(progress_line_open());
}

TEST(Progress, FirstSignalSetsTheFlagAndRunsOn) {
  catch_interrupts();
  set_interrupted(false);
  std::raise(SIGINT);
  EXPECT_TRUE(interrupted());
  set_interrupted(false);
  std::raise(SIGTERM);
  EXPECT_TRUE(interrupted());
  set_interrupted(false);
}

TEST(ProgressDeathTest, SecondSignalEndsTheProcess) {
  EXPECT_EXIT(
      {
        catch_interrupts();
        std::raise(SIGINT);
        std::raise(SIGINT);
      },
      testing::KilledBySignal(SIGINT), "");
}

TEST(Log, LinesBelowTheLevelAreDropped) {
  std::vector<std::string> lines;
  LogSink old = set_log_sink([&](Level, std::string_view line) { lines.emplace_back(line); });
  log(Level::Debug, "hidden");
  log(Level::Info, "loaded ", 3, " tensors");
  set_log_level(Level::Warning);
  log(Level::Info, "hidden");
  log(Level::Warning, "w");
  set_log_level(Level::Info);
  set_log_sink(std::move(old));
  EXPECT_EQ(lines, (std::vector<std::string>{"loaded 3 tensors", "w"}));
}

TEST(Log, DefaultSinkWritesToStderrAndMarksWarnings) {
  testing::internal::CaptureStderr();
  log(Level::Info, "a");
  log(Level::Warning, "b");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "a\nwarning: b\n");
}

// The contract of docs: 0 done, 1 check failed, 2 usage, 3 bad input, 4 remote, 70 bug.
TEST(Error, EachCodeHasItsExitCode) {
  const std::pair<Code, int> cases[] = {{Code::CheckFailed, 1}, {Code::Usage, 2},
                                        {Code::File, 3},        {Code::Format, 3},
                                        {Code::Remote, 4},      {Code::Internal, 70}};
  for (const auto& [code, expected] : cases) {
    EXPECT_EQ(exit_code(code), expected);
  }
  EXPECT_STREQ(Error(Code::Usage, "got ", 3, " of ", 0.5).what(), "got 3 of 0.5");
}

}  // namespace
}  // namespace gyre
