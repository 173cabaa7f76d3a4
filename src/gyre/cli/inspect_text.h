// gyre inspect --text FILE A B: two models' tokenizers on one text.
#pragma once

#include <functional>
#include <string>

#include "gyre/cli/verb.h"

namespace gyre::cli {

/// Bits per byte of a text under the model at a path. gyre-torch says how, at start; gyre cannot.
using TextLoss = std::function<double(const std::string& model, const std::string& text)>;
void use_text_loss(TextLoss loss);

/// `with_loss`: also run both models over the text. Prints and writes the comparison; exit code 0
/// when both give the same ids, else 1.
int inspect_text(const std::string& a, const std::string& b, const std::string& text_file,
                 bool with_loss, const CommonOptions& common);

}  // namespace gyre::cli
