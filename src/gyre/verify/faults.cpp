// The list of known faults.
#include "gyre/verify/subject.h"

namespace gyre::verify {

#define GYRE_FAULT(function) Fault function();
#include "gyre/verify/faults.def"
#undef GYRE_FAULT

const std::vector<Fault>& faults() {
  static const std::vector<Fault> list = {
#define GYRE_FAULT(function) function(),
#include "gyre/verify/faults.def"
#undef GYRE_FAULT
  };
  return list;
}

}  // namespace gyre::verify
