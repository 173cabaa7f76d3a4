# The compiler's age, and faster tools where they are installed; nothing depends on them.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "g++ ${CMAKE_CXX_COMPILER_VERSION} is too old, 12 or newer is needed; "
                      "set CXX to a newer one, such as CXX=g++-12")
endif()
find_program(GYRE_CCACHE ccache)
find_program(GYRE_MOLD mold)
mark_as_advanced(GYRE_CCACHE GYRE_MOLD)
if(GYRE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${GYRE_CCACHE})
endif()
if(GYRE_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
