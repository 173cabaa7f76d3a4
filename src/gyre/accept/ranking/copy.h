// The copy probe: a random string, filler, the same string again. What the second copy costs less
// than the first says whether a model can look back that far; it needs no skill at language.
#pragma once

#include <optional>

#include "gyre/accept/acceptance.h"
#include "gyre/accept/tasks/task.h"

namespace gyre::accept {

struct CopyItem {
  Item item;
  int64_t first_begin = 0, first_end = 0;    // bytes of the first copy in the prompt
  int64_t second_begin = 0, second_end = 0;  // and of the second, which ends it
};

/// distance_bytes: of filler between the copies.
CopyItem make_copy(int64_t index, int64_t distance_bytes, const Frame& frame);

/// Nats a token that the second copy costs less than the first; nothing when the reply echoes no
/// log-probabilities or tokens cannot be counted.
std::optional<double> copy_gain(Subject& subject, const CopyItem& copy, const Reply& reply);

}  // namespace gyre::accept
