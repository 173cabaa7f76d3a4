// Files: what is read is what is there, writes are whole or not at all, faults name path and
// reason.
#include "gyre/base/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>
#include <vector>

#include "gyre/base/error.h"

namespace gyre {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  Files()
      : folder_(fs::temp_directory_path() /
                str("gyre-files-", ::getpid(), "-",
                    testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::create_directories(folder_);
  }
  ~Files() override { fs::remove_all(folder_); }

  size_t n_files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  static void write_raw(const fs::path& path, std::string_view bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  template <class Act>
  static std::string message_of(Act act) {
    try {
      act();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::File);
      return error.what();
    }
    return "no error";
  }

  fs::path folder_;
};

TEST_F(Files, WrittenBytesReadBack) {
  const std::string bytes("a\0b\r\n\xff", 6);
  write_file_atomic(folder_ / "x", bytes);
  EXPECT_EQ(read_file(folder_ / "x"), bytes);
  write_file_atomic(folder_ / "x", "");
  EXPECT_EQ(read_file(folder_ / "x"), "");
  EXPECT_EQ(n_files(), 1U);  // no temporary name is left
}

TEST_F(Files, ReadsFilesWhoseSizeIsNotKnown) {
  EXPECT_NE(read_file("/proc/self/status").find("Pid:"), std::string::npos);
}

TEST_F(Files, ReadsMoreThanOneBuffer) {
  const std::string bytes(1'000'000, 'q');
  write_raw(folder_ / "x", bytes);
  EXPECT_EQ(read_file(folder_ / "x"), bytes);
}

TEST_F(Files, FaultsNamePathAndReason) {
  const std::string missing = (folder_ / "missing").string();
  EXPECT_EQ(message_of([&] { read_file(missing); }),
            missing + ": cannot open: No such file or directory");
  EXPECT_EQ(message_of([&] { MappedFile map(missing); }),
            missing + ": cannot open: No such file or directory");
  EXPECT_EQ(message_of([&] { read_file(folder_); }), folder_.string() + ": not a regular file");
  const std::string nowhere = (folder_ / "no" / "x").string();
  EXPECT_EQ(message_of([&] { write_file_atomic(nowhere, "a"); }),
            nowhere + ": cannot create: No such file or directory");
  EXPECT_EQ(message_of([&] { LineWriter writer(nowhere); }),
            nowhere + ": cannot open for writing: No such file or directory");
}

TEST_F(Files, PipeIsRefusedNotWaitedFor) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(message_of([&] { read_file(pipe); }), pipe.string() + ": not a regular file");
}

TEST_F(Files, FailedWriteLeavesNothing) {
  fs::create_directories(folder_ / "taken" / "inside");  // a folder in the way: rename must fail
  EXPECT_EQ(message_of([&] { write_file_atomic(folder_ / "taken", "new"); }),
            (folder_ / "taken").string() + ": cannot replace: Is a directory");
  EXPECT_EQ(n_files(), 1U);
}

TEST_F(Files, ThreadsWritingOneFileLeaveOneWholeVersion) {
  const fs::path path = folder_ / "x";
  std::vector<std::thread> threads;
  for (char c = 'a'; c < 'e'; ++c) {
    threads.emplace_back([&path, c] {
      for (int i = 0; i < 10; ++i) {
        write_file_atomic(path, std::string(5000, c));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  const std::string bytes = read_file(path);
  EXPECT_EQ(bytes, std::string(5000, bytes.at(0)));
  EXPECT_EQ(n_files(), 1U);
}

TEST_F(Files, MapShowsTheBytesAndMoves) {
  write_raw(folder_ / "x", "hello");
  MappedFile first(folder_ / "x");
  MappedFile second(std::move(first));
  ASSERT_EQ(second.bytes().size(), 5U);
  EXPECT_EQ(static_cast<char>(second.bytes()[1]), 'e');
  EXPECT_EQ(second.path(), folder_ / "x");
  write_raw(folder_ / "empty", "");
  MappedFile empty(folder_ / "empty");
  EXPECT_TRUE(empty.bytes().empty());
  empty = std::move(second);
  EXPECT_EQ(empty.bytes().size(), 5U);
}

TEST_F(Files, LinesAreThereBeforeTheWriterCloses) {
  LineWriter writer(folder_ / "log");
  writer.write("one");
  writer.write("two");
  EXPECT_EQ(read_file(folder_ / "log"), "one\ntwo\n");
}

TEST_F(Files, AppendingGoesOnAfterTheLastWholeLine) {
  write_raw(folder_ / "log", "one\ntwo\n{\"step\": 3, \"lo");
  LineWriter(folder_ / "log").write("three");
  EXPECT_EQ(read_file(folder_ / "log"), "one\ntwo\nthree\n");
  write_raw(folder_ / "log", "torn from the start");
  LineWriter(folder_ / "log").write("one");
  EXPECT_EQ(read_file(folder_ / "log"), "one\n");
  LineWriter(folder_ / "log", /*append=*/false).write("anew");
  EXPECT_EQ(read_file(folder_ / "log"), "anew\n");
}

TEST_F(Files, FullDiskIsReported) {
  if (!fs::exists("/dev/full")) {
    GTEST_SKIP() << "no /dev/full on this system";
  }
  LineWriter writer("/dev/full");
  EXPECT_EQ(message_of([&] { writer.write("x"); }),
            "/dev/full: cannot append: No space left on device");
}

// FIPS 180-4 examples and the empty message.
TEST_F(Files, Sha256MatchesTheStandard) {
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(std::string_view()),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  write_raw(folder_ / "x", "abc");
  EXPECT_EQ(sha256_file(folder_ / "x"), sha256("abc"));
}

TEST_F(Files, CacheFolderFollowsTheEnvironment) {
  ::unsetenv("GYRE_CACHE");
  ::unsetenv("XDG_CACHE_HOME");
  ::setenv("HOME", "/h", 1);
  EXPECT_EQ(cache_dir(), fs::path("/h/.cache/gyre"));
  ::setenv("XDG_CACHE_HOME", "/x", 1);
  EXPECT_EQ(cache_dir(), fs::path("/x/gyre"));
  ::setenv("GYRE_CACHE", "/g", 1);
  EXPECT_EQ(cache_dir(), fs::path("/g"));
}

TEST_F(Files, WritingGoesIntoADeviceAndBehindALinkAndNeverInTheirPlace) {
  write_file_atomic(folder_ / "target", "old");
  fs::create_symlink(folder_ / "target", folder_ / "link");
  write_file_atomic(folder_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_file(folder_ / "target"), "new");
  write_file_atomic("/dev/null", "gone");
  EXPECT_FALSE(fs::is_regular_file("/dev/null"));
  try {
    write_file_atomic("/dev/full", "more");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::File);
  }
}

TEST(MappedFile, WhatWasLetGoIsStillReadable) {
  const auto path = std::filesystem::temp_directory_path() / str("gyre-let-go-", ::getpid());
  std::string text(20000, 'x');
  text[12345] = 'y';
  write_file_atomic(path, text);
  {
    const MappedFile file(path);
    file.let_go(file.bytes().subspan(100, 19000));  // begins and ends inside a page
    EXPECT_EQ(static_cast<char>(file.bytes()[12345]), 'y');
    EXPECT_EQ(static_cast<char>(file.bytes()[50]), 'x');
    file.let_go(file.bytes().subspan(5, 10));  // less than a page
    file.let_go({});
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace gyre
