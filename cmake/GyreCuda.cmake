# gyre_cuda_kernels: the .cu files of the tree as one static library, linked into `attention`.
# They include plain structs and CUDA alone, nothing of torch, so any torch wheel does, the CPU one
# too; to run them takes torch's CUDA wheel. docs/cuda.md.
if(NOT CMAKE_CUDA_COMPILER AND EXISTS /usr/local/cuda/bin/nvcc)
  set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc CACHE FILEPATH "CUDA compiler")
endif()
if(NOT CMAKE_CUDA_HOST_COMPILER)
  set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER} CACHE FILEPATH "host compiler of nvcc")
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80 90 CACHE STRING "GPU architectures; the last one's PTX serves newer")
endif()
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc has it
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
endif()

# The runtime is linked statically: torch's wheel brings its own, and both share the driver's context.
file(GLOB_RECURSE GYRE_CUDA_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/gyre/*.cu)
add_library(gyre_cuda_kernels STATIC ${GYRE_CUDA_SOURCES})
target_include_directories(gyre_cuda_kernels PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
target_compile_options(gyre_cuda_kernels PRIVATE --Werror=all-warnings)
set_target_properties(gyre_cuda_kernels PROPERTIES
  EXPORT_NAME cuda_kernels POSITION_INDEPENDENT_CODE ON
  CUDA_STANDARD 20 CUDA_EXTENSIONS OFF CUDA_RUNTIME_LIBRARY Static)
set(GYRE_EXPORTED ${GYRE_EXPORTED} gyre_cuda_kernels)

target_link_libraries(gyre_attention PUBLIC gyre_cuda_kernels)
target_compile_definitions(gyre_attention PRIVATE GYRE_CUDA)
