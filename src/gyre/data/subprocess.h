// Runs a package manager or unpacker, without a shell, and keeps what it says.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace gyre::data {

struct CommandResult {
  int status = 0;      // exit code, or 128 + signal
  std::string output;  // standard output; on failure callers look at `faults`
  std::string faults;  // standard error
};

/// Runs args[0] (searched in PATH) in `folder`, standard input closed.
/// throws Error(Remote) when the program is not installed.
CommandResult run_command(const std::vector<std::string>& args,
                          const std::filesystem::path& folder);

/// The line of a failed command that says most: the last with "error" or "E:", else the last.
std::string last_words(const CommandResult& result);

}  // namespace gyre::data
