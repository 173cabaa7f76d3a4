#include "gyre/train/machine.h"

#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace gyre::train {
namespace {

/// Value of the first line "key : value" of /proc/cpuinfo, or "".
std::string cpuinfo(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (line.starts_with(key) && colon != std::string::npos && colon + 2 <= line.size()) {
      return line.substr(colon + 2);
    }
  }
  return "";
}

}  // namespace

std::string machine_line(at::Device device) {
  const std::string model = cpuinfo("model name");
  std::istringstream words(cpuinfo("flags"));
  const std::vector<std::string> wanted = {"avx2",        "avx512f",  "avx512_bf16",
                                           "avx512_vnni", "amx_bf16", "amx_tile"};
  std::string flags;
  for (std::string word; words >> word;) {
    if (std::find(wanted.begin(), wanted.end(), word) != wanted.end()) {
      flags += " " + word;
    }
  }
  return (model.empty() ? "unknown CPU" : model) + ", " +
         std::to_string(std::thread::hardware_concurrency()) + " cores," +
         (flags.empty() ? " no vector flags known" : flags) +
         (device.is_cpu() ? "" : ", computing on " + device.str());
}

void keep_freed_memory() {
  constexpr int kTrimThreshold = 1 << 30, kTopPad = 16 << 20;
  mallopt(M_MMAP_MAX, 0);  // large tensors too come from the heap, which keeps their pages
  mallopt(M_TRIM_THRESHOLD, kTrimThreshold);
  mallopt(M_TOP_PAD, kTopPad);
}

void map_large_memory() {
  constexpr int kLarge = 8 << 20;
  mallopt(M_MMAP_THRESHOLD, kLarge);
  mallopt(M_MMAP_MAX, 1 << 16);
}

void give_back_freed_memory() {
  malloc_trim(0);
}

double peak_rss_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;  // Linux counts KiB
}

void wait_for(at::Device device) {
  if (device.is_cuda()) {
    const c10::impl::VirtualGuardImpl guard(device.type());
    guard.synchronizeStream(guard.getStream(device));
  }
}

double measure_matmul_peak(at::ScalarType dtype, at::Device device) {
  using Clock = std::chrono::steady_clock;
  const int64_t size = device.is_cpu() ? 1024 : 8192;  // enough to fill the device
  constexpr double kSeconds = 0.1;
  const c10::NoGradGuard no_grad;
  const auto options = at::TensorOptions(dtype).device(device);
  const at::Tensor a = at::ones({size, size}, options), b = at::ones({size, size}, options);
  at::mm(a, b);  // wakes threads, picks kernels
  wait_for(device);
  double best = 0.0;
  const auto begin = Clock::now();
  for (auto start = begin; std::chrono::duration<double>(start - begin).count() < kSeconds;) {
    at::mm(a, b);
    wait_for(device);
    const auto now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - start).count();
    best = std::max(best, 2.0 * static_cast<double>(size * size * size) / seconds);
    start = now;
  }
  return best;
}

}  // namespace gyre::train
