// The seed corpus of the fuzz targets, and every input that once broke a reader, through readers,
// lint and printing: one line of text or a model, never a crash. testing/fuzz/make_corpus.py makes
// the files; the fuzz targets themselves run in testing/fuzz/smoke_test.py.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "gyre/base/files.h"
#include "testing/fuzz/fuzz.h"

namespace gyre::inspect {
namespace {

class HostileFiles : public ::testing::Test {
 protected:
  HostileFiles()
      : folder_(std::filesystem::temp_directory_path() /
                str("gyre-hostile-", ::getpid(), "-",
                    ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    made_ = std::system(("python3 '" GYRE_SOURCE_DIR "/testing/fuzz/make_corpus.py' '" +
                         folder_.string() + "'")
                            .c_str()) == 0;
  }
  ~HostileFiles() override { std::filesystem::remove_all(folder_); }

  void read_all(const std::string& reader, fuzz::Read read, int at_least) const {
    if (!made_) {
      GTEST_SKIP() << "python3 did not run";
    }
    int n = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / reader)) {
      const std::string bytes = read_file(entry.path());
      EXPECT_EQ(fuzz::fault_of(read, std::as_bytes(std::span(bytes))), "") << entry.path();
      ++n;
    }
    EXPECT_GE(n, at_least);
  }

  std::filesystem::path folder_;
  bool made_ = false;
};

TEST_F(HostileFiles, Config) {
  read_all("config", fuzz::read_config, 40);
}
TEST_F(HostileFiles, Gguf) {
  read_all("gguf", fuzz::read_gguf, 40);
}
TEST_F(HostileFiles, Safetensors) {
  read_all("safetensors", fuzz::read_safetensors, 20);
}

}  // namespace
}  // namespace gyre::inspect
