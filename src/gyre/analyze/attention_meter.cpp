#include "gyre/analyze/attention_meter.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/hypot.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "gyre/evaluate/band_content.h"
#include "gyre/model/forward_pass.h"

namespace gyre::analyze {
namespace {

constexpr std::array<int64_t, 2> kOverKeys = {1, 2};

AttentionSums no_sums(int64_t H) {
  const auto zeros = [H] { return at::zeros({H}, at::kDouble); };
  return {at::zeros({static_cast<int64_t>(kRoles), H}, at::kDouble), zeros(), zeros(), zeros(),
          zeros()};
}

/// Sum over queries and keys, [H] float64.
at::Tensor summed(const at::Tensor& x_HnT) {
  return x_HnT.sum(kOverKeys).to(at::kDouble);
}

void add_score(AttentionSums& sums, Role role, const QueryBlock& block, const Target& target,
               double share) {
  const at::Tensor keys = target.keys.narrow(0, block.first, block.weights.size(1));
  at::Tensor row = sums.score_RH[static_cast<int64_t>(role)];
  row.add_(summed(block.weights * keys), share / target.n_queries);
}

/// Lengths of queries or keys band by band, [H, T, P']; their products bound a logit
/// (Cauchy-Schwarz). The channels outside pairs are one band more.
at::Tensor band_lengths(const at::Tensor& x_1HTD, const position::PositionPlan& plan) {
  const evaluate::Channels parts = evaluate::channels(x_1HTD, plan);
  const at::Tensor pairs = at::hypot(parts.re, parts.im).squeeze(0).to(at::kFloat);
  const int64_t rest = x_1HTD.size(-1) - plan.rotary_dim;
  if (rest == 0) {
    return pairs;
  }
  const at::Tensor outside = x_1HTD.squeeze(0).narrow(-1, plan.rotary_dim, rest);
  return at::cat({pairs, outside.norm(2, -1, true)}, -1);
}

/// |q||k| and its banded form for queries of a block, [H, n, T].
at::Tensor bound_of(const at::Tensor& q_HTP, const at::Tensor& k_GTP, const QueryBlock& block,
                    double scale) {
  const int64_t H = q_HTP.size(0), G = k_GTP.size(0), n = block.weights.size(1);
  const at::Tensor q = q_HTP.narrow(1, block.first, n).reshape({G, H / G, n, -1});
  return at::matmul(q, k_GTP.unsqueeze(1).transpose(-2, -1)).view_as(block.weights) *
         std::abs(scale);
}

std::vector<double> to_vector(const at::Tensor& x) {
  const at::Tensor flat = x.to(at::kDouble).contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

Pattern cut_pattern(const at::Tensor& weights_HnT, int64_t head, size_t role, double score) {
  const int64_t n = std::min(kPatternTokens, weights_HnT.size(1));
  const at::Tensor corner = (weights_HnT[head].narrow(0, 0, n).narrow(1, 0, n) * 255.0)
                                .round()
                                .to(at::kByte)
                                .contiguous();
  const uint8_t* cells = corner.const_data_ptr<uint8_t>();
  return {head, role, score, n, {cells, cells + corner.numel()}};
}

void add_patterns(LayerRecord& record, const FirstBlocks& first) {
  for (size_t role = 0; role < kRoles; ++role) {
    int64_t best = 0;
    for (size_t h = 1; h < record.heads.size(); ++h) {
      if (record.heads[h].score[role] > record.heads[static_cast<size_t>(best)].score[role]) {
        best = static_cast<int64_t>(h);
      }
    }
    record.patterns.push_back(cut_pattern(first.of(static_cast<Role>(role)), best, role,
                                          record.heads[static_cast<size_t>(best)].score[role]));
  }
}

void fill_heads(LayerRecord& record, const AttentionSums& sums, const Targets& targets) {
  const std::vector<double> logit = to_vector(sums.logit_H / sums.weight_H),
                            bound = to_vector(sums.bound_H / sums.weight_H),
                            product = to_vector(sums.product_H / sums.weight_H);
  double chance = 0.0;
  for (const Target& target : targets.content) {
    chance += target.chance / static_cast<double>(targets.content.size());
  }
  for (size_t h = 0; h < logit.size(); ++h) {
    HeadRecord head;
    head.chance = chance;
    head.logit = logit[h];
    head.bound = bound[h];
    head.product = product[h];
    for (size_t role = 0; role < kRoles; ++role) {
      head.score[role] =
          sums.score_RH[static_cast<int64_t>(role)][static_cast<int64_t>(h)].item<double>();
    }
    record.heads.push_back(head);
  }
}

}  // namespace

AttentionMeter::AttentionMeter(const Subject& subject, const Rows& rows, const Targets& targets,
                               int64_t n, const at::Tensor& visible)
    : plan_(subject.model.plan()),
      layer_(plan_.layers[static_cast<size_t>(n)]),
      rows_(rows),
      targets_(targets),
      visible_(visible),
      rotation_(attention::make_rotation(model::layer_theta(subject.model, n),
                                         at::arange(rows.length(), at::kLong), plan_.layout, layer_,
                                         at::kFloat)),
      sums_(no_sums(subject.model.config().heads)) {}

void AttentionMeter::add_row(int64_t b, at::Tensor q, at::Tensor k) {
  if (!rotation_.identity()) {
    std::tie(q, k) = attention::rotate(q, k, rotation_);
  }
  const bool text = b < rows_.n_text;
  const at::Tensor q_lengths = text ? band_lengths(q, plan_) : at::Tensor();
  const at::Tensor k_lengths = text ? band_lengths(k, plan_) : at::Tensor();
  each_query_block(q.squeeze(0), k.squeeze(0), layer_, visible_, [&](const QueryBlock& block) {
    keep_first(b, block);
    add_scores(b, block);
    if (text) {
      add_bounds(block, q_lengths, k_lengths);
    }
  });
}

void AttentionMeter::fill(LayerRecord& record) const {
  fill_heads(record, sums_, targets_);
  add_patterns(record, first_);
}

void AttentionMeter::keep_first(int64_t b, const QueryBlock& block) {
  if (block.first != 0) {
    return;
  }
  if (b == 0) {
    first_.text = block.weights;
  } else if (b == rows_.first_repeat()) {
    first_.repeat = block.weights;
  } else if (b == rows_.first_alphabet()) {
    first_.alphabet = block.weights;
  }
}

void AttentionMeter::add_scores(int64_t b, const QueryBlock& block) {
  if (b < rows_.n_text) {
    const double share = 1.0 / static_cast<double>(rows_.n_text);
    add_score(sums_, Role::Diagonal, block, targets_.diagonal, share);
    add_score(sums_, Role::Previous, block, targets_.previous, share);
    add_score(sums_, Role::Sink, block, targets_.sink, share);
    return;
  }
  const double share = 1.0 / static_cast<double>(rows_.n_random);
  if (b < rows_.first_alphabet()) {
    add_score(sums_, Role::Induction, block, targets_.induction, share);
  } else {
    const auto row = static_cast<size_t>(b - rows_.first_alphabet());
    add_score(sums_, Role::Content, block, targets_.content[row], share);
  }
}

void AttentionMeter::add_bounds(const QueryBlock& block, const at::Tensor& q_lengths,
                                const at::Tensor& k_lengths) {
  const double scale = logit_scale(layer_, plan_.head_dim);
  const at::Tensor bound = bound_of(q_lengths, k_lengths, block, scale);
  const at::Tensor product =
      bound_of(q_lengths.norm(2, -1, true), k_lengths.norm(2, -1, true), block, scale);
  sums_.logit_H.add_(summed(block.weights * block.logits));
  sums_.bound_H.add_(summed(block.weights * bound));
  sums_.product_H.add_(summed(block.weights * product));
  sums_.weight_H.add_(summed(block.weights));
}

}  // namespace gyre::analyze
