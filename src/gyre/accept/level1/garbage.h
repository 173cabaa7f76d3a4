// A prompt of which nothing sensible comes back: is it the length's residue, the position of what
// is asked for, or is the text not looked at?
#pragma once

#include <string>

#include "gyre/accept/level1/steps.h"

namespace gyre::accept {

/// Sets the probe's loss to Garbage, Cliff, Guess, Weak or None, and its edge for a cliff. A prompt
/// whose tokens 128 divides goes into the ladder when it comes back whole.
void explain_garbage(Prober& prober, Ladder& ladder, Probe& probe, const Seen& seen);

/// Words that no answer has: no letters, odd bytes, one word over and over.
bool is_strange(const Seen& seen);

/// One checkpoint (1 ...) of another text of this size, asked for alone; goes to its evidence.
Seen ask_alone(Prober& prober, Probe& probe, int64_t checkpoint);

}  // namespace gyre::accept
