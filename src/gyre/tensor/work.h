// What a kernel did, for `gyre bench --profile`: floating-point operations and bytes that go in and
// come out. Costs nothing while nobody observes.
#pragma once

#include <ATen/record_function.h>

#include <vector>

/// Opens a scope `name` with its work until the end of the block.
#define GYRE_WORK(name, flops, bytes)                                                      \
  RECORD_FUNCTION(name, std::vector<c10::IValue>({c10::IValue(static_cast<double>(flops)), \
                                                  c10::IValue(static_cast<double>(bytes))}))
