// Fixtures for the evaluation's tests: token streams in unique temporary files.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "gyre/base/error.h"
#include "gyre/base/rng.h"
#include "gyre/data/dataset.h"

namespace gyre::evaluate::testing {

/// A folder of its own per test, removed at the end.
class TempFolder {
 public:
  explicit TempFolder(const std::string& name)
      : path(std::filesystem::temp_directory_path() / str("gyre-", name, "-", ::getpid())) {
    std::filesystem::create_directories(path);
  }
  ~TempFolder() { std::filesystem::remove_all(path); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::filesystem::path path;
};

/// Bare uint16 tokens, nanoGPT's form.
inline std::shared_ptr<data::TokenStream> make_stream(const std::filesystem::path& file,
                                                      const std::vector<uint16_t>& tokens) {
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(tokens.data()),
            static_cast<std::streamsize>(2 * tokens.size()));
  out.close();
  return std::make_shared<data::TokenStream>(MappedFile(file), 0,
                                             static_cast<int64_t>(tokens.size()));
}

inline std::vector<uint16_t> random_tokens(size_t n, uint64_t vocab) {
  Rng rng(7, "evaluate/tokens");
  std::vector<uint16_t> tokens(n);
  for (uint16_t& token : tokens) {
    token = static_cast<uint16_t>(rng.below(vocab));
  }
  return tokens;
}

inline std::vector<uint16_t> counting_tokens(size_t n) {
  std::vector<uint16_t> tokens(n);
  for (size_t i = 0; i < n; ++i) {
    tokens[i] = static_cast<uint16_t>(i);
  }
  return tokens;
}

}  // namespace gyre::evaluate::testing
