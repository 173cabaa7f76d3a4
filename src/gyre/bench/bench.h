// The five benchmarks of `gyre bench`, each from options to a Record. docs/benchmarks.md says what
// they measure and how to read them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gyre/bench/options.h"
#include "gyre/bench/record.h"

namespace gyre::bench {

/// Who is measured against whom.
struct Contest {
  Limits limits;
  bool quick = false;  // for tests: sizes of peaks are small too
  int64_t threads = 1;
  std::string device = "cpu";
  // Programs with their leading arguments; empty = that side is left out.
  std::vector<std::string> train_peer, attention_peer;  // PyTorch
  std::vector<std::string> infer_peer;                  // transformers
  // This program as such a server, for peak memory in a process of its own.
  std::vector<std::string> own_training, own_attention, own_inference;
};

Record run_train(const TrainShape& shape, const TrainRun& run, const Contest& contest);
Record run_attention(const AttentionShape& shape, const Contest& contest);
Record run_memory(const TrainShape& training, const AttentionShape& attention,
                  const Contest& contest);
/// run_attention at many lengths, with the peak memory of every case.
Record run_length(const AttentionShape& shape, const Contest& contest);

/// Prefill and decoding of a checkpoint.
Record run_infer(const InferShape& shape, const Contest& contest);

/// Our side as a server (peer.h); used by run_* for peak memory.
void serve_training(const TrainShape& shape, const std::string& device);
void serve_attention(const AttentionShape& shape, const std::string& device);
void serve_inference(const InferShape& shape);

}  // namespace gyre::bench
