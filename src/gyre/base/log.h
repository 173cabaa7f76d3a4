// One-line messages to a sink; the command line sends them to stderr, tests may capture them.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "gyre/base/error.h"

namespace gyre {

enum class Level { Debug, Info, Warning };

using LogSink = std::function<void(Level, std::string_view line)>;

/// Replaces the sink; an empty one restores the default (stderr). Returns the old one.
LogSink set_log_sink(LogSink sink);

/// Messages below this level are dropped; Info at start.
void set_log_level(Level level);

void log_line(Level level, const std::string& line);

template <class... T>
void log(Level level, const T&... parts) {
  log_line(level, str(parts...));
}

}  // namespace gyre
