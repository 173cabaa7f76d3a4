// A model in this process as a subject: completions with exact log-probabilities. Needs libtorch,
// so only gyre-torch may refer to it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "gyre/accept/subject.h"

namespace gyre::accept {

struct LocalOptions {
  std::filesystem::path model;  // run of gyre, Hugging Face folder, .gguf file
  std::string dtype = "fp32";   // fp32 | bf16
  int64_t chunk = 512;          // tokens of one pass of a prefill
};

std::unique_ptr<Subject> open_local(const LocalOptions& options);

}  // namespace gyre::accept
