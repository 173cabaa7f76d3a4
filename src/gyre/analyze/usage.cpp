#include "gyre/analyze/usage.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gyre::analyze {
namespace {

constexpr double kFewTurns = 0.1;  // claim L03

std::vector<double> column_means(const Matrix& rows) {
  std::vector<double> mean(rows.front().size(), 0.0);
  for (const std::vector<double>& row : rows) {
    for (size_t m = 0; m < mean.size(); ++m) {
      mean[m] += row[m] / static_cast<double>(rows.size());
    }
  }
  return mean;
}

double share_between(const std::vector<double>& norms, const std::vector<size_t>& order,
                     size_t first, size_t last) {
  double part = 0.0, all = 0.0;
  for (size_t i = 0; i < order.size(); ++i) {
    all += norms[order[i]];
    part += i >= first && i < last ? norms[order[i]] : 0.0;
  }
  return all > 0.0 ? part / all : std::numeric_limits<double>::quiet_NaN();
}

bool any_rotates(const std::vector<double>& wavelength) {
  return std::any_of(wavelength.begin(), wavelength.end(),
                     [](double each) { return std::isfinite(each); });
}

/// Share of the fastest quarter, mean of q and k, per text row.
std::vector<double> high_by_row(const LayerRecord& record) {
  std::vector<double> out;
  for (size_t r = 0; r < record.q_rows.size(); ++r) {
    out.push_back(0.5 * (shares_of(record.q_rows[r], record.wavelength).high25 +
                         shares_of(record.k_rows[r], record.wavelength).high25));
  }
  return out;
}

/// Wavelength from which on the slower pairs hold half of all norm.
double half_wavelength(const LayerUsage& usage, const std::vector<double>& wavelength) {
  const std::vector<size_t> order = by_wavelength(wavelength);
  double all = 0.0, seen = 0.0;
  for (size_t m = 0; m < order.size(); ++m) {
    all += usage.q[m] + usage.k[m];
  }
  for (const size_t m : order) {
    seen += usage.q[m] + usage.k[m];
    if (2.0 * seen >= all) {
      return wavelength[m];
    }
  }
  return wavelength[order.back()];
}

LayerUsage layer_usage(const LayerRecord& record, int64_t train_length) {
  LayerUsage out;
  out.layer = record.layer;
  out.rotates = any_rotates(record.wavelength);
  out.q = column_means(record.q_rows);
  out.k = column_means(record.k_rows);
  out.v = column_means(record.v_rows);
  if (!out.rotates) {
    return out;
  }
  out.q_share = shares_of(out.q, record.wavelength);
  out.k_share = shares_of(out.k, record.wavelength);
  out.v_share = shares_of(out.v, record.wavelength);
  out.high = estimate(high_by_row(record));
  out.half_wavelength = half_wavelength(out, record.wavelength);
  const std::vector<size_t> order = by_wavelength(record.wavelength);
  out.middle_wavelength = record.wavelength[order[(order.size() - 1) / 2]];
  out.never_turn = std::count_if(
      record.wavelength.begin(), record.wavelength.end(),
      [&](double each) { return static_cast<double>(train_length) < kFewTurns * each; });
  return out;
}

std::vector<double> minus(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> out(a);
  std::transform(out.begin(), out.end(), b.begin(), out.begin(), std::minus<>());
  return out;
}

EndsProfile ends_profile(const std::vector<const LayerRecord*>& rotating) {
  EndsProfile out;
  if (rotating.size() < 3) {
    return out;
  }
  const std::vector<double> first = high_by_row(*rotating.front()),
                            last = high_by_row(*rotating.back());
  Matrix between;
  for (size_t n = 1; n + 1 < rotating.size(); ++n) {
    between.push_back(high_by_row(*rotating[n]));
  }
  const std::vector<double> middle = column_means(between);
  out.first = estimate(first);
  out.last = estimate(last);
  out.middle = estimate(middle);
  out.first_minus = estimate(minus(first, middle));
  out.last_minus = estimate(minus(last, middle));
  return out;
}

/// q and k norms of one domain, each layer scaled to mean 1, in one list.
std::vector<double> scaled_map(const std::vector<LayerRecord>& layers, const Domain& domain) {
  std::vector<double> out;
  for (Matrix LayerRecord::*part : {&LayerRecord::q_rows, &LayerRecord::k_rows}) {
    for (const std::vector<double>& row : domain_map(layers, domain, part)) {
      const double mean = mean_of(row);
      for (const double norm : row) {
        out.push_back(norm / mean);
      }
    }
  }
  return out;
}

void compare_domains(Usage& out, const std::vector<LayerRecord>& layers, const Rows& rows) {
  std::vector<std::vector<double>> maps;
  for (const Domain& domain : rows.domains) {
    maps.push_back(scaled_map(layers, domain));
  }
  for (const auto& a : maps) {
    auto& row = out.correlation.emplace_back();
    auto& far = out.distance.emplace_back();
    for (const auto& b : maps) {
      row.push_back(correlation(a, b));
      double sum = 0.0;
      for (size_t i = 0; i < a.size(); ++i) {
        sum += std::abs(a[i] - b[i]);
      }
      far.push_back(sum / static_cast<double>(a.size()));
    }
  }
}

}  // namespace

