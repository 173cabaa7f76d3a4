# Finds what gyre links: libtorch from the active Python, everything else from the system.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(ZLIB REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
pkg_check_modules(SENTENCEPIECE REQUIRED IMPORTED_TARGET sentencepiece)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)

if(NOT GYRE_PYTHON)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(GYRE_PYTHON ${Python3_EXECUTABLE} CACHE FILEPATH "Python whose torch wheel is linked")
endif()
execute_process(COMMAND ${GYRE_PYTHON} -c "import torch; print(torch.utils.cmake_prefix_path)"
                OUTPUT_VARIABLE GYRE_TORCH_PREFIX OUTPUT_STRIP_TRAILING_WHITESPACE
                RESULT_VARIABLE GYRE_TORCH_RESULT ERROR_QUIET)
if(GYRE_TORCH_RESULT)
  message(FATAL_ERROR "no torch in ${GYRE_PYTHON}; install it with: ${GYRE_PYTHON} -m pip install torch==2.13.0")
endif()
list(APPEND CMAKE_PREFIX_PATH ${GYRE_TORCH_PREFIX})
find_package(Torch 2.13 REQUIRED)
