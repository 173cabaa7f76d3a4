// Beside the ranked cells: how often the right value comes first without its evidence, and what a
// copy gains over its first reading.
#pragma once

#include "gyre/accept/quality/examiner.h"

namespace gyre::accept {

/// No evidence: how often the withheld value comes first all the same. Chance is one in ten.
void run_guesses(Examiner& examiner, int64_t length);
/// Copies at a tenth, half and nearly all of the length; nothing where echo does not work.
void run_copies(Examiner& examiner, int64_t length);

}  // namespace gyre::accept
