#include "gyre/base/isa.h"

#include <atomic>
#include <cstdlib>

#include "gyre/base/error.h"
#include "gyre/base/options.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace gyre {
namespace {

constexpr Isa kLevels[] = {Isa::Generic, Isa::Avx2, Isa::Avx512, Isa::Avx512Bf16, Isa::Amx};

#if defined(__x86_64__)
// AMX needs the kernel's permission to use its tile state, once per process.
bool may_use_amx() {
#if defined(__linux__)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XTILEDATA
  // Asked of the processor: clang 16 has no name for it in __builtin_cpu_supports.
  constexpr unsigned kAmxBf16 = 1U << 22, kAmxTile = 1U << 24;  // leaf 7, EDX
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx & kAmxBf16) != 0 &&
         (edx & kAmxTile) != 0 && ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

bool can_run(Isa level) {
  switch (level) {
    case Isa::Generic:
      return true;
    case Isa::Avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case Isa::Avx512:
      return can_run(Isa::Avx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512dq");
    case Isa::Avx512Bf16:
      return can_run(Isa::Avx512) && __builtin_cpu_supports("avx512bf16");
    case Isa::Amx:
      return can_run(Isa::Avx512Bf16) && may_use_amx();
  }
  return false;
}
#else
bool can_run(Isa level) {
  return level == Isa::Generic;
}
#endif

Isa wanted() {
  const char* text = std::getenv("GYRE_KERNEL");
  if (text == nullptr || *text == '\0') {
    return best_isa();
  }
  std::string known;
  std::vector<std::string> names;
  for (const Isa level : kLevels) {
    if (std::string_view(text) == isa_name(level)) {
      if (!can_run(level)) {
        throw Error(Code::Usage, "GYRE_KERNEL=", text, ": this machine has ", isa_name(best_isa()),
                    " at most");
      }
      return level;
    }
    names.emplace_back(isa_name(level));
    known += (known.empty() ? "" : ", ") + names.back();
  }
  const std::string near = nearest_name(text, names);
  throw Error(Code::Usage, "GYRE_KERNEL=", text, " is no instruction set; ",
              near.empty() ? "" : "did you mean " + near + "? ", "known: ", known);
}

std::atomic<int> forced{-1};

}  // namespace

const char* isa_name(Isa isa) {
  switch (isa) {
    case Isa::Generic:
      return "generic";
    case Isa::Avx2:
      return "avx2";
    case Isa::Avx512:
      return "avx512";
    case Isa::Avx512Bf16:
      return "avx512_bf16";
    case Isa::Amx:
      return "amx";
  }
  return "?";
}

std::vector<Isa> usable_isas() {
  std::vector<Isa> out;
  for (const Isa level : kLevels) {
    if (can_run(level)) {
      out.push_back(level);
    }
  }
  return out;
}

Isa best_isa() {
  static const Isa best = usable_isas().back();
  return best;
}

Isa isa() {
  const int level = forced.load(std::memory_order_relaxed);
  if (level >= 0) {
    return static_cast<Isa>(level);
  }
  static const Isa chosen = wanted();
  return chosen;
}

void set_isa(Isa isa) {
  forced.store(static_cast<int>(isa), std::memory_order_relaxed);
}

}  // namespace gyre
