#include "gyre/tensor/memory_fault.h"

#include <c10/util/Exception.h>

#include <new>
#include <string_view>

namespace gyre {

bool is_out_of_memory(const std::exception& fault) {
  if (dynamic_cast<const std::bad_alloc*>(&fault) != nullptr ||
      dynamic_cast<const c10::OutOfMemoryError*>(&fault) != nullptr) {
    return true;
  }
  const auto* error = dynamic_cast<const c10::Error*>(&fault);
  if (error == nullptr) {
    return false;
  }
  const std::string_view text = error->what_without_backtrace();
  for (const char* each :
       {"can't allocate memory", "not enough memory", "Storage size calculation overflowed",
        "numel: integer multiplication"}) {
    if (text.find(each) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace gyre
