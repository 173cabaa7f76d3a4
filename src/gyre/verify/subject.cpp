// The operations as gyre performs them: its registry, tables, rotation and attention, and the rules
// that its cache follows.
#include "gyre/verify/subject.h"

#include <ATen/ops/tensor.h>

#include <algorithm>

#include "gyre/attention/attention.h"
#include "gyre/base/error.h"
#include "gyre/base/options.h"
#include "gyre/position/scheme.h"

namespace gyre::verify {
namespace {

at::Tensor theta_of(const position::LayerPlan& layer) {
  if (layer.inv_freq.empty() || layer.inv_freq.front().empty()) {
    return {};
  }
  std::vector<double> flat;
  for (const auto& group : layer.inv_freq) {
    flat.insert(flat.end(), group.begin(), group.end());
  }
  return at::tensor(flat, at::kDouble).view({static_cast<int64_t>(layer.inv_freq.size()), -1});
}

attention::Rotation table(const position::PositionPlan& plan, int64_t layer,
                          const std::vector<int64_t>& positions, bool exact) {
  const position::LayerPlan& one = plan.layers.at(static_cast<size_t>(layer));
  // Origin 0: keys of a cache and queries of later calls share it.
  return attention::make_rotation(theta_of(one), at::tensor(positions, at::kLong), plan.layout, one,
                                  exact ? at::kDouble : at::kFloat, 0);
}

std::vector<int64_t> count_from(int64_t first, int64_t n) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < n; ++i) {
    out.push_back(first + i);
  }
  return out;
}

std::vector<int64_t> padded(const std::vector<int64_t>& row, int64_t n_decoded) {
  std::vector<int64_t> out;
  int64_t next = 0;
  for (const int64_t token : row) {
    out.push_back(token == 0 ? 0 : next++);
  }
  for (int64_t i = 0; i < n_decoded; ++i) {
    out.push_back(next++);
  }
  return out;
}

// gyre's cache keeps every key and lets the mask choose, so that taking tokens back loses nothing.
std::vector<int64_t> rolled_back(int64_t window, int64_t n_tokens, int64_t n_back) {
  const int64_t next = n_tokens - n_back, oldest = std::max<int64_t>(0, next - window + 1);
  return count_from(oldest, next - oldest);
}

}  // namespace

Subject sound_subject() {
  Subject subject;
  subject.plan = [](const std::string& spec, const position::PlanRequest& request) {
    return position::make_plan(spec, "full", request);
  };
  subject.table = table;
  subject.rotate = [](const at::Tensor& q, const at::Tensor& k, const attention::Rotation& r) {
    return attention::rotate(q, k, r);
  };
  subject.attention = attention::attention;
  subject.chunk_positions = [](int64_t n, int64_t) { return count_from(0, n); };
  subject.cache_positions = count_from;
  subject.padded_positions = padded;
  subject.rolled_back = rolled_back;
  subject.table_length = [](const TableLengths& lengths) { return lengths.now; };
  return subject;
}

Subject faulty_subject(const std::string& name) {
  std::vector<std::string> names;
  for (const Fault& fault : faults()) {
    if (fault.name == name) {
      Subject subject = sound_subject();
      subject.fault = name;
      fault.inject(subject);
      return subject;
    }
    names.push_back(fault.name);
  }
  const std::string near = nearest_name(name, names);
  throw Error(Code::Usage, "no fault '", name, "'",
              near.empty() ? "; see: gyre verify --list" : "; did you mean '" + near + "'?");
}

}  // namespace gyre::verify
