// Tells "there is not that much memory" from torch's other faults: it has no type of its own.
#pragma once

#include <exception>

namespace gyre {

/// std::bad_alloc, and torch's errors about memory that could not be had or sizes that no memory
/// has.
bool is_out_of_memory(const std::exception& fault);

}  // namespace gyre
