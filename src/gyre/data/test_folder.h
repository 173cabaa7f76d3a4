// For tests: a folder of their own that is also the cache, and files in it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/base/error.h"
#include "gyre/base/log.h"

namespace gyre::data {

class TestFolder {
 public:
  TestFolder() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::temp_directory_path() /
            str("gyre-data-", ::getpid(), "-", info->test_suite_name(), "-", info->name());
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
    ::setenv("GYRE_CACHE", (path_ / "cache").c_str(), 1);
    old_sink_ = set_log_sink([this](Level, std::string_view line) { lines.emplace_back(line); });
  }
  ~TestFolder() {
    set_log_sink(old_sink_);
    std::filesystem::remove_all(path_);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  /// Writes a file, with the folders above it, and returns its path.
  std::string write(const std::string& name, std::string_view bytes) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
    return file.string();
  }
  /// Every line that was logged, joined.
  std::string log_text() const {
    std::string all;
    for (const std::string& line : lines) {
      all += line + "\n";
    }
    return all;
  }
  std::vector<std::string> lines;

 private:
  std::filesystem::path path_;
  LogSink old_sink_;
};

/// The message of the gyre::Error that `action` throws, and its code checked.
inline std::string error_of(Code code, const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

inline void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

/// `n` bytes of lines that do not repeat.
inline std::string numbered_text(size_t n, const std::string& word = "line") {
  std::string text;
  for (int i = 0; text.size() < n; ++i) {
    text += str(word, " number ", i, " of a text\n", i % 10 == 9 ? "\n" : "");
  }
  text.resize(n);
  return text;
}

}  // namespace gyre::data
