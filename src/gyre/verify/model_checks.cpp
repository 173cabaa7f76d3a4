// Cache consistency of a whole model with its own weights.
#include "gyre/verify/model_checks.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/tensor.h>

#include "gyre/base/error.h"
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

// 1e-4 of the logits in float32 (claim P15), as long as they are of the size of 10: rounding grows
// with the largest. bfloat16 rounds activations to 3 digits.
double tolerance_of(const model::Transformer& model, double largest_logit) {
  const double one = model.compute_dtype() == at::kBFloat16 ? 0.1 : 1e-4;
  return one * std::max(1.0, largest_logit / 10.0);
}

double largest(const at::Tensor& x) {
  return x.to(at::kDouble).abs().max().item<double>();
}

at::Tensor random_tokens(const model::Transformer& model, int64_t B, int64_t T, uint64_t seed) {
  return at::randint(model.config().vocab, {B, T}, at::make_generator<at::CPUGeneratorImpl>(seed),
                     at::TensorOptions().dtype(at::kLong));
}

/// One model, and how it is continued.
class Runs {
 public:
  Runs(const model::Transformer& model, const CacheUse& use)
      : model_(model), decoder_(use.decoder(model)), use_(use) {}

  at::Tensor whole(const at::Tensor& tokens) const { return model_.forward(tokens); }
  std::unique_ptr<model::KvCache> cache() const { return use_.make(model_.plan()); }
  /// Logits of all tokens, in chunks.
  at::Tensor feed(model::KvCache& cache, const at::Tensor& tokens, int64_t chunk) const {
    std::vector<at::Tensor> parts;
    for (int64_t first = 0; first < tokens.size(1); first += chunk) {
      const int64_t n = std::min(chunk, tokens.size(1) - first);
      parts.push_back(decoder_.forward(tokens.narrow(1, first, n), {&cache}));
    }
    return at::cat(parts, 1);
  }

 private:
  const model::Transformer& model_;
  model::Transformer decoder_;
  const CacheUse& use_;
};

/// Largest difference, with the place of its element.
struct Worst {
  double value = 0.0;
  std::string where;
};
Worst worst_of(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor difference = (a - b).to(at::kDouble).abs();
  const int64_t at_ = difference.argmax().item<int64_t>(), V = a.size(2), T = a.size(1);
  return {difference.max().item<double>(),
          str("row ", at_ / V / T, " token ", at_ / V % T, " id ", at_ % V)};
}

struct Tallies {
  Tally same, greedy, batch, back, noticed;
};

void splits(const Runs& runs, const at::Tensor& tokens, double tolerance, bool exact, Tallies& to) {
  const int64_t n = tokens.size(1);
  const at::Tensor whole = runs.whole(tokens);
  int64_t n_differing = 0;
  for (const int64_t chunk : {n / 2, n / 3 + 1, int64_t{7}, int64_t{1}}) {
    const auto cache = runs.cache();
    const at::Tensor pieces = runs.feed(*cache, tokens, std::max<int64_t>(chunk, 1));
    const Worst worst = worst_of(pieces, whole);
    to.same.at_most(worst.value, tolerance, "chunks of ", chunk, ", ", worst.where);
    n_differing += pieces.argmax(-1).ne(whole.argmax(-1)).sum().item<int64_t>();
  }
  // In bfloat16 near-ties may fall either way; float32 must agree on every token.
  to.greedy.at_most(static_cast<double>(n_differing), static_cast<double>(exact ? 0 : n / 10),
                    "likeliest tokens that differ in four ways to cut ", n, " tokens");
}

// Three rows of different lengths in one batch, padded on the left, prompt and then token by token.
void padded(const Runs& runs, const at::Tensor& batch, double tolerance, Tally& tally) {
  const int64_t n = batch.size(1);
  const std::vector<int64_t> padding = {0, n / 3, n / 2};
  const auto cache = runs.cache();
  cache->set_padding(at::tensor(padding, at::kLong));
  const int64_t prompt = n / 2 + 2;
  const at::Tensor logits = at::cat({runs.feed(*cache, batch.narrow(1, 0, prompt), prompt),
                                     runs.feed(*cache, batch.narrow(1, prompt, n - prompt), 1)},
                                    1);
  for (size_t row = 0; row < padding.size(); ++row) {
    const int64_t first = padding[row];
    const auto real = [&](const at::Tensor& x) {
      return x.narrow(0, static_cast<int64_t>(row), 1).narrow(1, first, n - first);
    };
    const Worst worst = worst_of(real(logits), runs.whole(real(batch)));
    tally.at_most(worst.value, tolerance, "row with ", first, " tokens of padding, ", worst.where);
  }
}

