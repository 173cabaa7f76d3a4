// Time to the first token by prompt size, from answers that were recorded.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "gyre/accept/plan.h"

namespace gyre::accept {
namespace {

struct Timed {
  double tokens = 0, seconds = 0;
};

/// Least squares of seconds = a + b n + c n^2 over the terms that are used; n is scaled so that the
/// normal equations are well conditioned. Terms that come out negative are dropped by the caller.
std::array<double, 3> fit(const std::vector<Timed>& points, const std::array<bool, 3>& used,
                          double scale) {
  double m[3][4] = {};
  for (const Timed& p : points) {
    const double n = p.tokens / scale;
    const std::array<double, 3> x{used[0] ? 1.0 : 0.0, used[1] ? n : 0.0, used[2] ? n * n : 0.0};
    for (size_t i = 0; i < 3; ++i) {
      for (size_t j = 0; j < 3; ++j) {
        m[i][j] += x[i] * x[j];
      }
      m[i][3] += x[i] * p.seconds;
    }
  }
  std::array<double, 3> out{};
  for (size_t i = 0; i < 3; ++i) {
    m[i][i] += used[i] ? 1e-12 : 1.0;  // an unused term solves to 0
  }
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = i + 1; j < 3; ++j) {
      const double factor = m[j][i] / m[i][i];
      for (size_t k = i; k < 4; ++k) {
        m[j][k] -= factor * m[i][k];
      }
    }
  }
  for (size_t i = 3; i-- > 0;) {
    double rest = m[i][3];
    for (size_t k = i + 1; k < 3; ++k) {
      rest -= m[i][k] * out[k];
    }
    out[i] = rest / m[i][i];
  }
  return out;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Speed fit_speed(const std::vector<Sample>& samples) {
  std::vector<Timed> points;
  std::vector<double> rates;
  std::set<int64_t> sizes;
  double scale = 1.0;
  for (const Sample& sample : samples) {
    const Reply& r = sample.reply;
    const int64_t tokens = r.prompt_tokens.value_or(sample.item.tokens_predicted);
    if (!r.answered() || tokens <= 0 || sample.in_flight > 1) {
      continue;
    }
    // An answer that came whole has no first token; its whole time is an upper bound.
    const double first_ms = r.first_token_ms > 0 ? r.first_token_ms : r.total_ms;
    points.push_back({static_cast<double>(tokens), first_ms / 1000.0});
    sizes.insert(tokens);
    scale = std::max(scale, static_cast<double>(tokens));
    const double rest_s = (r.total_ms - r.first_token_ms) / 1000.0;
    if (r.first_token_ms > 0 && !r.burst && r.completion_tokens.value_or(0) > 1 && rest_s > 0) {
      rates.push_back(static_cast<double>(*r.completion_tokens - 1) / rest_s);
    }
  }
  Speed out;
  if (sizes.size() < 2) {
    return out;
  }
  std::array<bool, 3> used{true, true, sizes.size() > 2};
  std::array<double, 3> terms = fit(points, used, scale);
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < 3; ++i) {
      used[i] = used[i] && terms[i] >= 0.0;
    }
    terms = fit(points, used, scale);
  }
  out.a = std::max(terms[0], 0.0);
  out.b = std::max(terms[1], 0.0) / scale;
  out.c = std::max(terms[2], 0.0) / (scale * scale);
  out.answer_tokens_per_s = rates.empty() ? 0.0 : median(rates);
  out.known = true;
  return out;
}

}  // namespace gyre::accept
