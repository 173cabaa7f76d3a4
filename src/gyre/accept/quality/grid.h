// The grid of one level: baselines first, then length by length every cell, then the controls.
#pragma once

#include <functional>
#include <vector>

#include "gyre/accept/quality/cells.h"

namespace gyre::accept {

/// Asks every cell; all of them go to the result, those that are not asked with the reason.
/// `controls` is called after each length that was asked, with its cells.
void run_grid(Examiner& examiner, const std::vector<Spec>& specs,
              const std::function<void(int64_t length, std::vector<CellRun>& runs)>& controls);

/// Items per bucket of a control: about a fifth of a run goes to controls.
int64_t control_items(const AcceptOptions& options);

}  // namespace gyre::accept
