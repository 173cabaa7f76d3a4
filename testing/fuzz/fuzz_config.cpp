// The text of a config.json through the reader of `gyre inspect`.
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return gyre::fuzz::run(gyre::fuzz::read_config, data, size);
}
