#include "gyre/study/folder.h"

namespace gyre::study {

StudyFolder::StudyFolder(std::filesystem::path dir, const SharedSettings& settings, bool force)
    : WorkFolder(std::move(dir),
                 {.record = "study.json",
                  .schema = "gyre.study/1",
                  .noun = "a comparison",
                  .users = "gyre compare or one of its cells",
                  .own = {"cells", "figures", "compare.json", "report.html"}},
                 settings, force) {}

}  // namespace gyre::study