// Tokens fed, some taken back, others fed.
void rolled_back(const Runs& runs, const at::Tensor& tokens, const at::Tensor& others,
                 double tolerance, Tally& tally) {
  const int64_t n = tokens.size(1);
  for (const int64_t back : {int64_t{1}, n / 4, n / 2}) {
    const auto cache = runs.cache();
    runs.feed(*cache, tokens, 5);
    cache->truncate(n - back);
    const at::Tensor next = others.narrow(1, 0, std::min<int64_t>(n, 8));
    const at::Tensor fresh = runs.whole(at::cat({tokens.narrow(1, 0, n - back), next}, 1));
    const Worst worst =
        worst_of(runs.feed(*cache, next, 3), fresh.narrow(1, n - back, next.size(1)));
    tally.at_most(worst.value, tolerance, back, " of ", n, " tokens taken back, ", worst.where);
  }
}

bool counts_from_the_start(const position::PositionPlan& plan) {
  for (const position::LayerPlan& layer : plan.layers) {
    if (layer.mask.chunk > 0 || layer.mask.n_global > 0 || layer.query_growth != 0.0) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<Check> check_model(const model::Transformer& model, int64_t n_tokens,
                               const CacheUse& use) {
  const at::NoGradGuard no_grad;

  const bool exact = model.compute_dtype() != at::kBFloat16;
  const Runs runs(model, use);
  const at::Tensor tokens = random_tokens(model, 1, n_tokens, 11);
  const at::Tensor whole = runs.whole(tokens);
  const double tolerance = tolerance_of(model, largest(whole));
  Tallies t;
  splits(runs, tokens, tolerance, exact, t);
  const bool batches = !counts_from_the_start(model.plan());
  if (batches) {
    padded(runs, random_tokens(model, 3, n_tokens, 13), tolerance, t.batch);
  }
  rolled_back(runs, tokens, random_tokens(model, 1, n_tokens, 12), tolerance, t.back);
  // The token before the last: every mask but a window of 1 lets the last one see it.
  const at::Tensor gap =
      at::cat({tokens.narrow(1, 0, n_tokens - 2), tokens.narrow(1, n_tokens - 1, 1)}, 1);
  const at::Tensor last = runs.feed(*runs.cache(), gap, 7).select(1, -1);
  const double moved = largest(last - whole.select(1, -1));
  t.noticed.at_least(moved, 2.0 * tolerance, "the token before the last left out of the cache");
  const std::string bound =
      "1e-4 in float32: claim P15; 0.1 in bfloat16; of logits to 10, in proportion above";
  std::vector<Check> checks{
      {"model-cache", "P15, P37, P55", "Chunked prefill and decoding give the logits of one pass",
       bound, t.same.result(str("logits up to ", largest(whole)))},
      {"model-greedy", "P15", "The likeliest tokens agree", "exact in float32",
       t.greedy.result("argmax of every position")}};
  if (batches) {
    checks.push_back({"model-batch", "P39", "Rows of a padded batch give what each gives alone",
                      bound, t.batch.result("padding on the left, prompt, then one by one")});
  }
  checks.push_back({"model-rollback", "P36", "A cache taken back goes on like a fresh run", bound,
                    t.back.result("1, a quarter and half of the tokens taken back")});
  checks.push_back({"model-notices", "P26", "A missing token changes the last logits", "control",
                    t.noticed.result(str("by ", moved))});
  for (Check& check : checks) {
    check.result.id = check.id;
  }
  return checks;
}

std::vector<FaultRow> run_cache_faults(const model::Transformer& model, int64_t n_tokens) {
  std::vector<FaultRow> rows;
  for (const CacheFault& fault : cache_faults()) {
    const Showing showing = shows(fault, model.plan());
    if (!showing.possible) {
      continue;
    }
    FaultRow& row = rows.emplace_back(FaultRow{fault.name, fault.summary, {}});
    if (!showing.in(n_tokens)) {
      row.needs_tokens = showing.more_than;
      continue;
    }
    for (const Check& check : check_model(model, n_tokens, fault.use())) {
      if (!check.result.passed) {
        row.caught_by.push_back(check.id);
      }
    }
  }
  return rows;
}

}  // namespace gyre::verify
