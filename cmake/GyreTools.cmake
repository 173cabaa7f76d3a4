# The compiler's age, and faster tools where they are installed; nothing depends on them.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "g++ ${CMAKE_CXX_COMPILER_VERSION} is too old, 12 or newer is needed; "
                      "set CXX to a newer one, such as CXX=g++-12")
endif()
# A newer compiler has newer warnings; those must not keep anyone from running gyre.
set(GYRE_TESTED_COMPILER OFF)
if((CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13) OR
   (CMAKE_CXX_COMPILER_ID STREQUAL Clang AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 17))
  set(GYRE_TESTED_COMPILER ON)
endif()
option(GYRE_WERROR "Treat warnings in gyre's own sources as errors" ${GYRE_TESTED_COMPILER})

find_program(GYRE_CCACHE ccache)
mark_as_advanced(GYRE_CCACHE)
if(GYRE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${GYRE_CCACHE})
endif()
# No mold: version 1.10 can place torch's thread-local byte so that the program does not start
# ("cannot apply additional memory protection after relocation").
