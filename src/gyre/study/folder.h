// The output folder of a comparison: one comparison in a folder at a time, and never two different
// ones in the same folder.
#pragma once

#include <filesystem>

#include "gyre/base/work_folder.h"

namespace gyre::study {

/// What every cell of a comparison shares: flag -> value. Arms and seeds are left out, so that a
/// comparison can be extended by both.
using SharedSettings = WorkSettings;

/// Its record is study.json.
class StudyFolder : public WorkFolder {
 public:
  StudyFolder(std::filesystem::path dir, const SharedSettings& settings, bool force);
};

}  // namespace gyre::study
