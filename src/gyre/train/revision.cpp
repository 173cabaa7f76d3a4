// Apart from machine.cpp, so that the program without libtorch has it too.
#include "gyre/train/revision.h"

namespace gyre::train {

std::string build_revision() {
#ifdef GYRE_REVISION
  return GYRE_REVISION;
#else
  return "unknown";
#endif
}

}  // namespace gyre::train
