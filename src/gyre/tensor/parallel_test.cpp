// parallel_for: every index once, faults come out, loops within loops run on one thread.
#include "gyre/tensor/parallel.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace gyre {
namespace {

/// Threads for one test; the others keep what they had.
class Threads {
 public:
  explicit Threads(int n) : before_(at::get_num_threads()) { at::set_num_threads(n); }
  ~Threads() { at::set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

TEST(ParallelFor, CallsEveryIndexOnce) {
  for (const int n_threads : {1, 2, 3}) {
    const Threads threads(n_threads);
    for (const int64_t n : {0, 1, 2, 5, 100}) {
      for (const int64_t grain : {0, 1, 3, 1000}) {
        std::vector<int> calls(static_cast<size_t>(n) + 7, 0);
        parallel_for(7, 7 + n, grain, [&](int64_t first, int64_t last) {
          for (int64_t i = first; i < last; ++i) {
            ++calls[static_cast<size_t>(i)];
          }
        });
        for (size_t i = 0; i < calls.size(); ++i) {
          ASSERT_EQ(calls[i], i < 7 ? 0 : 1) << n_threads << " " << n << " " << grain << " " << i;
        }
      }
    }
  }
}

TEST(ParallelFor, UsesTheThreadsItWasGiven) {
  const Threads threads(2);
  std::vector<int> owner(2, -1);
  parallel_for(0, 2, 1, [&](int64_t first, int64_t last) {
    EXPECT_EQ(last - first, 1);
    EXPECT_TRUE(at::in_parallel_region());
    owner[static_cast<size_t>(first)] = at::get_thread_num();
  });
  EXPECT_EQ(owner, (std::vector<int>{0, 1}));
}

TEST(ParallelFor, ThrowsWhatWasThrownInside) {
  const Threads threads(2);
  const auto throws_at = [](int64_t where) {
    parallel_for(0, 2, 1, [&](int64_t first, int64_t last) {
      if (first <= where && where < last) {
        throw std::runtime_error("thrown inside");
      }
    });
  };
  for (const int64_t where : {0, 1}) {
    try {
      throws_at(where);
      ADD_FAILURE() << "nothing was thrown at " << where;
    } catch (const std::runtime_error& fault) {
      EXPECT_STREQ(fault.what(), "thrown inside");
    }
  }
}

TEST(ParallelFor, InsideAnotherRunsOnItsThread) {
  const Threads threads(2);
  std::vector<int> n_calls(2, 0);
  parallel_for(0, 2, 1, [&](int64_t outer, int64_t) {
    parallel_for(0, 10, 1, [&](int64_t first, int64_t last) {
      EXPECT_EQ(last - first, 10);
      ++n_calls[static_cast<size_t>(outer)];
    });
  });
  EXPECT_EQ(n_calls, (std::vector<int>{1, 1}));
}

// What one thread writes is read by the other after the loop, in the next one and by free(): in the
// preset `tsan` a report fails the program.
TEST(ParallelFor, LoopsFollowEachOther) {
  const Threads threads(2);
  for (int round = 0; round < 20; ++round) {
    std::vector<int64_t> values(100, round);
    for (int loop = 0; loop < 2; ++loop) {
      parallel_for(0, 100, 1, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {  // the mirrored value: of the other thread
          const auto from = static_cast<size_t>(99 - i);
          values[static_cast<size_t>(i)] = loop == 0 ? i : static_cast<int64_t>(from);
        }
      });
    }
    EXPECT_EQ(values[3], 96);
  }
}

#ifdef __SANITIZE_THREAD__
int shared_count = 0;

// The set-up can fail: two threads that write one variable are reported, suppressions or not.
TEST(ParallelForDeathTest, ARaceIsReported) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto race = [] {
    const Threads threads(2);
    for (int round = 0; round < 20; ++round) {
      parallel_for(0, 2, 1,
                   [](int64_t first, int64_t) { shared_count += static_cast<int>(first); });
    }
    std::exit(0);  // the sanitizer makes it 66 when it has reported something
  };
  EXPECT_EXIT(race(), testing::ExitedWithCode(66), "data race");
}
#endif

}  // namespace
}  // namespace gyre
