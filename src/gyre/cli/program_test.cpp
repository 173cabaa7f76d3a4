// End to end: what the program does with its standard streams and with faults that no verb names.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace gyre::cli {
namespace {

struct Outcome {
  int status = -1;
  std::string errors;  // stderr
};

/// `output`: where the shell sends stdout, after stderr went to the pipe.
Outcome call(const std::string& arguments, const std::string& output) {
  Outcome out;
  FILE* pipe = ::popen((GYRE_PROGRAM " " + arguments + " 2>&1 " + output).c_str(), "r");
  char buffer[4096];
  while (const size_t n = std::fread(buffer, 1, sizeof(buffer), pipe)) {
    out.errors.append(buffer, n);
  }
  out.status = WEXITSTATUS(::pclose(pipe));
  return out;
}

TEST(E2eProgram, AResultThatCannotBeWrittenIsALineAndCodeThree) {
  for (const char* arguments : {"schemes", "--help", "verify --list", "schemes --json -"}) {
    const Outcome out = call(arguments, ">/dev/full");
    EXPECT_EQ(out.status, 3) << arguments;
    EXPECT_EQ(out.errors,
              "gyre: cannot write the result to standard output: No space left on device\n")
        << arguments;
  }
}

TEST(E2eProgram, AClosedOutputIsNoticed) {
  for (const char* arguments : {"inspect --rules", "verify --list"}) {
    const Outcome out = call(arguments, ">&-");
    EXPECT_EQ(out.status, 3) << arguments;
    EXPECT_EQ(out.errors, "gyre: cannot write the result to standard output: Bad file descriptor\n")
        << arguments;
  }
}

TEST(E2eProgram, AFaultBeforeIsNotFollowedByAnother) {
  const Outcome out = call("schemes --scheme nosuch", ">/dev/full");
  EXPECT_EQ(out.status, 2);
  EXPECT_EQ(std::count(out.errors.begin(), out.errors.end(), '\n'), 1) << out.errors;
}

TEST(E2eProgram, MessagesAreOneLineOfBoundedLength) {
  const Outcome out = call("\"$(printf 'x%.0s' $(seq 5000))\"", ">/dev/null");
  EXPECT_EQ(out.status, 2);
  EXPECT_LT(out.errors.size(), 2100U);
  EXPECT_TRUE(out.errors.ends_with("...\n")) << out.errors;
}

}  // namespace
}  // namespace gyre::cli
