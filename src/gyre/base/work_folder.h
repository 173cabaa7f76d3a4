// The output folder of a long job: one job in a folder at a time, never two different ones in the
// same folder, and no folder that holds something else.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace gyre {

/// What decides a job: flag -> value.
using WorkSettings = std::map<std::string, std::string>;

/// What kind of job uses the folder.
struct WorkKind {
  std::string record;                // file that keeps the settings, "study.json"
  std::string schema;                // "gyre.study/1"
  std::string noun;                  // "a comparison"
  std::string users;                 // who may hold the lock, "gyre compare or one of its cells"
  std::vector<std::string> own;      // files and folders that the job makes; removed when forced
  std::vector<std::string> parts{};  // those of them that mean nothing without the record
};

class WorkFolder {
 public:
  /// Makes the folder, locks it and records or checks the settings. `force` removes what an earlier
  /// job left (its own files only).
  ///
  /// throws  Error(Usage) naming the first setting that differs; when the folder holds other files,
  ///         or parts of a job whose record is gone; when another job is at work in it
  WorkFolder(std::filesystem::path dir, const WorkKind& kind, const WorkSettings& settings,
             bool force);
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  const std::filesystem::path& dir() const { return dir_; }

 private:
  void settle(const WorkKind& kind, const WorkSettings& settings, bool known, bool force) const;

  std::filesystem::path dir_;
  int lock_ = -1;  // inherited by child processes, so that it is held until the last has ended
};

}  // namespace gyre
