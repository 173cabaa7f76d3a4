// Time per operator of a training step, through torch's own observers, and how far each is from
// what the machine allows.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gyre/bench/record.h"

namespace gyre::bench {

/// Observes `steps` calls of `step` on this thread.
///
/// Times are self times: an operator without those it calls. Work is known for matrix products
/// (from shapes), for other operators the bytes of their tensors stand for it. gyre's own kernels
/// show up when they open a scope with their work:
///   RECORD_FUNCTION("gyre::attend", std::vector<c10::IValue>({flops, bytes}))
/// peak_gflops, gbytes_per_s   the roofline: an operator with F flops and B bytes takes at least
///                             max(F / peak, B / bandwidth)
/// returns  largest share first; the shares add up to 1
std::vector<OpShare> profile(const std::function<void()>& step, int64_t steps, double peak_gflops,
                             double gbytes_per_s);

/// "torch::autograd::CppNode<gyre::model::(anonymous namespace)::LinearNll>" -> "LinearNll".
std::string short_name(std::string name);

}  // namespace gyre::bench
