#include "gyre/bench/profile.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>

namespace gyre::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLeastShare = 0.001;  // below it a rate is that of the observer, not the operator

struct Sum {
  int64_t calls = 0;
  double ms = 0.0, flops = 0.0, bytes = 0.0;
};

struct Open {
  std::string name;
  Clock::time_point start;
  double inside_ms = 0.0;  // of the operators it called
  double flops = 0.0, bytes = 0.0;
};

// Observers are plain functions, so what they fill is per thread.
thread_local std::vector<Open> t_open;
thread_local std::map<std::string, Sum> t_sums;

double bytes_of(const c10::IValue& value) {
  if (value.isTensor() && value.toTensor().defined()) {
    return static_cast<double>(value.toTensor().numel() * value.toTensor().element_size());
  }
  double sum = 0.0;
  if (value.isTensorList()) {
    for (const at::Tensor& each : value.toTensorVector()) {
      sum += each.defined() ? static_cast<double>(each.numel() * each.element_size()) : 0.0;
    }
  }
  return sum;
}

/// Multiply-adds count two; [.., M, K] x [.., K, N].
double product_flops(const at::Tensor& a, const at::Tensor& b) {
  if (a.dim() < 2 || b.dim() < 2) {
    return 0.0;
  }
  return 2.0 * static_cast<double>(a.numel()) * static_cast<double>(b.size(-1));
}

double flops_of(const std::string& name, c10::ArrayRef<const c10::IValue> inputs) {
  const bool plain = name == "aten::mm" || name == "aten::bmm";
  const bool added = name == "aten::addmm" || name == "aten::baddbmm";
  const size_t first = added ? 1 : 0;
  if ((!plain && !added) || inputs.size() < first + 2 || !inputs[first].isTensor() ||
      !inputs[first + 1].isTensor()) {
    return 0.0;
  }
  return product_flops(inputs[first].toTensor(), inputs[first + 1].toTensor());
}

std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& function) {
  Open open;
  open.name = short_name(function.name());
  if (function.scope() == at::RecordScope::BACKWARD_FUNCTION) {
    open.name += ", own part of backward";
  }
  const auto inputs = function.inputs();
  if (open.name.starts_with("gyre::") && inputs.size() == 2) {
    const auto number = [&](size_t i) {
      return inputs[i].isInt() ? static_cast<double>(inputs[i].toInt()) : inputs[i].toDouble();
    };
    open.flops = number(0);
    open.bytes = number(1);
  } else {
    open.flops = flops_of(open.name, inputs);
    for (const c10::IValue& each : inputs) {
      open.bytes += bytes_of(each);
    }
  }
  open.start = Clock::now();
  t_open.push_back(std::move(open));
  return nullptr;
}

void on_end(const at::RecordFunction& function, at::ObserverContext*) {
  if (t_open.empty()) {
    return;
  }
  Open open = std::move(t_open.back());
  t_open.pop_back();
  const double ms = std::chrono::duration<double, std::milli>(Clock::now() - open.start).count();
  if (open.inside_ms > 0.0 && open.flops == 0.0) {
    open.bytes = 0.0;  // it passed its tensors on to others, which count them
  } else if (!open.name.starts_with("gyre::")) {
    for (const c10::IValue& each : function.outputs()) {
      open.bytes += bytes_of(each);
    }
  }
  if (!t_open.empty()) {
    t_open.back().inside_ms += ms;
  }
  Sum& sum = t_sums[open.name];
  ++sum.calls;
  sum.ms += ms - open.inside_ms;
  sum.flops += open.flops;
  sum.bytes += open.bytes;
}

class Observing {
 public:
  Observing() {
    t_open.clear();
    t_sums.clear();
    handle_ = at::addThreadLocalCallback(
        at::RecordFunctionCallback(on_start, on_end)
            .needsInputs(true)
            .needsOutputs(true)
            .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION,
                     at::RecordScope::USER_SCOPE}));
  }
  ~Observing() { at::removeCallback(handle_); }
  Observing(const Observing&) = delete;
  Observing& operator=(const Observing&) = delete;

 private:
  at::CallbackHandle handle_ = 0;
};

/// Scopes and backward nodes only hold other operators together: what they move is counted there.
bool only_a_scope(const std::string& name) {
  return !name.starts_with("aten::") && !name.starts_with("gyre::");
}

}  // namespace

std::string short_name(std::string name) {
  constexpr std::string_view kNode = "torch::autograd::CppNode<";
  if (name.starts_with(kNode)) {
    name = name.substr(kNode.size(), name.size() - kNode.size() - 1);
    name = name.substr(name.rfind("::") == std::string::npos ? 0 : name.rfind("::") + 2);
  }
  for (const std::string_view prefix :
       {"autograd::engine::evaluate_function: ", "torch::autograd::"}) {
    if (name.starts_with(prefix)) {
      name = name.substr(prefix.size());
    }
  }
  return name;
}

std::vector<OpShare> profile(const std::function<void()>& step, int64_t steps, double peak_gflops,
                             double gbytes_per_s) {
  {
    const Observing observing;
    for (int64_t i = 0; i < steps; ++i) {
      step();
    }
  }
  const double total = std::accumulate(t_sums.begin(), t_sums.end(), 0.0,
                                       [](double a, const auto& b) { return a + b.second.ms; });
  std::vector<OpShare> out;
  for (const auto& [name, sum] : t_sums) {
    OpShare op;
    op.name = name;
    op.calls = static_cast<double>(sum.calls) / static_cast<double>(steps);
    op.ms = sum.ms / static_cast<double>(steps);
    op.share = sum.ms / total;
    if (!only_a_scope(name) && op.share > kLeastShare) {
      op.gflops = sum.flops / sum.ms / 1e6;
      op.gbytes_per_s = sum.bytes / sum.ms / 1e6;
      op.roofline = std::max(op.gflops / peak_gflops, op.gbytes_per_s / gbytes_per_s);
    }
    out.push_back(std::move(op));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const OpShare& a, const OpShare& b) { return a.ms > b.ms; });
  return out;
}

}  // namespace gyre::bench
