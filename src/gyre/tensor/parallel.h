// gyre::parallel_for: at::parallel_for, in a form that the thread sanitizer can follow. Everything
// here that runs on several threads goes through it.
#pragma once

#include <ATen/Parallel.h>

#ifdef __SANITIZE_THREAD__
#include <omp.h>

#include <algorithm>
#include <exception>
#include <vector>

// NOLINTBEGIN(bugprone-reserved-identifier): names of the sanitizer's runtime
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
// NOLINTEND(bugprone-reserved-identifier)
#endif

namespace gyre {
#ifdef __SANITIZE_THREAD__
namespace watched {

/// One parallel loop, cut as at::parallel_for cuts it.
template <class F>
struct Loop {
  int64_t begin, end, grain;
  const F& f;
  std::vector<std::exception_ptr> faults;  // by thread

  [[gnu::noinline]] void run(int64_t thread, int64_t n_threads) {
    const int64_t n = end - begin;
    const int64_t n_pieces = std::min(n_threads, (n + grain - 1) / grain);
    const int64_t size = (n + n_pieces - 1) / n_pieces, first = begin + thread * size;
    if (first >= end) {
      return;
    }
    try {
      const at::internal::ThreadIdGuard id(static_cast<int>(thread));
      const c10::ParallelGuard inside(true);
      f(first, std::min(end, first + size));
    } catch (...) {
      faults[static_cast<size_t>(thread)] = std::current_exception();
    }
  }
};

/// GCC's OpenMP runtime is not instrumented, so the sanitizer would see neither that a thread
/// starts after what came before the loop nor that the loop ends after every thread: both are told
/// here. The region itself is not looked at, since its arguments lie on a stack of which the
/// runtime alone knows when it is read; the loop's body is a function of its own and is looked at.
template <class F>
[[gnu::noinline, gnu::no_sanitize("thread")]] void run(Loop<F>& loop) {
  char fork = 0, join = 0;
  __tsan_release(&fork);
#pragma omp parallel
  {
    __tsan_acquire(&fork);
    loop.run(omp_get_thread_num(), omp_get_num_threads());
    __tsan_release(&join);
  }
  __tsan_acquire(&join);
}

}  // namespace watched
#endif

/// Calls f(first, last) on pieces that together are [begin, end), each of at least `grain` indices
/// but for the last, on torch's threads. The first exception is thrown again here. Within another
/// such loop, and for n <= grain, f runs once on this thread.
template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain, const F& f) {
#ifdef __SANITIZE_THREAD__
  at::internal::lazy_init_num_threads();
  const int64_t n_threads = at::get_num_threads();
  if (end - begin > std::max<int64_t>(grain, 1) && !at::in_parallel_region() && n_threads > 1) {
    watched::Loop<F> loop{begin, end, std::max<int64_t>(grain, 1), f, {}};
    loop.faults.resize(static_cast<size_t>(n_threads));
    watched::run(loop);
    for (const std::exception_ptr& fault : loop.faults) {
      if (fault) {
        std::rethrow_exception(fault);
      }
    }
    return;
  }
#endif
  at::parallel_for(begin, end, grain, f);
}

}  // namespace gyre
