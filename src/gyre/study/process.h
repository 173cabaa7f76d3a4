// One child process: started without a shell, its output in a file, its peak memory known when it
// ends. In its own process group, so that Ctrl-C on the terminal reaches only the parent, which
// passes it on once.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace gyre::study {

struct Ended {
  int status = 0;  // exit status; 128 + signal when a signal ended it
  int signal = 0;
  double seconds = 0.0;
  double peak_rss_mib = 0.0;
};

class Process {
 public:
  /// Starts `program args...` with stdout and stderr appended to `output`. Error(File) when the
  /// program cannot be started.
  Process(const std::filesystem::path& program, const std::vector<std::string>& args,
          const std::filesystem::path& output);
  /// Kills the child when it still runs.
  ~Process();
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;  // swaps
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// True once the child has ended; fills `ended`. Never waits.
  bool poll(Ended& ended);
  void interrupt() const;  // SIGINT

 private:
  pid_t pid_ = -1;  // -1 once it has ended
  std::chrono::steady_clock::time_point start_;
};

/// Why a child failed, in one line: its last "gyre: ..." line without the "gyre: ", else its last
/// line; for a signal, the signal's name and what usually sends it.
std::string failure_line(const Ended& ended, const std::filesystem::path& output);

}  // namespace gyre::study