std::vector<size_t> by_wavelength(const std::vector<double>& wavelength) {
  std::vector<size_t> order(wavelength.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return wavelength[a] < wavelength[b]; });
  return order;
}

Shares shares_of(const std::vector<double>& norms, const std::vector<double>& wavelength) {
  const std::vector<size_t> order = by_wavelength(wavelength);
  const size_t P = order.size(), quarter = (P + 3) / 4, half = (P + 1) / 2;
  Shares out;
  out.low25 = share_between(norms, order, P - quarter, P);
  out.low50 = share_between(norms, order, P - half, P);
  out.high25 = share_between(norms, order, 0, quarter);
  const double mean = mean_of(norms);
  double squares = 0.0;
  for (const double norm : norms) {
    squares += (norm - mean) * (norm - mean);
  }
  out.spread = std::sqrt(squares / static_cast<double>(P)) / mean;
  return out;
}

Matrix domain_map(const std::vector<LayerRecord>& layers, const Domain& domain,
                  Matrix LayerRecord::*rows_of) {
  Matrix out;
  for (const LayerRecord& layer : layers) {
    const auto first = (layer.*rows_of).begin() + domain.first_row;
    out.push_back(column_means({first, first + domain.n_rows}));
  }
  return out;
}

Usage summarize_usage(const std::vector<LayerRecord>& layers, const Rows& rows,
                      int64_t train_length) {
  Usage out;
  std::vector<const LayerRecord*> rotating;
  for (const LayerRecord& record : layers) {
    const LayerUsage& layer = out.layers.emplace_back(layer_usage(record, train_length));
    if (!layer.rotates) {
      continue;
    }
    rotating.push_back(&record);
    out.n_low_q += layer.q_share.low50 > 0.5 ? 1 : 0;
    out.n_low_k += layer.k_share.low50 > 0.5 ? 1 : 0;
    out.n_low_v += layer.v_share.low50 > 0.5 ? 1 : 0;
    out.spread_q += layer.q_share.spread;
    out.spread_k += layer.k_share.spread;
    out.spread_v += layer.v_share.spread;
  }
  out.n_rotating = static_cast<int64_t>(rotating.size());
  if (rotating.empty()) {
    return out;
  }
  for (double* spread : {&out.spread_q, &out.spread_k, &out.spread_v}) {
    *spread /= static_cast<double>(out.n_rotating);
  }
  out.ends = ends_profile(rotating);
  compare_domains(out, layers, rows);
  return out;
}

}  // namespace gyre::analyze
