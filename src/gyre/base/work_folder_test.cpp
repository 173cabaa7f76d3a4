// A folder of work: one job at a time, never another one's.
#include "gyre/base/work_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "gyre/base/error.h"
#include "gyre/base/files.h"

namespace gyre {
namespace {

class WorkFolders : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(dir_); }
  std::string message(const WorkSettings& settings) {
    try {
      const WorkFolder folder(dir_, kind_, settings, false);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  const WorkKind kind_{.record = "job.json",
                       .schema = "job/1",
                       .noun = "a job",
                       .users = "worker",
                       .own = {"results", "lines"},
                       .parts = {"lines"}};
  const std::filesystem::path dir_ =
      std::filesystem::temp_directory_path() /
      str("gyre-work-", ::testing::UnitTest::GetInstance()->current_test_info()->name(), "-",
          ::getpid());
};

TEST_F(WorkFolders, NamesTheFirstSettingThatDiffers) {
  EXPECT_EQ(message({{"a", "1"}, {"b", "2"}}), "");
  EXPECT_EQ(message({{"a", "1"}, {"b", "2"}}), "");
  EXPECT_EQ(message({{"a", "1"}, {"b", "3"}}),
            dir_.string() +
                " holds a job with --b 2, this one has 3; use another --out, or --force "
                "to start over");
  EXPECT_EQ(message({{"a", "1"}}),
            dir_.string() +
                " holds a job with --b 2, this one has not given; use another --out, or "
                "--force to start over");
}

TEST_F(WorkFolders, ForceRemovesItsOwnFilesOnly) {
  std::filesystem::create_directories(dir_ / "results");
  write_file_atomic(dir_ / "notes.txt", "kept");
  const WorkFolder folder(dir_, kind_, {}, true);
  EXPECT_FALSE(std::filesystem::exists(dir_ / "results"));
  EXPECT_TRUE(std::filesystem::exists(dir_ / "notes.txt"));
}

TEST_F(WorkFolders, RefusesAFolderOfSomethingElse) {
  std::filesystem::create_directories(dir_);
  write_file_atomic(dir_ / "notes.txt", "mine");
  EXPECT_EQ(message({}), dir_.string() +
                             " holds other files (notes.txt); give an empty or new "
                             "folder as --out, or --force to add to this one");
}

TEST_F(WorkFolders, RefusesPartsWithoutTheirRecord) {
  std::filesystem::create_directories(dir_);
  write_file_atomic(dir_ / "lines", "x");
  EXPECT_EQ(message({}), dir_.string() +
                             " holds lines of a job, and job.json, which says of what, is gone; "
                             "put it back, use another --out, or --force to start over");
}

TEST_F(WorkFolders, ARecordOfAnotherFormIsNamed) {
  std::filesystem::create_directories(dir_);
  write_file_atomic(dir_ / "job.json", R"({"settings": {"a": 1}})");
  EXPECT_EQ(message({}), (dir_ / "job.json").string() +
                             ": not the record of a job: type must be string, but is number; "
                             "--force starts over");
}

TEST_F(WorkFolders, OneJobAtATime) {
  const WorkFolder folder(dir_, kind_, {}, false);
  EXPECT_EQ(message({}),
            dir_.string() + " is in use by another worker; wait for it or use another --out");
}

}  // namespace
}  // namespace gyre
