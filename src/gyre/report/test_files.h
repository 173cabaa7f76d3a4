// For the tests of this folder: a private copy of the fixture, changed at will, and its report.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include <gtest/gtest.h>

#include "gyre/base/files.h"
#include "gyre/report/report.h"

namespace gyre::report {

using Json = nlohmann::ordered_json;

inline Json fixture() {
  return Json::parse(
      read_file(std::filesystem::path(GYRE_SOURCE_DIR) / "testing/fixtures/compare/compare.json"));
}

/// A folder of its own per process and test, gone at the end. The charting library is a stub of a
/// few bytes unless the build put the real one beside the test program.
class ReportFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    dir_ = std::filesystem::temp_directory_path() /
           ("gyre-report-" + std::to_string(::getpid()) + "-" + info->name());
    std::filesystem::create_directories(dir_);
    write_file_atomic(dir_ / "stub.js", "window.Plotly = {};");
    ::setenv("GYRE_PLOTLY_JS", (dir_ / "stub.js").c_str(), 1);
  }
  void TearDown() override {
    std::filesystem::remove_all(dir_);
    ::unsetenv("GYRE_PLOTLY_JS");
  }

  void put(const Json& json) { write_file_atomic(dir_ / "compare.json", json.dump()); }
  /// Writes the report of `json` and returns the page without the inlined library.
  std::string page(const Json& json) {
    put(json);
    write_report(dir_);
    std::string text = read_file(dir_ / "report.html");
    const std::string library = read_file(find_plotly());
    text.erase(text.find(library), library.size());
    return text;
  }
  std::string csv(const std::string& name) { return read_file(dir_ / "figures" / (name + ".csv")); }

  std::filesystem::path dir_;
};

inline int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++n;
  }
  return n;
}

}  // namespace gyre::report
