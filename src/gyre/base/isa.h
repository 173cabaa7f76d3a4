// Which instruction set the CPU kernels use: chosen once from the machine, GYRE_KERNEL forces one.
//
// A source named *_isa.cpp is compiled once per level into a namespace of that level's name (see
// cmake/GyreIsa.cmake). It includes plain structs and base/simd.h only, never a header with inline
// functions: the linker would keep one copy of those, maybe that of a level the machine lacks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gyre {

/// Each level includes those before it. Amx uses the kernels of Avx512Bf16 and torch's AMX tiles.
enum class Isa { Generic, Avx2, Avx512, Avx512Bf16, Amx };

/// "generic", "avx2", "avx512", "avx512_bf16", "amx".
const char* isa_name(Isa isa);

/// The best level of this machine, and every level it can run.
Isa best_isa();
std::vector<Isa> usable_isas();

/// The level in force: best_isa(), or the one GYRE_KERNEL names. throws Error(Usage) when
/// GYRE_KERNEL is no level's name, or one that this machine cannot run.
Isa isa();
/// Forces a level that the machine can run; for tests and benchmarks.
void set_isa(Isa isa);

}  // namespace gyre

/// Declares `const Table& function()` of every level and gyre::function(), which is that of isa().
#if defined(__x86_64__)
#define GYRE_PER_ISA(Table, function)   \
  namespace generic {                   \
  const Table& function();              \
  }                                     \
  namespace avx2 {                      \
  const Table& function();              \
  }                                     \
  namespace avx512 {                    \
  const Table& function();              \
  }                                     \
  namespace avx512_bf16 {               \
  const Table& function();              \
  }                                     \
  inline const Table& function() {      \
    switch (::gyre::isa()) {            \
      case ::gyre::Isa::Generic:        \
        return generic::function();     \
      case ::gyre::Isa::Avx2:           \
        return avx2::function();        \
      case ::gyre::Isa::Avx512:         \
        return avx512::function();      \
      default:                          \
        return avx512_bf16::function(); \
    }                                   \
  }
#else
#define GYRE_PER_ISA(Table, function) \
  namespace generic {                 \
  const Table& function();            \
  }                                   \
  inline const Table& function() {    \
    return generic::function();       \
  }
#endif
