// torch's own faults, as this torch words them.
#include "gyre/tensor/memory_fault.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <stdexcept>

namespace gyre {
namespace {

bool told(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& fault) {
    return is_out_of_memory(fault);
  }
  ADD_FAILURE() << "nothing was thrown";
  return false;
}

TEST(MemoryFault, KnowsSizesThatNoMemoryHas) {
  EXPECT_TRUE(told([] { at::empty({int64_t{1} << 61, 4}); }));
  EXPECT_TRUE(told([] { throw std::bad_alloc(); }));
}

TEST(MemoryFault, KnowsTheAllocatorsRefusal) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's allocator ends the program instead";
#else
  EXPECT_TRUE(told([] { at::empty({int64_t{1} << 50}); }));
#endif
}

TEST(MemoryFault, IsNoOtherFault) {
  EXPECT_FALSE(told([] { at::mm(at::empty({2, 3}), at::empty({2, 3})); }));
  EXPECT_FALSE(told([] { throw std::runtime_error("can't allocate memory"); }));
}

}  // namespace
}  // namespace gyre
