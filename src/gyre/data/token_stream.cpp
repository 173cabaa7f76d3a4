// Reads spans of a memory-mapped shard as int64 tensors.
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>

#include "gyre/data/dataset.h"
#include "gyre/data/token_file.h"

namespace gyre::data {

TokenStream::TokenStream(MappedFile file, size_t header_bytes, int64_t n_tokens)
    : file_(std::move(file)), header_bytes_(header_bytes), n_tokens_(n_tokens) {
  const size_t size = file_.bytes().size();
  const size_t body = size >= header_bytes ? size - header_bytes : 0;
  const auto count = static_cast<size_t>(n_tokens);
  TORCH_CHECK_VALUE(n_tokens >= 0 && (body == 2 * count || body == 4 * count),
                    file_.path().string(), ": ", body, " bytes are not ", n_tokens,
                    " tokens of 2 or 4 bytes");
}

at::Tensor TokenStream::read(int64_t begin, int64_t n) const {
  TORCH_CHECK_VALUE(begin >= 0 && n >= 0 && begin <= n_tokens_ - n, "tokens [", begin, ", ",
                    begin + n, ") are outside a stream of ", n_tokens_);
  const size_t body = file_.bytes().size() - header_bytes_;
  const size_t width = n_tokens_ > 0 ? body / static_cast<size_t>(n_tokens_) : 2;
  const TokenFileInfo info{header_bytes_, width, n_tokens_};
  at::Tensor out = at::empty({n}, at::kLong);
  int64_t* ids = out.mutable_data_ptr<int64_t>();
  for (int64_t i = 0; i < n; ++i) {
    ids[i] = token_at(file_, info, begin + i);
  }
  return out;
}

}  // namespace gyre::data
