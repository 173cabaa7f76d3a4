#include "gyre/bench/line_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "gyre/base/progress.h"

extern char** environ;

namespace gyre::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct SpawnSettings {
  posix_spawnattr_t attributes{};
  posix_spawn_file_actions_t files{};
  SpawnSettings(int socket, int faults) {
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, socket, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, socket, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, faults, STDERR_FILENO);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
};

}  // namespace

LineProcess::LineProcess(const std::vector<std::string>& args) : name_(args.at(0)) {
  int ends[2] = {-1, -1};
  faults_ = ::memfd_create("gyre-peer-stderr", MFD_CLOEXEC);
  if (faults_ < 0 || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw Error(Code::File, "cannot make a channel to ", name_, ": ", std::strerror(errno));
  }
  socket_ = ends[0];
  std::vector<std::string> copies = args;
  std::vector<char*> argv;
  for (std::string& arg : copies) {
    argv.push_back(arg.data());
  }
  argv.push_back(nullptr);
  const SpawnSettings settings(ends[1], faults_);
  const int fault = ::posix_spawn(&pid_, name_.c_str(), &settings.files, &settings.attributes,
                                  argv.data(), environ);
  ::close(ends[1]);
  if (fault != 0) {
    ::close(socket_);
    ::close(faults_);
    throw Error(Code::File, "cannot start ", name_, ": ", std::strerror(fault));
  }
}

LineProcess::~LineProcess() {
  ::close(socket_);
  if (pid_ > 0) {
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(faults_);
}

void LineProcess::send(const std::string& line) {
  const std::string text = line + "\n";
  for (size_t sent = 0; sent < text.size();) {
    // MSG_NOSIGNAL: a child that has ended must not end this process too.
    const ssize_t n = ::send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno != EINTR) {
      fail_ended();
    }
    sent += n > 0 ? static_cast<size_t>(n) : 0;
  }
}

std::string LineProcess::receive(double limit_s) {
  constexpr int kSliceMs = 200;  // Ctrl-C is noticed at least this often
  const auto end = Clock::now() + std::chrono::duration<double>(limit_s);
  for (;;) {
    const size_t line = pending_.find('\n');
    if (line != std::string::npos) {
      const std::string out = pending_.substr(0, line);
      pending_.erase(0, line + 1);
      return out;
    }
    if (interrupted()) {
      throw Interrupted();
    }
    if (Clock::now() > end) {
      throw TimedOut(Code::Remote, name_, " did not answer within ", limit_s, " s");
    }
    pollfd wait{socket_, POLLIN, 0};
    if (::poll(&wait, 1, kSliceMs) <= 0) {
      continue;
    }
    char buffer[4096];
    const ssize_t n = ::recv(socket_, buffer, sizeof buffer, 0);
    if (n > 0) {
      pending_.append(buffer, static_cast<size_t>(n));
    } else if (n == 0 || errno != EINTR) {
      fail_ended();
    }
  }
}

std::string LineProcess::ask(const std::string& line, double limit_s) {
  send(line);
  return receive(limit_s);
}

std::string LineProcess::last_words() const {
  constexpr off_t kMost = 65536;
  const off_t size = ::lseek(faults_, 0, SEEK_END);
  const off_t begin = std::max<off_t>(0, size - kMost);
  std::string text(static_cast<size_t>(std::max<off_t>(0, size - begin)), '\0');
  const ssize_t n = ::pread(faults_, text.data(), text.size(), begin);
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  const size_t last = text.find_last_not_of(" \n");
  if (last == std::string::npos) {
    return "";
  }
  text.resize(last + 1);
  return text.substr(text.rfind('\n') + 1);  // npos + 1 = 0
}

void LineProcess::fail_ended() {
  // The channel closes a moment before the child can be waited for.
  int status = 0;
  for (int i = 0; i < 50 && ::waitpid(pid_, &status, WNOHANG) == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    status = -1;
  }
  if (status == -1) {  // it closed the channel and goes on
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, &status, 0);
  }
  ::kill(-pid_, SIGKILL);  // what it started
  pid_ = -1;
  const std::string words = last_words();
  const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  throw Error(Code::Remote, name_, " ended",
              WIFEXITED(status) ? str(" with exit status ", WEXITSTATUS(status)) : "",
              killed ? ", perhaps killed for want of memory" : "",
              words.empty() ? "" : ": " + words);
}

}  // namespace gyre::bench
