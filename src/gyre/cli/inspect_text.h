// gyre inspect --text FILE A B: two models' tokenizers on one text.
#pragma once

#include <string>

#include "gyre/cli/verb.h"

namespace gyre::cli {

/// Prints and writes the comparison; exit code 0 when both give the same ids, else 1.
int inspect_text(const std::string& a, const std::string& b, const std::string& text_file,
                 const CommonOptions& common);

}  // namespace gyre::cli
