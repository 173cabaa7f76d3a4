# gyre_isa_sources(target sources): compiles each *_isa.cpp once per instruction set, into a
# namespace of that name (src/gyre/base/isa.h says how one is chosen at run time).
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64|AMD64")
  set(GYRE_ISAS generic avx2 avx512 avx512_bf16)
else()
  set(GYRE_ISAS generic)
endif()
set(GYRE_ISA_generic "")
set(GYRE_ISA_avx2 -mavx2 -mfma)
set(GYRE_ISA_avx512 ${GYRE_ISA_avx2} -mavx512f -mavx512bw -mavx512vl -mavx512dq
    -mprefer-vector-width=512)
set(GYRE_ISA_avx512_bf16 ${GYRE_ISA_avx512} -mavx512bf16)

function(gyre_isa_sources target sources)
  foreach(source ${sources})
    file(RELATIVE_PATH name ${CMAKE_CURRENT_SOURCE_DIR}/src ${source})
    foreach(isa ${GYRE_ISAS})
      string(REGEX REPLACE "\\.cpp$" ".${isa}.cpp" generated ${CMAKE_CURRENT_BINARY_DIR}/isa/${name})
      file(CONFIGURE OUTPUT ${generated} CONTENT "#define GYRE_ISA ${isa}\n#include \"${name}\"\n")
      # A product and a sum become one operation; -O3 in every build type, or tests would crawl.
      set_source_files_properties(${generated} PROPERTIES COMPILE_OPTIONS
        "${GYRE_ISA_${isa}};-ffp-contract=fast;-O3;-fno-math-errno;-Wno-psabi;-Wno-shadow;-Wno-maybe-uninitialized")
      target_sources(${target} PRIVATE ${generated})
    endforeach()
  endforeach()
endfunction()
