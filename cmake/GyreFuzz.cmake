# The fuzz build (preset `fuzz`): libFuzzer targets for everything that reads files of others, with
# the address and undefined-behaviour sanitizers. clang only. None of it needs torch, so this build
# looks for no wheel and compiles only the readers. testing/fuzz/smoke_test.py builds and runs it.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  message(FATAL_ERROR "GYRE_FUZZ needs clang with libFuzzer, found ${CMAKE_CXX_COMPILER}; "
                      "install clang-16 and libclang-rt-16-dev, then set CXX=clang++-16")
endif()
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(nlohmann_json 3.11 REQUIRED)

set(GYRE_FUZZ_OPTIMIZE "-O1" CACHE STRING "-O1 for long runs; -O0 builds in half the time")
set(GYRE_FUZZ_DIR ${CMAKE_CURRENT_SOURCE_DIR}/testing/fuzz)
file(GLOB_RECURSE GYRE_FUZZ_SOURCES CONFIGURE_DEPENDS
  ${CMAKE_CURRENT_SOURCE_DIR}/src/gyre/base/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/src/gyre/tensor/*.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/src/gyre/position/*.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/src/gyre/inspect/*.cpp)
# Of the HTTP client what reads foreign bytes; the transfer itself is libcurl's.
foreach(part subject http_error http_facts http_reply http_retry_after http_sse json_logprobs json_reply
             json_value)
  list(APPEND GYRE_FUZZ_SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/src/gyre/accept/${part}.cpp)
endforeach()
list(FILTER GYRE_FUZZ_SOURCES EXCLUDE REGEX "_(test|bench)\\.cpp$")
list(FILTER GYRE_FUZZ_SOURCES EXCLUDE REGEX "/tensor/(safetensors|gguf_tensor|memory_fault)\\.cpp$")  # with torch

add_library(gyre_fuzz_readers STATIC ${GYRE_FUZZ_SOURCES})
target_include_directories(gyre_fuzz_readers PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/src)
target_link_libraries(gyre_fuzz_readers
  PUBLIC OpenSSL::Crypto Threads::Threads nlohmann_json::nlohmann_json)
target_compile_options(gyre_fuzz_readers PUBLIC ${GYRE_FUZZ_OPTIMIZE}
  -gline-tables-only -fno-omit-frame-pointer
  -fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow -fno-sanitize-recover=all)
# Half of the time of this build is parsing these.
target_precompile_headers(gyre_fuzz_readers PRIVATE <algorithm> <cmath> <filesystem> <functional>
  <map> <nlohmann/json.hpp> <optional> <string> <vector>)

# Tokenizers, but for SentencePiece's own library, which reads its files itself.
find_package(PkgConfig REQUIRED)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
file(GLOB GYRE_FUZZ_TOKENIZERS CONFIGURE_DEPENDS
  ${CMAKE_CURRENT_SOURCE_DIR}/src/gyre/model/tokenizer/*.cpp)
list(FILTER GYRE_FUZZ_TOKENIZERS EXCLUDE REGEX
  "(_test|_bench|/load_tokenizer|/sentencepiece_tokenizer|/bpe_trainer|/compare)\\.cpp$")
add_library(gyre_fuzz_tokenizers STATIC ${GYRE_FUZZ_TOKENIZERS})
target_link_libraries(gyre_fuzz_tokenizers
  PUBLIC gyre_fuzz_readers PkgConfig::PCRE2 PkgConfig::UTF8PROC)
target_compile_options(gyre_fuzz_tokenizers PRIVATE -fsanitize=fuzzer-no-link)
target_precompile_headers(gyre_fuzz_tokenizers REUSE_FROM gyre_fuzz_readers)

foreach(reader config gguf safetensors dequantize tokenizer vocabulary reply server_words sse)
  add_executable(fuzz_${reader} ${GYRE_FUZZ_DIR}/fuzz_${reader}.cpp)
  target_link_libraries(fuzz_${reader} PRIVATE
    $<IF:$<IN_LIST:${reader},tokenizer$<SEMICOLON>vocabulary>,gyre_fuzz_tokenizers,gyre_fuzz_readers>)
  target_link_options(fuzz_${reader} PRIVATE -fsanitize=fuzzer,address,undefined)
endforeach()
