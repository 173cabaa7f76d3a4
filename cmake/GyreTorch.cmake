# gyre_torch_target(DIR): imported targets `torch` and `torch_kernels` from the folder of an installed torch wheel.
# Used instead of the wheel's TorchConfig.cmake, which asks for a whole CUDA toolkit (nvcc) when the
# wheel is the CUDA build; gyre needs only the wheel's own libraries. Also installed, for consumers.
function(gyre_torch_target dir)
  if(TARGET torch)
    return()
  endif()
  set(lib ${dir}/lib)
  foreach(needed ${lib}/libtorch_cpu.so ${lib}/libc10.so ${dir}/include/ATen/core/Tensor.h)
    if(NOT EXISTS ${needed})
      message(FATAL_ERROR "${needed} is missing: ${dir} is no complete torch 2.13 for Linux")
    endif()
  endforeach()
  # The OpenMP runtime torch itself uses: a second one would mean two thread pools.
  file(GLOB gomp ${lib}/libgomp*.so* ${dir}/../torch.libs/libgomp*.so*)
  add_library(torch INTERFACE IMPORTED GLOBAL)
  target_include_directories(torch SYSTEM INTERFACE
    ${dir}/include ${dir}/include/torch/csrc/api/include)
  # Without -fopenmp at::parallel_for, a template, would run on one thread.
  target_compile_options(torch INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fopenmp>)
  target_link_libraries(torch INTERFACE ${lib}/libtorch_cpu.so ${lib}/libc10.so ${gomp})
  # For programs, beside torch: nothing refers to it by symbol; loading it registers the CUDA kernels.
  add_library(torch_kernels INTERFACE IMPORTED GLOBAL)
  if(EXISTS ${lib}/libtorch_cuda.so)
    target_link_libraries(torch_kernels INTERFACE
      "-Wl,--push-state,--no-as-needed,\"${lib}/libtorch_cuda.so\",--pop-state")
  endif()
endfunction()

# gyre_torch_dir(PYTHON OUT): folder and version (OUT_VERSION) of PYTHON's torch, not importing it.
function(gyre_torch_dir python out)
  execute_process(
    COMMAND ${python} -c "import importlib.metadata as m, importlib.util as u
print(u.find_spec('torch').submodule_search_locations[0], m.version('torch'), sep='|')"
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
  if(failed OR NOT found MATCHES "^(.+)\\|(2\\.13\\..*)$")
    message(FATAL_ERROR "${python} has no torch 2.13 (found: '${found}'); "
                        "install it with: ${python} -m pip install torch==2.13.0")
  endif()
  set(${out} ${CMAKE_MATCH_1} PARENT_SCOPE)
  set(${out}_VERSION ${CMAKE_MATCH_2} PARENT_SCOPE)
endfunction()
