// A verb = one cmd_*.cpp file: a function that adds its flags to a subcommand and sets what to run.
// verbs.def lists them; main.cpp parses, runs and turns exceptions into one line and an exit code.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace gyre::cli {

/// What a verb hands back to main: called after parsing; returns the exit code.
using Action = std::function<int()>;

/// Flags every verb has.
struct CommonOptions {
  std::string json;           // --json PATH, "-" = stdout
  std::string config;         // --config FILE
  bool print_config = false;  // --print-config
  std::string device = "cpu";
  long threads = 0;  // 0 = all cores
};

/// Adds --json --config --print-config --device --threads. The struct must outlive the action.
void add_common(CLI::App& app, CommonOptions& common);

/// Applies --threads and --device (throws Error(Usage) on an unknown device or one not there);
/// checks that --json can be written.
void apply_common(const CommonOptions& common);

/// Writes JSON text to common.json when it was asked for (atomically; "-" = stdout).
void write_json(const CommonOptions& common, const std::string& json_text);

/// Error(Usage) before anything runs when `file` (of `flag`; "" and "-" are none) cannot be
/// written: no folder, a folder itself, no right to write.
void check_output(const std::string& flag, const std::string& file);

/// A flag with a count: 300, 64k, 1e3. Parsing throws CLI::ValidationError on anything else.
CLI::Option* add_count(CLI::App& app, const std::string& flag, int64_t& value,
                       const std::string& help);

/// This process's command line, with the program called by its name.
std::string command_text();

struct VerbInfo {
  const char* name;
  const char* summary;
  Action (*add)(CLI::App& app);
};

}  // namespace gyre::cli
