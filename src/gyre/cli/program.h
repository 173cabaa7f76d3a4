// What both programs share: parse, run one verb, turn every fault into one line and an exit code.
//   gyre        starts in milliseconds: the verbs that only read files; hands all others on to
//   gyre-torch  the same verbs and those that compute, linked with libtorch (110 MiB, 0.25 s to
//   load)
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gyre/cli/verb.h"

namespace gyre::cli {

/// Prints a fault of a library that this file does not know and returns its exit code; 0 = unknown.
using FaultHandler = std::function<int(const std::exception& fault, bool verbose)>;

/// Says that a shape does not fit in memory; returns the exit code of a fault of usage. `details`:
/// a library's own words, "" = none.
int out_of_memory(const std::string& details);

/// A verb without `add` is listed in the help only. Exit code 3 when what a verb printed could not
/// be written.
int run_program(int argc, char** argv, const std::vector<VerbInfo>& verbs,
                const FaultHandler& other_fault = {});

}  // namespace gyre::cli
