// The distributions behind the intervals: normal, Student's t, binomial. Plain functions, checked
// against printed tables.
#pragma once

#include <cstdint>

namespace gyre {

double normal_cdf(double z);

/// Regularised incomplete beta function I_x(a, b); a, b > 0, x in [0, 1].
double incomplete_beta(double a, double b, double x);

/// P(|T| >= |t|) for Student's t with df > 0 degrees of freedom.
double t_two_sided(double t, double df);

/// The t with P(T <= t) = p; p in (0, 1).
double t_quantile(double p, double df);

/// Power of a paired two-sided t test of size `alpha` with n pairs, when the true mean is `effect`
/// standard deviations from zero. Exact: the noncentral t, integrated over the sample's spread.
double paired_t_power(double effect, int64_t n, double alpha);

/// P(X <= k) for X ~ Binomial(n, 1/2).
double fair_coin_cdf(int64_t k, int64_t n);

}  // namespace gyre
