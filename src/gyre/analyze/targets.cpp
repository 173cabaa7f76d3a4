#include "gyre/analyze/targets.h"

#include <ATen/ops/zeros.h>

#include <functional>

namespace gyre::analyze {
namespace {

using Looks = std::function<bool(int64_t i, int64_t j)>;

/// Queries without any such key do not count.
Target target(int64_t length, const Looks& looks) {
  Target out;
  out.keys = at::zeros({length, length}, at::kBool);
  bool* cells = out.keys.mutable_data_ptr<bool>();
  for (int64_t i = kFirstQuery; i < length; ++i) {
    int64_t found = 0;
    for (int64_t j = 0; j <= i; ++j) {
      const bool look = looks(i, j);
      cells[i * length + j] = look;
      found += look ? 1 : 0;
    }
    out.n_queries += found > 0 ? 1.0 : 0.0;
    out.chance += static_cast<double>(found) / static_cast<double>(i + 1);
  }
  out.chance /= out.n_queries > 0.0 ? out.n_queries : 1.0;
  return out;
}

}  // namespace

Targets make_targets(const Rows& rows) {
  const int64_t T = rows.length(), R = rows.period;
  Targets out;
  out.diagonal = target(T, [](int64_t i, int64_t j) { return j == i; });
  out.previous = target(T, [](int64_t i, int64_t j) { return j == i - 1; });
  out.sink = target(T, [](int64_t, int64_t j) { return j == 0; });
  // Token i stood at i - R, i - 2R, ... too; what followed it there is one place further on. The
  // first token may be a begin token, which is not repeated.
  out.induction = target(T, [R](int64_t i, int64_t j) {
    const int64_t back = i + 1 - j;
    return back >= R && back % R == 0 && j >= 2;
  });
  for (int64_t row = 0; row < rows.n_random; ++row) {
    const at::Tensor tokens = rows.tokens[rows.first_alphabet() + row].contiguous();
    const int64_t* id = tokens.const_data_ptr<int64_t>();
    out.content.push_back(
        target(T, [id](int64_t i, int64_t j) { return j < i - 1 && id[j] == id[i]; }));
  }
  return out;
}

}  // namespace gyre::analyze
