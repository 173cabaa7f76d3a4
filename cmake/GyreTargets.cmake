# gyre_module(NAME NEEDS ...): library gyre_NAME from src/gyre/NAME, test program NAME_test.
# gyre_program(NAME NEEDS ...): the program `gyre` from src/gyre/NAME.
# Sources are globbed, so adding a scheme, a rule or a test is adding one file.
add_library(gyre_flags INTERFACE)
target_compile_features(gyre_flags INTERFACE cxx_std_20)
add_library(gyre_warnings INTERFACE)
target_compile_options(gyre_warnings INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion)
if(GYRE_WERROR)
  target_compile_options(gyre_warnings INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # What g++ guesses while it inlines at -O3 is often wrong about the standard library (GCC bug
  # 105651: -Wrestrict on `"a" + string`); the guesses stay visible but do not stop a build.
  target_compile_options(gyre_warnings INTERFACE $<$<CONFIG:Release>:-Wno-restrict>
    $<$<CONFIG:Release>:-Wno-error=array-bounds> $<$<CONFIG:Release>:-Wno-error=stringop-overflow>
    $<$<CONFIG:Release>:-Wno-error=stringop-overread>
    $<$<CONFIG:Release>:-Wno-error=maybe-uninitialized>)
endif()
if(GYRE_SANITIZE)
  if(GYRE_SANITIZE MATCHES thread)
    # GCC warns of every fence in a header of torch; those are inside torch, which is not looked at.
    target_compile_options(gyre_flags INTERFACE -Wno-tsan)
  endif()
  target_compile_options(gyre_flags INTERFACE -fsanitize=${GYRE_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(gyre_flags INTERFACE -fsanitize=${GYRE_SANITIZE})
endif()
set_target_properties(gyre_flags PROPERTIES EXPORT_NAME flags)
# Where installed programs find the wheel's libraries; the build tree has this by itself. Named here
# because CMAKE_INSTALL_RPATH_USE_LINK_PATH leaves out folders of the source tree, and .venv is one.
set(CMAKE_INSTALL_RPATH ${GYRE_TORCH_DIR}/lib)
set(GYRE_EXPORTED gyre_flags)  # every target that `cmake --install` exports

if(GYRE_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
  enable_testing()
endif()

function(gyre_sources dir out_sources out_tests)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/gyre/${dir}/*.cpp)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  set(isa ${sources})
  list(FILTER isa INCLUDE REGEX "_isa\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_isa\\.cpp$")
  set(isa_sources ${isa} PARENT_SCOPE)
  set(${out_sources} ${sources} PARENT_SCOPE)
  set(${out_tests} ${tests} PARENT_SCOPE)
endfunction()

# Loading libtorch takes 0.25 s and 110 MiB; a program that refers to nothing in it starts at once.
# libstdc++ first, or libtorch would count as used for the standard templates that it exports too.
function(gyre_load_only_what_is_used program)
  target_link_options(${program} PRIVATE -Wl,--no-as-needed,-lstdc++,--as-needed)
endfunction()

function(gyre_tests name library tests)
  if(GYRE_TESTS AND tests)
    add_executable(${name}_test ${tests})
    gyre_load_only_what_is_used(${name}_test)
    target_include_directories(${name}_test PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    target_compile_definitions(${name}_test PRIVATE
      GYRE_SOURCE_DIR="${CMAKE_CURRENT_SOURCE_DIR}" GYRE_PROGRAM="${CMAKE_BINARY_DIR}/gyre")
    target_link_libraries(${name}_test PRIVATE ${library} torch_kernels gyre_warnings
                          nlohmann_json::nlohmann_json GTest::gtest GTest::gtest_main)
    # Labels for `ctest -L`, e.g. unit-base: golden (losses per step kept in testing/golden), e2e (whole
    # runs of the program) or unit (all others), and the module.
    set(kind unit)
    if(name STREQUAL cli)
      set(kind e2e)
    endif()
    gtest_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                         TEST_FILTER "-*Golden.*" TEST_LIST ${name}_${kind}
                         PROPERTIES TIMEOUT 300 LABELS ${kind}-${name})
    gtest_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                         TEST_FILTER "*Golden.*" TEST_LIST ${name}_golden
                         PROPERTIES TIMEOUT 300 LABELS golden-${name})
  endif()
endfunction()

function(gyre_module name)
  cmake_parse_arguments(ARG "" "" "NEEDS" ${ARGN})
  gyre_sources(${name} sources tests)
  if(NOT sources)
    add_library(gyre_${name} INTERFACE)
    target_link_libraries(gyre_${name} INTERFACE gyre_flags ${ARG_NEEDS})
  else()
    add_library(gyre_${name} STATIC ${sources})
    gyre_isa_sources(gyre_${name} "${isa_sources}")
    target_include_directories(gyre_${name} PUBLIC
      $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/src> $<INSTALL_INTERFACE:include>)
    target_link_libraries(gyre_${name} PUBLIC gyre_flags ${ARG_NEEDS} torch
                          PRIVATE $<BUILD_INTERFACE:gyre_warnings>
                          $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)
  endif()
  set_target_properties(gyre_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  set(GYRE_EXPORTED ${GYRE_EXPORTED} gyre_${name} PARENT_SCOPE)
  gyre_tests(${name} gyre_${name} "${tests}")
endfunction()

# Two programs from one library: NAME-torch with every verb, and NAME, which links without libtorch
# because its main refers to nothing that needs it (src/gyre/cli/program.h).
function(gyre_program dir)
  cmake_parse_arguments(ARG "" "" "NEEDS" ${ARGN})
  gyre_sources(${dir} sources tests)
  list(FILTER sources EXCLUDE REGEX "/main(_torch)?\\.cpp$")
  add_library(gyre_${dir} STATIC ${sources})
  target_link_libraries(gyre_${dir} PUBLIC ${ARG_NEEDS} PRIVATE $<BUILD_INTERFACE:gyre_warnings>
                        $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)
  add_executable(gyre src/gyre/${dir}/main.cpp)
  gyre_load_only_what_is_used(gyre)
  add_executable(gyre-torch src/gyre/${dir}/main_torch.cpp)
  foreach(program gyre gyre-torch)
    target_link_libraries(${program} PRIVATE gyre_${dir} gyre_warnings)
  endforeach()
  target_link_libraries(gyre-torch PRIVATE torch_kernels)
  target_compile_definitions(gyre_${dir} PRIVATE GYRE_VERSION="${PROJECT_VERSION}")
  add_dependencies(gyre gyre-torch)  # it hands verbs on to the other
  gyre_tests(${dir} gyre_${dir} "${tests}")
  if(TARGET ${dir}_test)
    add_dependencies(${dir}_test gyre)  # its tests run the program
  endif()
endfunction()
