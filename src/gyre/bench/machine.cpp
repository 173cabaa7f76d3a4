#include "gyre/bench/machine.h"

#include <ATen/Parallel.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/headeronly/version.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <sstream>

#include "gyre/base/isa.h"
#include "gyre/train/machine.h"
#include "gyre/train/revision.h"

namespace gyre::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// "VmHWM:   12345 kB" -> MiB; NaN when the file has no such line.
double kib_line(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key + ":")) {
      return std::stod(line.substr(key.size() + 1)) / 1024.0;
    }
  }
  return kUnknown;
}

}  // namespace

void synchronize(at::Device device) {
  if (!device.is_cpu()) {
    const c10::impl::VirtualGuardImpl guard(device.type());
    guard.synchronizeDevice(device.has_index() ? device.index() : guard.getDevice().index());
  }
}

Machine describe_machine() {
  Machine out;
  out.cpu = train::machine_line();
  out.isa = isa_name(isa());
  out.torch = TORCH_VERSION;
  out.build_revision = train::build_revision();
  out.threads = at::get_num_threads();
  return out;
}

double peak_resident_mib() {
  return kib_line("/proc/self/status", "VmHWM");
}

double available_mib() {
  return kib_line("/proc/meminfo", "MemAvailable");
}

void MatmulPeak::measure() {
  constexpr double kSeconds = 0.15;  // per size
  const c10::NoGradGuard no_grad;
  for (const int64_t n : quick_ ? std::vector<int64_t>{256} : std::vector<int64_t>{1024, 2048}) {
    const auto options = at::TensorOptions(dtype_).device(device_);
    const at::Tensor a = at::ones({n, n}, options), b = at::ones({n, n}, options);
    at::mm(a, b);  // wakes threads, picks kernels
    synchronize(device_);
    const double flops = 2.0 * static_cast<double>(n * n * n);
    const auto begin = Clock::now();
    do {
      const auto start = Clock::now();
      at::mm(a, b);
      synchronize(device_);
      gflops_ = std::max(gflops_, flops / seconds_since(start) / 1e9);
    } while (!quick_ && seconds_since(begin) < kSeconds);
  }
}

double measure_bandwidth(at::Device device, bool quick) {
  const int64_t n_floats = quick ? 1 << 16 : 1 << 26;  // 256 MiB
  const c10::NoGradGuard no_grad;
  const at::Tensor from = at::ones({n_floats}, at::TensorOptions(at::kFloat).device(device));
  at::Tensor to = at::zeros_like(from);
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < (quick ? 1 : 8); ++i) {
    const auto start = Clock::now();
    to.copy_(from);
    synchronize(device);
    best = std::min(best, seconds_since(start));
  }
  return 2.0 * static_cast<double>(n_floats) * sizeof(float) / best / 1e9;
}

}  // namespace gyre::bench
