#include "gyre/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "gyre/base/error.h"
#include "gyre/base/isa.h"

namespace gyre::train {
namespace {

constexpr double kWsdDecayShare = 0.2;

void require(bool fits, const char* name, const char* rule, double value) {
  if (!fits) {
    throw Error(Code::Usage, "--", name, " must be ", rule, ", got ", value);
  }
}

}  // namespace

double learning_rate_share(const TrainOptions& options, int64_t step, int64_t n) {
  const auto rise = static_cast<double>(std::llround(options.warmup * static_cast<double>(n)));
  const auto at = static_cast<double>(step);
  if (at < rise) {
    return (at + 1.0) / rise;
  }
  const double last = std::max(1.0, static_cast<double>(n) - 1.0 - rise);
  const double done = std::min(1.0, (at - rise) / last);
  if (options.schedule == Schedule::Cosine) {
    const double fall = 0.5 * (1.0 + std::cos(std::numbers::pi * done));
    return options.min_lr + (1.0 - options.min_lr) * fall;
  }
  const double fall = std::clamp((done - (1.0 - kWsdDecayShare)) / kWsdDecayShare, 0.0, 1.0);
  return 1.0 - (1.0 - options.min_lr) * fall;
}

int64_t n_steps(const TrainOptions& options) {
  const int64_t per_step = options.batch * options.length;
  return (options.tokens + per_step - 1) / per_step;
}

ComputeDtype fastest_dtype() {
  return isa() >= Isa::Avx512Bf16 ? ComputeDtype::Bf16 : ComputeDtype::Fp32;
}

void check(const TrainOptions& options) {
  const auto positive = [](const char* name, double value) {
    require(value > 0, name, "positive", value);
  };
  positive("tokens", static_cast<double>(options.tokens));
  positive("length", static_cast<double>(options.length));
  positive("batch", static_cast<double>(options.batch));
  positive("accumulate", static_cast<double>(options.accumulate));
  positive("lr", options.lr);
  positive("log-every", static_cast<double>(options.log_every));
  if (options.batch % options.accumulate != 0) {
    throw Error(Code::Usage, "--accumulate must divide --batch ", options.batch, ", got ",
                options.accumulate);
  }
  require(options.min_lr >= 0 && options.min_lr <= 1, "min-lr", "in [0, 1]", options.min_lr);
  require(options.warmup >= 0 && options.warmup < 1, "warmup", "in [0, 1)", options.warmup);
  require(options.decay >= 0, "decay", "at least 0", options.decay);
  require(options.clip >= 0, "clip", "at least 0", options.clip);
  require(options.beta1 >= 0 && options.beta1 < 1, "beta1", "in [0, 1)", options.beta1);
  require(options.beta2 >= 0 && options.beta2 < 1, "beta2", "in [0, 1)", options.beta2);
  require(options.seed >= 0, "seed", "at least 0", static_cast<double>(options.seed));
  require(options.eval_tokens >= 0, "eval-tokens", "at least 0",
          static_cast<double>(options.eval_tokens));
  require(options.checkpoint_every >= 0, "checkpoint-every", "at least 0",
          static_cast<double>(options.checkpoint_every));
}

}  // namespace gyre::train
