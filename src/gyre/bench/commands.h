// Command lines of the servers, and the peak memory of one case in a process of its own.
#pragma once

#include <string>
#include <vector>

#include "gyre/bench/bench.h"

namespace gyre::bench {

using Command = std::vector<std::string>;

/// The peers of both benchmarks take the same flags as our own server. Empty for an empty program.
Command train_command(const Command& program, const TrainShape& shape, const Contest& contest);
Command attention_command(const Command& program, const AttentionShape& shape,
                          const Contest& contest);

/// Peak of a process that does this case and nothing else.
struct Peak {
  double mib = kUnknown;
  double start_mib = kUnknown;  // before it computed anything: the libraries
  std::string why;              // it could not be measured
  std::string name;             // "torch 2.13.0"
};
/// steps: timed ones, after the warm-up. An empty command gives an empty Peak.
Peak peak_of(const Command& command, const std::string& case_words, int64_t steps,
             const Limits& limits);

/// Row of two peaks; the ratio is our share of the peer's.
Row memory_row(std::string what, const std::string& peer_name, const Peak& ours, const Peak& peer);

}  // namespace gyre::bench
