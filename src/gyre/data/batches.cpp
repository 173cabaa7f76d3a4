// Which tokens sequence s of a run sees. Epoch e = s / n_windows shifts all windows by one offset
// and visits them in one permutation, both drawn from (seed, corpus hash, e) alone:
//   tokens:  |--offset--|--window 0 (T)--|--window 1 (T)--| ... |--window n-1--|+1 target|
#include <ATen/ops/empty.h>

#include <cstring>

#include "gyre/base/error.h"
#include "gyre/base/rng.h"
#include "gyre/data/dataset.h"
#include "gyre/data/permutation.h"

namespace gyre::data {
namespace {

/// Offsets run over [0, T) when two windows fit, so that window borders fall everywhere in time.
int64_t count_windows(int64_t n_tokens, int64_t length) {
  if (n_tokens >= 2 * length) {
    return (n_tokens - length) / length;
  }
  return n_tokens > length ? 1 : 0;
}

int64_t epoch_offset(int64_t n_tokens, int64_t length, uint64_t seed, uint64_t epoch) {
  const int64_t choices = n_tokens >= 2 * length ? length : n_tokens - length;
  return static_cast<int64_t>(Rng(seed, "offset", epoch).below(static_cast<uint64_t>(choices)));
}

}  // namespace

Batches::Batches(std::shared_ptr<const TokenStream> stream, std::string corpus_hash, uint64_t seed,
                 int64_t batch, int64_t length)
    : stream_(std::move(stream)),
      seed_(derive_seed(seed, "batches/" + corpus_hash)),
      batch_(batch),
      length_(length) {
  if (batch < 1 || length < 1) {
    throw Error(Code::Usage, "batch and length must be at least 1, got ", batch, " and ", length);
  }
  n_windows_ = count_windows(stream_->size(), length);
  if (n_windows_ < batch) {
    throw Error(Code::Format, "corpus smaller than one batch: ", stream_->size(), " tokens give ",
                n_windows_, " windows of ", length, ", one batch needs ", batch,
                "; give more text or lower --batch or --length");
  }
}

Batch Batches::at(int64_t k) const {
  TORCH_CHECK_VALUE(k >= 0, "batch index must not be negative, got ", k);
  Batch out{at::empty({batch_, length_}, at::kLong), at::empty({batch_, length_}, at::kLong)};
  const auto n = static_cast<uint64_t>(n_windows_);
  const size_t row_bytes = static_cast<size_t>(length_) * sizeof(int64_t);
  for (int64_t b = 0; b < batch_; ++b) {
    const uint64_t sequence =
        static_cast<uint64_t>(k) * static_cast<uint64_t>(batch_) + static_cast<uint64_t>(b);
    const uint64_t epoch = sequence / n;
    const uint64_t window = permuted(sequence % n, n, derive_seed(seed_, "order", epoch));
    const int64_t begin = epoch_offset(stream_->size(), length_, seed_, epoch) +
                          static_cast<int64_t>(window) * length_;
    const at::Tensor tokens = stream_->read(begin, length_ + 1);
    const auto* ids = tokens.const_data_ptr<int64_t>();
    std::memcpy(out.inputs.mutable_data_ptr<int64_t>() + b * length_, ids, row_bytes);
    std::memcpy(out.targets.mutable_data_ptr<int64_t>() + b * length_, ids + 1, row_bytes);
  }
  return out;
}

}  // namespace gyre::data
