#include "gyre/analyze/ablation.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gyre/analyze/token_losses.h"
#include "gyre/analyze/usage.h"
#include "gyre/base/error.h"
#include "gyre/evaluate/band_content.h"
#include "gyre/evaluate/needle_items.h"

namespace gyre::analyze {
namespace {

constexpr int64_t kCopyPeriod = 64;
constexpr int64_t kDistractors = 7;
constexpr int64_t kItemsAtOnce = 32;

std::vector<double> wavelengths(const evaluate::Frequencies& inv_freq) {
  std::vector<double> out =
      inv_freq.empty() ? std::vector<double>() : evaluate::mean_over_rows(inv_freq);
  for (double& each : out) {
    each = position::wavelength_tokens(each);
  }
  return out;
}

/// [D] float32: 0 on the channels of these pairs.
at::Tensor channel_mask(const position::PositionPlan& plan, const std::vector<size_t>& pairs) {
  at::Tensor mask = at::ones({plan.head_dim}, at::kFloat);
  const bool interleaved = plan.layout == position::PairLayout::Interleaved;
  float* keep = mask.mutable_data_ptr<float>();
  for (const size_t pair : pairs) {
    const auto m = static_cast<int64_t>(pair);
    keep[interleaved ? 2 * m : m] = 0.0F;
    keep[interleaved ? 2 * m + 1 : m + plan.n_pairs()] = 0.0F;
  }
  return mask;
}

model::Tap tap_of(const model::Transformer& model, int group) {
  return group < 0 ? model::Tap() : zero_group(model, static_cast<BandGroup>(group));
}

std::vector<double> row_means(const at::Tensor& losses_BT) {
  const at::Tensor means = losses_BT.to(at::kDouble).mean(-1).contiguous();
  return {means.const_data_ptr<double>(), means.const_data_ptr<double>() + means.numel()};
}

TaskLosses run_copy(const Subject& subject, const Rows& rows, const AnalyzeOptions& options,
                    int group) {
  const int64_t begin = subject.begin_token < 0 ? 0 : 1;
  const int64_t R = std::min(kCopyPeriod, options.tokens / 2);
  std::vector<at::Tensor> list;
  for (int64_t i = 0; i < options.ablation_rows; ++i) {
    const at::Tensor once = random_ids(rows.vocabulary, R, static_cast<uint64_t>(options.seed),
                                       "analyze/copy", static_cast<uint64_t>(i));
    std::vector<at::Tensor> parts = {once, once};
    if (begin == 1) {
      parts.insert(parts.begin(), at::full({1}, subject.begin_token, at::kLong));
    }
    list.push_back(at::cat(parts));
  }
  const at::Tensor losses =
      token_losses(subject.model, at::stack(list), tap_of(subject.model, group));
  // The first token of the second half cannot be known; what follows can.
  return {"copy", group, row_means(losses.narrow(1, begin + R, R - 1)), {}};
}

TaskLosses run_prose(const Subject& subject, const Rows& rows, const AnalyzeOptions& options,
                     int group) {
  const Domain& prose = rows.domains.front();
  const int64_t n = std::min(options.ablation_rows, prose.n_rows);
  const at::Tensor tokens = rows.tokens.narrow(0, prose.first_row, n);
  return {"prose",
          group,
          row_means(token_losses(subject.model, tokens, tap_of(subject.model, group))),
          {}};
}

/// Letters of the tokenizer; when it has too few that are one token each, tokens of the texts.
evaluate::NeedleAlphabet alphabet_of(const Subject& subject, const Rows& rows) {
  evaluate::NeedleAlphabet alphabet =
      evaluate::needle_alphabet(subject.tokenizer, evaluate::NeedleFamily::Pairs);
  if (alphabet.letters.size() < 2 * (kDistractors + 1) && rows.vocabulary.size() > 2) {
    alphabet.separator = {rows.vocabulary.front()};
    alphabet.letters.assign(rows.vocabulary.begin() + 1, rows.vocabulary.end());
  }
  return alphabet;
}

TaskLosses run_retrieval(const Subject& subject, const Rows& rows, const AnalyzeOptions& options,
                         int group) {
  const evaluate::NeedleDesign design{.n_distractors = kDistractors,
                                      .n_items = options.ablation_items,
                                      .seed = static_cast<uint64_t>(options.seed)};
  const auto items = evaluate::make_needle_items(alphabet_of(subject, rows), design);
  TaskLosses out{"retrieval", group, {}, 0.0};
  for (size_t first = 0; first < items.size(); first += kItemsAtOnce) {
    const size_t last = std::min(items.size(), first + kItemsAtOnce);
    std::vector<at::Tensor> contexts, options_of;
    for (size_t i = first; i < last; ++i) {
      std::vector<int64_t> ids = items[i].context;
      if (subject.begin_token >= 0) {
        ids.insert(ids.begin(), subject.begin_token);
      }
      contexts.push_back(at::tensor(ids, at::kLong));
      options_of.push_back(at::tensor(items[i].options, at::kLong));
    }
    const at::Tensor logits =
        next_logits(subject.model, at::stack(contexts), tap_of(subject.model, group));
    const at::Tensor scores =
        logits.to(at::kDouble).gather(1, at::stack(options_of)).log_softmax(1).contiguous();
    const auto n_options = static_cast<size_t>(scores.size(1));
    for (size_t i = first; i < last; ++i) {
      const double* row = scores.const_data_ptr<double>() + (i - first) * n_options;
      out.loss.push_back(-row[items[i].answer]);
      const auto best = static_cast<size_t>(std::max_element(row, row + n_options) - row);
      *out.accuracy += best == items[i].answer ? 1.0 / static_cast<double>(items.size()) : 0.0;
    }
  }
  return out;
}

GroupEffect effect_of(const TaskLosses& whole, const TaskLosses& without) {
  std::vector<double> increase;
  for (size_t i = 0; i < whole.loss.size(); ++i) {
    increase.push_back(without.loss[i] - whole.loss[i]);
  }
  return {without.group, mean_of(without.loss), estimate(increase), without.accuracy};
}

GroupPairs describe_group(const model::Transformer& model, int group) {
  GroupPairs out;
  out.group = group;
  out.shortest = std::numeric_limits<double>::infinity();
  for (const auto& layer : model.current_inv_freq()) {
    const std::vector<double> lengths = wavelengths(layer);
    const std::vector<size_t> pairs = pairs_of_group(lengths, static_cast<BandGroup>(group));
    out.n_pairs = std::max(out.n_pairs, static_cast<int64_t>(pairs.size()));
    for (const size_t pair : pairs) {
      out.shortest = std::min(out.shortest, lengths[pair]);
      out.longest = std::max(out.longest, lengths[pair]);
    }
  }
  return out;
}

}  // namespace

std::vector<size_t> pairs_of_group(const std::vector<double>& wavelength, BandGroup group) {
  const std::vector<size_t> order = by_wavelength(wavelength);
  const size_t P = order.size(), g = static_cast<size_t>(group);
  const auto at = [&](size_t third) { return order.begin() + static_cast<int64_t>(P * third / 3); };
  return {at(g), at(g + 1)};
}

model::Tap zero_group(const model::Transformer& model, BandGroup group) {
  std::vector<at::Tensor> masks;
  for (const auto& layer : model.current_inv_freq()) {
    masks.push_back(channel_mask(model.plan(), pairs_of_group(wavelengths(layer), group)));
  }
  return [masks](int64_t n, at::Tensor& q, at::Tensor& k, at::Tensor& /*v*/) {
    const at::Tensor mask = masks[static_cast<size_t>(n)].to(q.options());
    q = q * mask;
    k = k * mask;
  };
}

TaskLosses run_task(const Subject& subject, const Rows& rows, const AnalyzeOptions& options,
                    const std::string& task, int group) {
  return task == "copy"        ? run_copy(subject, rows, options, group)
         : task == "retrieval" ? run_retrieval(subject, rows, options, group)
                               : run_prose(subject, rows, options, group);
}

Ablation summarize_ablation(const model::Transformer& model, const std::vector<TaskLosses>& runs) {
  Ablation out;
  for (int group = 0; group < static_cast<int>(kGroupNames.size()); ++group) {
    out.groups.push_back(describe_group(model, group));
  }
  for (const char* task : kTasks) {
    const auto whole = std::find_if(runs.begin(), runs.end(), [&](const TaskLosses& run) {
      return run.task == task && run.group < 0;
    });
    if (whole == runs.end()) {
      continue;
    }
    TaskEffect effect{
        task, static_cast<int64_t>(whole->loss.size()), mean_of(whole->loss), whole->accuracy, {},
        {}};
    if (whole->accuracy) {
      effect.chance = 1.0 / static_cast<double>(kDistractors + 1);
    }
    for (const TaskLosses& run : runs) {
      if (run.task == task && run.group >= 0) {
        effect.groups.push_back(effect_of(*whole, run));
      }
    }
    out.tasks.push_back(std::move(effect));
  }
  return out;
}

}  // namespace gyre::analyze
