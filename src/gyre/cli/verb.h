// A verb = one cmd_*.cpp file: a function that adds its flags to a subcommand and sets what to run.
// verbs.def lists them; main.cpp parses, runs and turns exceptions into one line and an exit code.
#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

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

/// Applies --threads and --device (throws Error(Usage) on an unknown device or one not there).
void apply_common(const CommonOptions& common);

/// Writes JSON text to common.json when it was asked for (atomically; "-" = stdout).
void write_json(const CommonOptions& common, const std::string& json_text);

/// This process's command line, with the program called by its name.
std::string command_text();

struct VerbInfo {
  const char* name;
  const char* summary;
  Action (*add)(CLI::App& app);
};

}  // namespace gyre::cli
