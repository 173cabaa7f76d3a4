// apply_common(), apart from verb.cpp so that the program without libtorch can use the rest of it.
#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include "gyre/attention/cuda/backend.h"
#include "gyre/base/error.h"
#include "gyre/cli/verb.h"

namespace gyre::cli {

void apply_common(const CommonOptions& common) {
  if (common.device != "cpu" && common.device != "cuda") {
    throw Error(Code::Usage, "--device must be cpu or cuda, got '", common.device, "'");
  }
  if (common.device == "cuda" && !attention::cuda::built()) {
    throw Error(Code::Usage,
                "--device cuda: gyre was built without the cuda preset; build it with: cmake "
                "--preset cuda && cmake --build --preset cuda (docs/cuda.md), or use --device cpu");
  }
  if (common.device == "cuda" && !at::hasCUDA()) {
    throw Error(Code::Usage,
                "--device cuda: this build of torch sees no CUDA device; use --device cpu");
  }
  check_output("--json", common.json);
  constexpr long kMostThreads = 1024;
  if (common.threads < 0 || common.threads > kMostThreads) {
    throw Error(Code::Usage, "--threads: must be 0 (all cores) to ", kMostThreads, ", got '",
                common.threads, "'");
  }
  if (common.threads > 0) {
    at::set_num_threads(static_cast<int>(common.threads));
  }
}

}  // namespace gyre::cli
