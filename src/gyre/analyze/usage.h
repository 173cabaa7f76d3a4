// How the norms of queries, keys and values (the control) lie over pairs: shares of the slowest and
// fastest pairs, profile over layers, agreement between texts.
#pragma once

#include <cstdint>
#include <vector>

#include "gyre/analyze/estimate.h"
#include "gyre/analyze/layer_record.h"
#include "gyre/analyze/rows.h"

namespace gyre::analyze {

/// Shares of the sum of mean chunk norms. Equal norms give 0.25, 0.5, 0.25 and spread 0.
struct Shares {
  double low25 = 0.0, low50 = 0.0;  // slowest quarter and half of the pairs
  double high25 = 0.0;              // fastest quarter
  double spread = 0.0;              // standard deviation over mean, over pairs
};

/// Pair indices from the fastest to the slowest; equal wavelengths in their own order.
std::vector<size_t> by_wavelength(const std::vector<double>& wavelength);
Shares shares_of(const std::vector<double>& norms, const std::vector<double>& wavelength);

struct LayerUsage {
  int64_t layer = 0;
  bool rotates = false;         // else shares mean nothing
  std::vector<double> q, k, v;  // [P] mean norms over all text rows and heads
  Shares q_share, k_share, v_share;
  Estimate high;                   // high25, mean of q and k, over text rows
  double half_wavelength = 0.0;    // half of the norm (mean of q and k) lies in slower pairs
  double middle_wavelength = 0.0;  // of the middle pair: what equal norms would give
  int64_t never_turn = 0;          // pairs that turn less than 0.1 of a circle in train_length
};

/// Share of the fastest quarter in the first and last rotating layer against those between.
struct EndsProfile {
  Estimate first, last, middle;      // over text rows
  Estimate first_minus, last_minus;  // minus the middle, paired by row
};

struct Usage {
  std::vector<LayerUsage> layers;
  int64_t n_rotating = 0;
  int64_t n_low_q = 0, n_low_k = 0, n_low_v = 0;  // layers whose slower half has over half the norm
  double spread_q = 0.0, spread_k = 0.0, spread_v = 0.0;  // mean over rotating layers
  EndsProfile ends;                                       // needs three rotating layers
  Matrix correlation;  // [domain][domain] of q and k maps, each layer scaled to mean 1
  Matrix distance;     // mean absolute difference of the same
};

Usage summarize_usage(const std::vector<LayerRecord>& layers, const Rows& rows,
                      int64_t train_length);

/// Mean over the rows of one domain, [layer][P]; `rows_of` picks q_rows, k_rows or v_rows.
Matrix domain_map(const std::vector<LayerRecord>& layers, const Domain& domain,
                  Matrix LayerRecord::*rows_of);

}  // namespace gyre::analyze
