// Files to documents: a text file is one, a line of JSON lines is one.
#pragma once

#include <string>
#include <vector>

#include "gyre/data/sources.h"

namespace gyre::data {

struct Document {
  std::string text;
  std::string sha256;  // of the text
};

/// Reads every document of text and JSON-lines sources, in order. What is left out (empty
/// documents, binary files in folders) is logged with its count.
/// throws Error(Format): empty file, NUL or invalid UTF-8 (with its offset), bad line (with its
/// number), missing field, or a file that changed since it was hashed.
std::vector<Document> read_documents(const std::vector<Source>& sources, const std::string& field);

}  // namespace gyre::data
