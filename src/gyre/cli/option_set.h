// Binds options structs to command-line flags, a --config file and --print-config, and remembers
// where each value came from.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gyre/base/options.h"

namespace CLI {
class App;
}

namespace gyre::cli {

/// Groups of fields under one verb. Order of precedence: flag, --config file, preset, default.
class OptionSet {
 public:
  /// Adds a flag `--name` per field, shown under `group` in the help with its default.
  void add(CLI::App& app, const std::string& group, Fields fields);
  /// Writes every value given as a flag over what a preset or file set; call before using options.
  void apply_flags();
  /// Reads {"group": {"flag": value}} or a run's config.json; unknown names are errors.
  void apply_file(const std::string& path);
  /// Sets one value in code (a preset), unless a flag or file gave it.
  void set(const std::string& name, const std::string& value, const std::string& origin);
  bool given(const std::string& name) const;  // by flag or file
  /// The whole configuration as JSON: group -> flag -> {value, origin}.
  std::string to_json() const;
  /// One line per value with its origin, for --print-config.
  std::string describe() const;

 private:
  struct Entry {
    std::string group;
    Field field;
    std::string flag_text;
    std::string origin = "default";
    bool from_flag = false;
  };
  std::vector<std::unique_ptr<Entry>> entries_;
  Entry* find(const std::string& name);
};

}  // namespace gyre::cli
