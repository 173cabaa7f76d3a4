# Finds what gyre links: libtorch from a Python's wheel, everything else from the system.
# docs/dependencies.md says what each is for; cmake/gyre-config.cmake.in repeats the linked ones.
include(GyreTorch)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(ZLIB REQUIRED)
find_package(CURL 7.80 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
pkg_check_modules(SENTENCEPIECE REQUIRED IMPORTED_TARGET sentencepiece)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)

if(NOT GYRE_PYTHON)
  find_package(Python3 3.10 REQUIRED COMPONENTS Interpreter)
  set(GYRE_PYTHON ${Python3_EXECUTABLE} CACHE FILEPATH "Python whose torch wheel is linked" FORCE)
endif()
gyre_torch_dir(${GYRE_PYTHON} GYRE_TORCH_DIR)
message(STATUS "torch ${GYRE_TORCH_DIR_VERSION} in ${GYRE_TORCH_DIR}")
gyre_torch_target(${GYRE_TORCH_DIR})

# The report's charting script: program and tests look for it in share/gyre beside themselves.
set(GYRE_PLOTLY_FOUND ${GYRE_PLOTLY_JS})
if(NOT GYRE_PLOTLY_FOUND)
  execute_process(
    COMMAND ${GYRE_PYTHON} -c "import importlib.util as u
print(u.find_spec('plotly').submodule_search_locations[0])"
    OUTPUT_VARIABLE GYRE_PLOTLY_DIR OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(GYRE_PLOTLY_FOUND ${GYRE_PLOTLY_DIR}/package_data/plotly.min.js)
endif()
if(EXISTS ${GYRE_PLOTLY_FOUND})
  configure_file(${GYRE_PLOTLY_FOUND} ${CMAKE_BINARY_DIR}/share/gyre/plotly.min.js COPYONLY)
else()
  message(WARNING "no plotly.min.js, so reports cannot be written: set GYRE_PLOTLY_JS, or install it "
                  "with: ${GYRE_PYTHON} -m pip install --no-deps plotly")
endif()
