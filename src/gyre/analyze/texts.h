// The texts that are analysed: five small ones of gyre's own, and files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace gyre::analyze {

struct Text {
  std::string name;    // "prose", or the file's name
  std::string source;  // "built in", or the path
  std::string content;
};

/// English prose, German, Chinese, source code, arithmetic; all written for gyre.
std::vector<Text> builtin_texts();

/// throws  Error(File) when it cannot be read
Text read_text(const std::filesystem::path& path);

}  // namespace gyre::analyze
