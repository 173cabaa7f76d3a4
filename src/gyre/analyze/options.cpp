#include "gyre/analyze/options.h"

#include "gyre/base/error.h"

namespace gyre::analyze {
namespace {

void check_range(const char* name, int64_t value, int64_t least, int64_t most) {
  if (value < least || value > most) {
    throw Error(Code::Usage, "--", name, " must be ", least, " to ", most, ", got ", value);
  }
}

}  // namespace

void check(const AnalyzeOptions& options) {
  check_range("tokens", options.tokens, 32, 4096);
  check_range("windows", options.windows, 1, 4096);
  check_range("random-rows", options.random_rows, 1, 4096);
  check_range("train-length", options.train_length, 0, int64_t{1} << 30);
  check_range("ablation-rows", options.ablation_rows, 2, 4096);
  check_range("ablation-items", options.ablation_items, 8, 65536);
  check_range("spectrum-tokens", options.spectrum_tokens, 8, 1024);
  if (!(options.threshold > 0.0 && options.threshold < 1.0)) {
    throw Error(Code::Usage, "--threshold must lie between 0 and 1, got ", options.threshold);
  }
}

}  // namespace gyre::analyze
