// What the machine can do, measured in the run whose figures are compared with it.
#pragma once

#include <ATen/core/Tensor.h>

#include "gyre/bench/record.h"

namespace gyre::bench {

/// Waits until everything given to the device is done; nothing to do on a CPU.
void synchronize(at::Device device);

/// CPU, kernel level, torch, threads and revision; measures nothing.
Machine describe_machine();

/// Largest resident size of this process, MiB. VmHWM, not ru_maxrss: the latter starts at the size
/// of the process that started this one.
double peak_resident_mib();

/// Memory that the system could give out now, MiB.
double available_mib();

/// Best GFLOP/s of square matmuls seen so far; measure() is called between the rounds of a
/// benchmark, so that peak and step meet the same clock.
class MatmulPeak {
 public:
  /// quick: one small size only.
  MatmulPeak(at::ScalarType dtype, at::Device device, bool quick)
      : dtype_(dtype), device_(device), quick_(quick) {}
  void measure();
  double gflops() const { return gflops_; }

 private:
  at::ScalarType dtype_;
  at::Device device_;
  bool quick_;
  double gflops_ = 0.0;
};

/// GB/s read and written by a copy much larger than the caches, best of a few.
double measure_bandwidth(at::Device device, bool quick);

}  // namespace gyre::bench
