# Run at build time by GyreRevision.cmake: writes HEADER when the revision of SOURCE has changed.
# safe.directory: root may build a checkout that belongs to someone else.
execute_process(
  COMMAND git -c safe.directory=* -C ${SOURCE} describe --always --dirty --abbrev=12
  OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
if(failed)
  set(revision unknown)
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define GYRE_REVISION \"${revision}\"\n")
