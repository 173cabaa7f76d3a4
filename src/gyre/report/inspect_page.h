// The page of `gyre inspect --report`: the spectrum of every layer kind, what each value came from,
// findings. One file, no CSV beside it: the numbers are in its tables.
#pragma once

#include <string>
#include <vector>

#include "gyre/inspect/finding.h"
#include "gyre/inspect/resolved.h"

namespace gyre::report {

std::string inspect_page(const inspect::ResolvedModel& model,
                         const std::vector<inspect::Finding>& findings,
                         const std::string& plotly_js);

}  // namespace gyre::report
