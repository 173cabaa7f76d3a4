#include "gyre/evaluate/windows.h"

#include <ATen/ops/stack.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gyre/base/progress.h"
#include "gyre/train/trainer.h"

namespace gyre::evaluate {
namespace {

constexpr int64_t kBatchTokens = 8192;  // inputs per forward pass: large enough for full matmuls

/// Windows from i on that fit into one batch with the first.
size_t batch_size(const std::vector<Window>& windows, size_t i) {
  const Window& first = windows[i];
  const auto most = static_cast<size_t>(std::max<int64_t>(1, kBatchTokens / first.length));
  size_t n = 1;
  while (n < most && i + n < windows.size() && windows[i + n].length == first.length) {
    ++n;
  }
  return n;
}

at::Tensor read_batch(const data::TokenStream& stream, const std::vector<Window>& windows, size_t i,
                      size_t n) {
  std::vector<at::Tensor> rows;
  for (size_t b = 0; b < n; ++b) {
    rows.push_back(stream.read(windows[i + b].begin, windows[i + b].length + 1));
  }
  return at::stack(rows);
}

void append(Scored& out, const at::Tensor& nll_BT, const std::vector<Window>& windows, size_t i) {
  const at::Tensor losses_BT = nll_BT.to(at::kCPU, at::kFloat).contiguous();
  const int64_t T = losses_BT.size(1);
  const float* loss = losses_BT.const_data_ptr<float>();
  for (int64_t b = 0; b < losses_BT.size(0); ++b) {
    for (int64_t t = windows[i + static_cast<size_t>(b)].skip; t < T; ++t) {
      out.loss.push_back(loss[b * T + t]);
      out.position.push_back(t);
    }
  }
}

}  // namespace

std::vector<Window> disjoint_windows(int64_t begin, int64_t n, int64_t length) {
  std::vector<Window> windows;
  for (int64_t done = 0; done < n; done += length) {
    windows.push_back({begin + done, std::min(length, n - done), 0});
  }
  return windows;
}

std::vector<Window> sliding_windows(int64_t begin, int64_t n, int64_t length) {
  const int64_t advance = std::max<int64_t>(1, length / 2);
  std::vector<Window> windows;
  for (int64_t done = 0; done < n; done += advance) {
    const int64_t scored = std::min(advance, n - done);
    windows.push_back({begin + done + scored - length, length, length - scored});
  }
  return windows;
}

Scored score(const data::TokenStream& stream, const std::vector<Window>& windows,
             const NllFn& nll) {
  const c10::NoGradGuard no_grad;
  Scored out;
  Progress progress("eval", static_cast<int64_t>(windows.size()), "windows");
  for (size_t i = 0; i < windows.size();) {
    if (interrupted()) {
      throw train::Interrupted(Code::CheckFailed, "eval: interrupted; nothing was written");
    }
    const size_t n = batch_size(windows, i);
    const at::Tensor tokens = read_batch(stream, windows, i, n);
    const int64_t T = tokens.size(1) - 1;
    const at::Tensor inputs = tokens.narrow(1, 0, T).contiguous();
    append(out, nll(inputs, tokens.narrow(1, 1, T).contiguous()), windows, i);
    i += n;
    progress.update(static_cast<int64_t>(i));
  }
  return out;
}

std::vector<int64_t> dyadic_edges(int64_t length) {
  std::vector<int64_t> edges = {0};
  for (int64_t edge = 1; edge < length; edge *= 2) {
    edges.push_back(edge);
  }
  edges.push_back(length);
  return edges;
}

std::vector<Bucket> bucket_losses(const Scored& scored, const std::vector<int64_t>& edges) {
  std::vector<Bucket> buckets;
  for (size_t b = 0; b + 1 < edges.size(); ++b) {
    buckets.push_back({edges[b], edges[b + 1], 0.0, 0});
  }
  for (size_t i = 0; i < scored.loss.size(); ++i) {
    const auto above = std::upper_bound(edges.begin(), edges.end(), scored.position[i]);
    Bucket& bucket = buckets.at(static_cast<size_t>(above - edges.begin()) - 1);
    bucket.loss += scored.loss[i];
    ++bucket.n;
  }
  std::erase_if(buckets, [](const Bucket& bucket) { return bucket.n == 0; });
  for (Bucket& bucket : buckets) {
    bucket.loss /= static_cast<double>(bucket.n);
  }
  return buckets;
}

double mean_loss(const Scored& scored) {
  if (scored.loss.empty()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  double sum = 0.0;
  for (const float loss : scored.loss) {
    sum += loss;
  }
  return sum / static_cast<double>(scored.loss.size());
}

int64_t count_not_finite(const Scored& scored) {
  return std::count_if(scored.loss.begin(), scored.loss.end(),
                       [](float loss) { return !std::isfinite(loss); });
}

}  // namespace gyre::evaluate
