// The protocol, against a script that speaks it and one fault at a time.
#include "gyre/bench/peer.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <sstream>

#include "gyre/base/error.h"
#include "gyre/base/progress.h"
#include "gyre/bench/fixtures.h"

namespace gyre::bench {
namespace {

TEST(ReadReply, TakesTheNumberAfterTheWord) {
  EXPECT_DOUBLE_EQ(read_reply("ms 12.5", "ms"), 12.5);
  EXPECT_DOUBLE_EQ(read_reply("mib 3", "mib"), 3.0);
}

TEST(ReadReply, NamesWhatWasSaidInstead) {
  EXPECT_EQ(message_of([] { read_reply("error no memory", "ms"); }), "the peer failed: no memory");
  for (const char* line : {"mib 3", "ms", "ms ", "ms 3x", "", "ms three"}) {
    EXPECT_EQ(message_of([&] { read_reply(line, "ms"); }),
              str("the peer said '", line, "', expected 'ms NUMBER'"));
  }
}

TEST(Server, StepsAndTellsItsPeak) {
  const FakePeer fake;
  Server server(fake.command(), {});
  EXPECT_EQ(server.name(), "fake 1.0");
  EXPECT_DOUBLE_EQ(server.start_mib(), 100.5);
  EXPECT_DOUBLE_EQ(server.step_ms("bf16 fixed"), 61.5);
  EXPECT_DOUBLE_EQ(server.step_ms("bf16 fixed"), 62.5);
  EXPECT_DOUBLE_EQ(server.peak_mib(), 400.25);
}

TEST(Server, GoesOnAfterAFailedStep) {
  const FakePeer fake;
  Server server(fake.command(), {});
  EXPECT_EQ(message_of([&] { server.step_ms("bf16-compile fixed"); }),
            "the peer failed: no compiler");
  EXPECT_DOUBLE_EQ(server.step_ms("bf16 fixed"), 62.5);
}

TEST(Server, SaysHowTheProcessEnded) {
  const FakePeer fake;
  Server server(fake.command(), {});
  EXPECT_EQ(message_of([&] { server.step_ms("dies"); }),
            "/usr/bin/env ended with exit status 7: out of luck");
  EXPECT_EQ(message_of([&] { Server(fake.command("--dies-at-once"), {}); }),
            "/usr/bin/env ended with exit status 3: no torch here");
}

TEST(Server, SaysWhatWasNotTheProtocol) {
  const FakePeer fake;
  EXPECT_EQ(message_of([&] { Server(fake.command("--unready"), {}); }),
            "the peer said 'hello', expected 'ready {\"peer\": ..., \"start_mib\": ...}'");
  Server server(fake.command(), {});
  EXPECT_EQ(message_of([&] { server.step_ms("babbles"); }),
            "the peer said 'well', expected 'ms NUMBER'");
}

TEST(Server, WaitsNoLongerThanTheLimit) {
  const FakePeer fake;
  Limits limits;
  limits.start_limit_s = 1;
  EXPECT_EQ(message_of([&] { Server(fake.command("--mute"), limits); }),
            "/usr/bin/env did not answer within 1 s");
}

TEST(Server, StopsOnCtrlC) {
  const FakePeer fake;
  Server server(fake.command(), {});
  set_interrupted(true);
  EXPECT_EQ(message_of([&] { server.step_ms("hangs"); }), "interrupted; nothing was written");
  set_interrupted(false);
}

TEST(LineProcess, NamesAProgramThatIsNotThere) {
  EXPECT_EQ(message_of([] { LineProcess process({"/no/such/program"}); }),
            "cannot start /no/such/program: No such file or directory");
}

// The child prints its id; after the destructor no such process is left.
TEST(LineProcess, EndsTheChildWithItself) {
  pid_t pid = 0;
  {
    LineProcess process({"/bin/sh", "-c", "echo $$; sleep 600"});
    pid = std::stoi(process.receive(20.0));
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_EQ(::kill(pid, 0), -1);
}

TEST(Serve, AnswersThePeersProtocol) {
  std::istringstream in("step bf16 learned\npeak\nfoo bar\nstep bad\nquit\nstep never\n");
  std::ostringstream out;
  serve(in, out, [](const std::vector<std::string>& words) {
    if (words.size() != 2) {
      throw Error(Code::Usage, "two words");
    }
    return words[1] == "learned" ? 2.5 : 1.0;
  });
  std::istringstream lines(out.str());
  std::string line;
  std::getline(lines, line);
  EXPECT_TRUE(line.starts_with("ready {\"peer\":\"gyre\"")) << line;
  std::getline(lines, line);
  EXPECT_EQ(line, "ms 2.5");
  std::getline(lines, line);
  EXPECT_GT(read_reply(line, "mib"), 1.0);
  std::getline(lines, line);
  EXPECT_EQ(line, "error no command 'foo bar'");
  std::getline(lines, line);
  EXPECT_EQ(line, "error two words");
  EXPECT_FALSE(std::getline(lines, line));
}

TEST(FindPeer, SaysWhereItLooked) {
  const FakePeer fake;  // a folder without scripts
  const auto dir = fake.folder() / "build" / "release";
  const std::string root = fake.folder().string();
  EXPECT_EQ(message_of([&] { find_peer("", dir); }),
            "no peer scripts: looked for torch_peer.py in " + root +
                "/build/share/gyre/bench and " + root +
                "/bench; install gyre anew or give --no-peer");
  std::filesystem::create_directories(fake.folder() / "bench");
  std::ofstream(fake.folder() / "bench" / "torch_peer.py") << "";
  EXPECT_EQ(
      message_of([&] { find_peer("/bin/false", dir); }),
      "--python /bin/false has no torch; install it there, give another Python, or --no-peer");
}

TEST(FindPeer, LooksInThreePlaces) {
  const FakePeer fake;
  std::filesystem::create_directories(fake.folder() / "bench");
  std::ofstream(fake.folder() / "bench" / "torch_peer.py") << "";
  const std::string path = std::getenv("PATH"), python = "GYRE_PYTHON";
  const char* old = std::getenv(python.c_str());
  const std::string before = old == nullptr ? "" : old;
  ::setenv("PATH", fake.folder().c_str(), 1);
  ::setenv(python.c_str(), "/bin/false", 1);
  const std::string message = message_of([&] { find_peer("", fake.folder() / "build/release"); });
  ::setenv("PATH", path.c_str(), 1);
  before.empty() ? ::unsetenv(python.c_str()) : ::setenv(python.c_str(), before.c_str(), 1);
  EXPECT_EQ(message, "no Python with torch for the peer: looked at GYRE_PYTHON, " +
                         (fake.folder() / ".venv/bin/python").string() +
                         " and python3; give one with --python, or leave the peer out with "
                         "--no-peer");
}

}  // namespace
}  // namespace gyre::bench
