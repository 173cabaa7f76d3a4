#include "gyre/attention/cuda/backend.h"

#include <c10/core/impl/VirtualGuardImpl.h>

namespace gyre::attention::cuda {

#ifdef GYRE_CUDA
bool built() {
  return true;
}

const Backend& cuda_backend() {
  static const Backend backend{&device_kernels(), &torch_flash()};
  return backend;
}
#else
bool built() {
  return false;
}

const Backend& cuda_backend() {
  C10_THROW_ERROR(
      NotImplementedError,
      "attention: the tensors are on a cuda device, but gyre was built without the cuda "
      "preset; build it with: cmake --preset cuda && cmake --build --preset cuda "
      "(docs/cuda.md), or use --device cpu");
}
#endif

// Through torch's device registry, which the headers of the CPU wheel have too.
void* stream_of(const at::Tensor& x) {
  if (!x.is_cuda()) {
    return nullptr;
  }
  const c10::impl::VirtualGuardImpl guard(c10::DeviceType::CUDA);
  return guard.getStream(x.device()).native_handle();
}

}  // namespace gyre::attention::cuda
