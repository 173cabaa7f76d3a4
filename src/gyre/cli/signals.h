// For verbs that keep nothing when they are stopped.
#pragma once

#include <csignal>

namespace gyre::cli {

/// Ctrl-C and SIGTERM end the process at once, as they do without catch_interrupts(): outputs are
/// written whole or not at all.
inline void end_when_told() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace gyre::cli
