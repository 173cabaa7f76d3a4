#include "gyre/study/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <sstream>
#include <utility>

#include "gyre/base/error.h"
#include "gyre/base/files.h"

namespace gyre::study {
namespace {

// posix_spawn's settings, freed on every path.
struct SpawnSettings {
  posix_spawnattr_t attributes{};
  posix_spawn_file_actions_t files{};
  explicit SpawnSettings(const std::filesystem::path& output) {
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0644);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
};

std::string command_line(const std::filesystem::path& program,
                         const std::vector<std::string>& args) {
  std::string line = program.string();
  for (const std::string& arg : args) {
    line += " " + arg;
  }
  return line;
}

}  // namespace

Process::Process(const std::filesystem::path& program, const std::vector<std::string>& args,
                 const std::filesystem::path& output)
    : start_(std::chrono::steady_clock::now()) {
  LineWriter(output).write("$ " + command_line(program, args));  // the log shows how to repeat it
  const SpawnSettings settings(output);
  std::string name = program.string();
  std::vector<std::string> copies = args;
  std::vector<char*> argv = {name.data()};
  for (std::string& arg : copies) {
    argv.push_back(arg.data());
  }
  argv.push_back(nullptr);
  const int fault = ::posix_spawn(&pid_, name.c_str(), &settings.files, &settings.attributes,
                                  argv.data(), environ);
  if (fault != 0) {
    pid_ = -1;
    throw Error(Code::File, "cannot start ", name, ": ", std::strerror(fault));
  }
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), start_(other.start_) {}

Process& Process::operator=(Process&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(start_, other.start_);
  return *this;
}

Process::~Process() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

bool Process::poll(Ended& ended) {
  int status = 0;
  rusage usage{};
  const pid_t found = pid_ > 0 ? ::wait4(pid_, &status, WNOHANG, &usage) : -1;
  if (found == 0 || (found < 0 && errno == EINTR)) {
    return false;
  }
  pid_ = -1;
  using std::chrono::duration;
  ended.seconds = duration<double>(std::chrono::steady_clock::now() - start_).count();
  ended.peak_rss_mib = static_cast<double>(usage.ru_maxrss) / 1024.0;  // Linux counts KiB
  ended.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  ended.status = ended.signal > 0 ? 128 + ended.signal : WEXITSTATUS(status);
  return true;
}

void Process::interrupt() const {
  if (pid_ > 0) {
    ::kill(pid_, SIGINT);
  }
}

std::string failure_line(const Ended& ended, const std::filesystem::path& output) {
  if (ended.signal > 0) {
    return str("ended by signal ", ended.signal, " (", ::strsignal(ended.signal), ")",
               ended.signal == SIGKILL ? "; the system kills when memory runs out" : "");
  }
  std::istringstream lines(read_file(output));
  std::string own, last;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("$ ")) {
      own.clear();  // output of an earlier start
      last.clear();
    } else if (line.starts_with("gyre: ")) {
      own = line.substr(6);
    } else if (!line.empty()) {
      last = line;
    }
  }
  const std::string& text = own.empty() ? last : own;
  return text.empty() ? str("ended with exit status ", ended.status) : text;
}

}  // namespace gyre::study
