#include "gyre/base/log.h"

#include <iostream>
#include <mutex>
#include <utility>

#include "gyre/base/progress.h"

namespace gyre {
namespace {

std::mutex g_mutex;
LogSink g_sink;
Level g_level = Level::Info;

}  // namespace

LogSink set_log_sink(LogSink sink) {
  const std::lock_guard lock(g_mutex);
  std::swap(g_sink, sink);
  return sink;
}

void set_log_level(Level level) {
  const std::lock_guard lock(g_mutex);
  g_level = level;
}

void log_line(Level level, const std::string& line) {
  const std::lock_guard lock(g_mutex);
  if (level < g_level) {
    return;
  }
  if (g_sink) {
    g_sink(level, line);
  } else {
    std::cerr << (progress_line_open() ? "\r\033[K" : "")
              << (level == Level::Warning ? "warning: " : "") << line << '\n';
  }
}

}  // namespace gyre
