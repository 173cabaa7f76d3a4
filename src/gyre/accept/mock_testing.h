// For tests: mock servers (testing/mock_server), all of them in one Python process that the first
// test of a program starts and its end kills.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gyre/accept/http_client.h"

namespace gyre::accept {

/// The Python process; its own server only opens and closes others.
class MockProcess {
 public:
  static MockProcess& instance() {
    static MockProcess process;
    return process;
  }
  ~MockProcess() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  MockProcess(const MockProcess&) = delete;
  MockProcess& operator=(const MockProcess&) = delete;

  int port() const { return port_; }
  nlohmann::json send(const std::string& method, int port, const std::string& path,
                      const std::string& body) {
    std::string answer;
    const Call call{method, "http://127.0.0.1:" + std::to_string(port) + path, body, {}, 64 << 20};
    client_.perform(call, [&](std::string_view bytes, int, double) {
      answer.append(bytes);
      return Take::More;
    });
    return nlohmann::json::parse(answer, nullptr, false);
  }

 private:
  MockProcess() : client_(HttpOptions{}) {
    int ends[2];
    if (pipe(ends) != 0) {
      std::abort();
    }
    const std::string program = GYRE_SOURCE_DIR "/testing/mock_server";
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      dup2(ends[1], STDOUT_FILENO);
      close(ends[0]);
      execlp("python3", "python3", "-B", program.c_str(), nullptr);
      _exit(127);
    }
    close(ends[1]);
    FILE* out = fdopen(ends[0], "r");
    if (std::fscanf(out, "listening 127.0.0.1:%d", &port_) != 1) {
      std::fprintf(stderr, "the mock server does not start\n");
      std::abort();
    }
  }
  HttpClient client_;
  pid_t pid_ = 0;
  int port_ = 0;
};

/// One server with options like {"--dialect", "vllm", "--fault", "busy"}; ends with its scope.
class MockServer {
 public:
  explicit MockServer(const std::vector<std::string>& options) {
    MockProcess& process = MockProcess::instance();
    const auto answer = process.send("POST", process.port(), "/mock/start",
                                     nlohmann::json{{"server", options}}.dump());
    port_ = answer.value("port", 0);
    EXPECT_GT(port_, 0) << answer.dump();
  }
  ~MockServer() {
    MockProcess& process = MockProcess::instance();
    process.send("POST", process.port(), "/mock/stop", nlohmann::json{{"port", port_}}.dump());
  }
  MockServer(const MockServer&) = delete;
  MockServer& operator=(const MockServer&) = delete;

  int port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/v1"; }
  /// {"requests", "in_flight", "most_in_flight", "counts", "log": [...]}, once every request is in
  /// the log: its entry is written after the answer has gone out.
  nlohmann::json log() const {
    nlohmann::json log;
    for (int i = 0; i < 500; ++i) {
      log = MockProcess::instance().send("GET", port_, "/mock/log", "");
      if (log["requests"] == log["log"].size()) {
        break;
      }
      usleep(10'000);
    }
    return log;
  }

 private:
  int port_ = 0;
};

}  // namespace gyre::accept
