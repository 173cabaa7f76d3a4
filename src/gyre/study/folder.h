// The output folder of a comparison: one comparison in a folder at a time, and never two different
// ones in the same folder.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace gyre::study {

/// What every cell of a comparison shares: flag -> value. Arms and seeds are left out, so that a
/// comparison can be extended by both.
using SharedSettings = std::map<std::string, std::string>;

class StudyFolder {
 public:
  /// Makes the folder, locks it and records or checks the settings (study.json). `force` removes
  /// what an earlier comparison left (its own files only).
  ///
  /// throws  Error(Usage) naming the first setting that differs; when the folder holds other files;
  ///         when another comparison is at work in it
  StudyFolder(std::filesystem::path dir, const SharedSettings& settings, bool force);
  ~StudyFolder();
  StudyFolder(const StudyFolder&) = delete;
  StudyFolder& operator=(const StudyFolder&) = delete;

  const std::filesystem::path& dir() const { return dir_; }

 private:
  std::filesystem::path dir_;
  int lock_ = -1;  // inherited by the cells, so that it is held until the last of them has ended
};

}  // namespace gyre::study
