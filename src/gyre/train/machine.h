// What a run's figures depend on besides its options: machine, build, memory, matmul peak.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace gyre::train {

/// CPU model, logical cores, vector instruction sets, the device that computes; one line.
std::string machine_line(at::Device device = at::kCPU);

/// Returns when `device` has done all that was asked of it; at once for the CPU.
void wait_for(at::Device device);

/// Lets the allocator keep freed memory instead of handing every activation back to the system and
/// faulting its pages in again each step (6 % of a step of the tiny preset). Process-wide; verbs of
/// the program call it at their start, before tensors are made.
void keep_freed_memory();
/// After keep_freed_memory(), for a process that keeps small pieces between large tensors of
/// changing sizes: from 8 MiB on each has pages of its own, or the pieces would cut up the heap.
void map_large_memory();

/// Once: what was freed goes back to the system, as after reading a large file of JSON.
void give_back_freed_memory();

/// Largest resident size of this process so far, MiB.
double peak_rss_mib();

/// FLOP/s of a large square matmul in `dtype` on the device, or with the current thread count, best
/// of a few within about 0.1 s: the peak that MFU is a share of.
double measure_matmul_peak(at::ScalarType dtype, at::Device device = at::kCPU);

}  // namespace gyre::train
