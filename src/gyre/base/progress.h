// A one-line progress bar on stderr when that is a terminal; silent otherwise. Also Ctrl-C.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace gyre {

/// Redraws at most ten times a second; the destructor ends the line.
class Progress {
 public:
  Progress(std::string label, int64_t total, std::string unit);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// done: units finished so far; note: free text shown after rate and time left.
  void update(int64_t done, std::string_view note = "");

 private:
  std::string label_;
  int64_t total_;
  std::string unit_;
  bool terminal_;
  bool drawn_ = false;
  int64_t first_ = -1;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_{};
};

/// Whether a bar stands on the terminal's current line; a message must clear the line first.
bool progress_line_open();

/// "1m 05s", "2h 03m", "0.4s".
std::string format_duration(double seconds);

/// Installs a SIGINT/SIGTERM handler that only sets a flag; a second signal ends the process.
void catch_interrupts();
bool interrupted();
void set_interrupted(bool value);  // for tests

}  // namespace gyre
