#include "gyre/base/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>

namespace gyre {
namespace {

volatile std::sig_atomic_t g_interrupted = 0;
std::atomic<bool> g_line_open{false};

void on_signal(int number) {
  if (g_interrupted != 0) {
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
  g_interrupted = 1;
}

size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string short_rate(double value) {
  char text[32];
  if (value >= 1e6) {
    std::snprintf(text, sizeof(text), "%.1fM", value / 1e6);
  } else if (value >= 1e3) {
    std::snprintf(text, sizeof(text), "%.1fk", value / 1e3);
  } else {
    std::snprintf(text, sizeof(text), "%.1f", value);
  }
  return text;
}

}  // namespace

Progress::Progress(std::string label, int64_t total, std::string unit)
    : label_(std::move(label)),
      total_(std::max<int64_t>(total, 1)),
      unit_(std::move(unit)),
      terminal_(::isatty(STDERR_FILENO) == 1),
      start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  if (drawn_) {
    std::fputc('\n', stderr);
    g_line_open = false;
  }
}

void Progress::update(int64_t done, std::string_view note) {
  using std::chrono::duration;
  const auto now = std::chrono::steady_clock::now();
  if (first_ < 0) {
    first_ = done;
    start_ = now;
  }
  if (!terminal_ || (done < total_ && drawn_ && duration<double>(now - last_).count() < 0.1)) {
    return;
  }
  last_ = now;
  const double elapsed = duration<double>(now - start_).count();
  const double rate = elapsed > 0 ? static_cast<double>(done - first_) / elapsed : 0;
  const double left = rate > 0 ? static_cast<double>(total_ - done) / rate : 0;
  const double share = std::clamp(static_cast<double>(done) / static_cast<double>(total_), 0., 1.);
  constexpr int kWidth = 24;
  const int filled = static_cast<int>(share * kWidth);
  std::string line = label_ + " [" + std::string(filled, '#') + std::string(kWidth - filled, '.') +
                     "] " + std::to_string(static_cast<int>(share * 100)) + "% " +
                     short_rate(rate) + " " + unit_ + "/s";
  if (done < total_ && rate > 0) {
    line += ", " + format_duration(left) + " left";
  }
  if (!note.empty()) {
    line += "  " + std::string(note);
  }
  line.resize(std::min(line.size(), terminal_width() - 1));
  std::fprintf(stderr, "\r\033[K%s", line.c_str());
  std::fflush(stderr);
  drawn_ = true;
  g_line_open = true;
}

bool progress_line_open() {
  return g_line_open;
}

std::string format_duration(double seconds) {
  if (!(seconds < 1e9)) {  // also NaN: a rate of nothing says nothing about the time left
    return "?";
  }
  char text[32];
  seconds = std::max(seconds, 0.0);
  const auto whole = static_cast<long>(std::lround(seconds));
  if (seconds < 9.95) {
    std::snprintf(text, sizeof(text), "%.1fs", seconds);
  } else if (whole < 60) {
    std::snprintf(text, sizeof(text), "%lds", whole);
  } else if (whole < 3600) {
    std::snprintf(text, sizeof(text), "%ldm %02lds", whole / 60, whole % 60);
  } else {
    std::snprintf(text, sizeof(text), "%ldh %02ldm", whole / 3600, whole / 60 % 60);
  }
  return text;
}

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() {
  return g_interrupted != 0;
}

void set_interrupted(bool value) {
  g_interrupted = value ? 1 : 0;
}

}  // namespace gyre
