# `cmake --install DIR`: the program, and a CMake package for find_package(gyre), target gyre::gyre.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(GYRE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/gyre)

add_library(gyre_all INTERFACE)
target_link_libraries(gyre_all INTERFACE gyre_report torch_kernels)
set_target_properties(gyre_all PROPERTIES EXPORT_NAME gyre)

install(TARGETS gyre gyre-torch RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS ${GYRE_EXPORTED} gyre_all EXPORT gyre_targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION include)
install(EXPORT gyre_targets NAMESPACE gyre:: DESTINATION ${GYRE_CMAKE_DIR})
install(DIRECTORY src/gyre DESTINATION include
        FILES_MATCHING PATTERN "*.h" PATTERN "*.def"
        PATTERN cli EXCLUDE PATTERN fixtures.h EXCLUDE PATTERN "test_*.h" EXCLUDE
        PATTERN "*_testing.h" EXCLUDE)
install(FILES ${CMAKE_BINARY_DIR}/share/gyre/plotly.min.js DESTINATION share/gyre OPTIONAL)
# PyTorch's side of `gyre bench`, which looks for it there.
install(FILES bench/torch_peer.py bench/torch_train.py bench/torch_attention.py
        DESTINATION share/gyre/bench)

configure_package_config_file(cmake/gyre-config.cmake.in ${CMAKE_BINARY_DIR}/gyre-config.cmake
  INSTALL_DESTINATION ${GYRE_CMAKE_DIR})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/gyre-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/gyre-config.cmake ${CMAKE_BINARY_DIR}/gyre-config-version.cmake
              cmake/GyreTorch.cmake DESTINATION ${GYRE_CMAKE_DIR})
