// Which gyre made a result.
#pragma once

#include <string>

namespace gyre::train {

/// The git revision given to the build as GYRE_REVISION, else "unknown".
std::string build_revision();

}  // namespace gyre::train
