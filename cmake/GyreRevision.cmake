# GYRE_REVISION for the run record: `git describe` at each build, not at configure time, kept in a
# header that changes only when the revision does, so that one file is compiled anew.
set(GYRE_REVISION_HEADER ${CMAKE_BINARY_DIR}/generated/gyre_revision.h)
set(GYRE_REVISION_USER ${CMAKE_CURRENT_SOURCE_DIR}/src/gyre/train/revision.cpp)
if(EXISTS ${GYRE_REVISION_USER})
  add_custom_target(gyre_revision
    COMMAND ${CMAKE_COMMAND} -D HEADER=${GYRE_REVISION_HEADER} -D SOURCE=${CMAKE_CURRENT_SOURCE_DIR}
            -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/write_revision.cmake
    BYPRODUCTS ${GYRE_REVISION_HEADER} VERBATIM)
  add_dependencies(gyre_train gyre_revision)
  set_source_files_properties(${GYRE_REVISION_USER} PROPERTIES
    COMPILE_OPTIONS "-include;${GYRE_REVISION_HEADER}" OBJECT_DEPENDS ${GYRE_REVISION_HEADER})
endif()
