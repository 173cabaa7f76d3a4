#include "gyre/evaluate/needle.h"

#include <ATen/ops/gather.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "gyre/base/progress.h"
#include "gyre/train/trainer.h"

namespace gyre::evaluate {
namespace {

constexpr int64_t kBatchTokens = 8192;
constexpr size_t kBuckets = 5;

using Member = std::vector<int64_t> NeedleItem::*;

/// Log-likelihoods of the options of items [first, last), [B, options], normalised over them.
at::Tensor option_scores(const std::vector<NeedleItem>& items, size_t first, size_t last,
                         Member text, const NextLogitsFn& next) {
  std::vector<at::Tensor> contexts, options;
  for (size_t i = first; i < last; ++i) {
    contexts.push_back(at::tensor(items[i].*text, at::kLong));
    options.push_back(at::tensor(items[i].options, at::kLong));
  }
  const at::Tensor logits_BV = next(at::stack(contexts)).to(at::kCPU, at::kDouble);
  return logits_BV.gather(1, at::stack(options)).log_softmax(1).contiguous();
}

NeedleScore score_items(const std::vector<NeedleItem>& items, Member text,
                        const NextLogitsFn& next) {
  NeedleScore out;
  const auto length = static_cast<int64_t>((items.front().*text).size());
  const auto step = static_cast<size_t>(std::max<int64_t>(1, kBatchTokens / length));
  for (size_t first = 0; first < items.size(); first += step) {
    if (interrupted()) {
      throw train::Interrupted(Code::CheckFailed, "eval: interrupted; nothing was written");
    }
    const size_t last = std::min(items.size(), first + step);
    const at::Tensor scores = option_scores(items, first, last, text, next);
    const auto n_options = static_cast<size_t>(scores.size(1));
    for (size_t i = first; i < last; ++i) {
      const double* row = scores.const_data_ptr<double>() + (i - first) * n_options;
      const auto best = static_cast<size_t>(std::max_element(row, row + n_options) - row);
      const bool hit = best == items[i].answer && std::isfinite(row[best]);  // NaN is no answer
      out.hits += hit ? '1' : '0';
      out.correct += hit ? 1 : 0;
      out.option_nll -= row[items[i].answer];
    }
  }
  out.n = static_cast<int64_t>(items.size());
  out.option_nll /= static_cast<double>(items.size());
  return out;
}

std::vector<NeedleBucket> bucket_by_depth(const std::vector<NeedleItem>& items,
                                          const std::string& hits) {
  std::vector<NeedleBucket> buckets(kBuckets);
  for (size_t b = 0; b < kBuckets; ++b) {
    buckets[b].begin = static_cast<double>(b) / kBuckets;
    buckets[b].end = static_cast<double>(b + 1) / kBuckets;
  }
  for (size_t i = 0; i < items.size(); ++i) {
    NeedleBucket& bucket = buckets[static_cast<size_t>(items[i].depth * kBuckets)];
    ++bucket.n;
    bucket.correct += hits[i] == '1' ? 1 : 0;
  }
  std::erase_if(buckets, [](const NeedleBucket& bucket) { return bucket.n == 0; });
  return buckets;
}

}  // namespace

NeedleCell rank_needles(const NeedleAlphabet& alphabet, const NeedleDesign& design,
                        const NextLogitsFn& next) {
  const c10::NoGradGuard no_grad;
  const std::vector<NeedleItem> items = make_needle_items(alphabet, design);
  NeedleCell cell;
  cell.distractors = design.n_distractors;
  cell.options = static_cast<int64_t>(items.front().options.size());
  cell.chance = needle_chance(design);
  cell.length = static_cast<int64_t>(items.front().context.size());
  cell.evidence = score_items(items, &NeedleItem::context, next);
  cell.control = score_items(items, &NeedleItem::control, next);
  cell.buckets = bucket_by_depth(items, cell.evidence.hits);
  const auto worst = std::min_element(
      cell.buckets.begin(), cell.buckets.end(),
      [](const NeedleBucket& a, const NeedleBucket& b) { return a.accuracy() < b.accuracy(); });
  cell.worst = static_cast<size_t>(worst - cell.buckets.begin());
  return cell;
}

}  // namespace gyre::evaluate
