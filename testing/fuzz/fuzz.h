// What every fuzz target, and hostile_files_test.cpp, does with some bytes: read them, then all
// that `gyre inspect` does with the result. Error with one line of text is the only way out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "gyre/base/error.h"
#include "gyre/inspect/header_readers.h"
#include "gyre/inspect/inspect.h"
#include "gyre/inspect/lint/rule.h"

namespace gyre::fuzz {

using Read = inspect::ResolvedModel (*)(std::span<const std::byte> bytes);

inline inspect::ResolvedModel read_gguf(std::span<const std::byte> bytes) {
  return inspect::resolve_gguf(tensor::GgufFile(bytes, "input"), "input");
}
inline inspect::ResolvedModel read_safetensors(std::span<const std::byte> bytes) {
  return inspect::resolve_safetensors(tensor::SafetensorsHeader(bytes, "input"), "input");
}
inline inspect::ResolvedModel read_config(std::span<const std::byte> bytes) {
  return inspect::resolve_config({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                                 "input");
}

/// What is wrong with how the bytes were taken; "" = nothing. Other exceptions leave it.
inline std::string fault_of(Read read, std::span<const std::byte> bytes) {
  try {
    const inspect::ResolvedModel model = read(bytes);
    const auto findings = inspect::lint(model);
    if (inspect::to_json(model, findings).empty() || inspect::describe(model, findings).empty()) {
      return "nothing to print";
    }
    const auto differences = inspect::diff(model, model);
    return differences.empty() ? "" : "differs from itself: " + differences.front().message;
  } catch (const Error& error) {
    const std::string text = error.what();
    if (text.empty() || text.find('\n') != std::string::npos) {
      return "the error is not one line: '" + text + "'";
    }
    return error.code() == Code::Format ? "" : "the error is no Error(Format): " + text;
  }
}

inline int run(Read read, const uint8_t* data, size_t size) {
  if (const std::string fault = fault_of(read, std::as_bytes(std::span(data, size)));
      !fault.empty()) {
    std::fprintf(stderr, "%s\n", fault.c_str());
    std::abort();
  }
  return 0;
}

}  // namespace gyre::fuzz
