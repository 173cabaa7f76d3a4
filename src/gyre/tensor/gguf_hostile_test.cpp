// Every way a GGUF header can lie: one line of text that names the place, no crash, no allocation
// beyond the file.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/tensor/gguf_testing.h"

namespace gyre::tensor {
namespace {

std::string message(const std::string& bytes) {
  try {
    const GgufFile file = gguf_of(bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::Format);
    return error.what();
  }
  return "";
}

TEST(GgufHostile, RefusesOtherFilesAndVersions) {
  EXPECT_EQ(message(""),
            "m.gguf: at byte 0: no GGUF file: it does not start with the letters GGUF");
  EXPECT_EQ(message("{\"a\": 1}"),
            "m.gguf: at byte 4: no GGUF file: it does not start with the letters GGUF");
  EXPECT_EQ(message("GGUF\x03"), "m.gguf: at byte 4: version needs 4 bytes, the file has 1 left");
  EXPECT_EQ(message("GGUF" + raw_bytes(0x03000000U)),
            "m.gguf: at byte 8: big-endian GGUF, only little-endian is supported; convert it with "
            "gguf-py's gguf_convert_endian");
  EXPECT_EQ(
      message("GGUF" + raw_bytes(1U)),
      "m.gguf: at byte 8: GGUF version 1, only 2 and 3 are supported; convert the model again "
      "with a current tool");
  EXPECT_EQ(message("GGUF" + raw_bytes(4U)),
            "m.gguf: at byte 8: GGUF version 4, only 2 and 3 are supported");
}

TEST(GgufHostile, RefusesCountsThatCannotFit) {
  GgufBuilder keys;
  keys.n_keys = int64_t{1} << 60;
  EXPECT_EQ(
      message(keys.bytes()),
      "m.gguf: at byte 24: header counts 1152921504606846976 keys, the file has 0 bytes left");
  GgufBuilder tensors;
  tensors.n_tensors = -2;  // 2^64 - 2 as read
  tensors.u32("a", 1);
  std::string bytes = tensors.bytes();
  bytes.replace(8, 8, raw_bytes(~uint64_t{0}));
  EXPECT_EQ(message(bytes),
            "m.gguf: at byte 16: header counts 18446744073709551615 tensors, the file has 25 bytes "
            "left");
  EXPECT_EQ(
      message(GgufBuilder().array("a", GgufType::U32, ~uint64_t{0}, "1234").bytes()),
      "m.gguf: at byte 49: key a counts 18446744073709551615 items, the file has 4 bytes left");
  EXPECT_EQ(message(GgufBuilder().array("a", GgufType::String, 2, gguf_text("")).bytes()),
            "m.gguf: at byte 49: key a counts 2 items, the file has 8 bytes left");
  EXPECT_EQ(message(GgufBuilder().key("a", GgufType::String, raw_bytes(~uint64_t{0})).bytes()),
            "m.gguf: at byte 45: a needs 18446744073709551615 bytes, the file has 0 left");
}

TEST(GgufHostile, RefusesBadKeys) {
  EXPECT_EQ(message(GgufBuilder().u32("a", 1).f32("a", 2).bytes()),
            "m.gguf: at byte 50: key a stands twice");
  EXPECT_EQ(message(GgufBuilder().u32("", 1).bytes()),
            "m.gguf: at byte 32: key '' is no name (1 to 65535 bytes of UTF-8 without control "
            "characters)");
  EXPECT_EQ(message(GgufBuilder().u32("a\xFF\nb", 1).bytes()),
            "m.gguf: at byte 36: key 'a\\xff\\x0ab' is no name (1 to 65535 bytes of UTF-8 without "
            "control characters)");
  EXPECT_EQ(message(GgufBuilder().text("a", "\xC3").bytes()),
            "m.gguf: at byte 46: the text of key a is not UTF-8");
  EXPECT_EQ(message(GgufBuilder().key("a", static_cast<GgufType>(13), "1234").bytes()),
            "m.gguf: at byte 37: a has value type 13, the format has 0 to 12");
  EXPECT_EQ(message(GgufBuilder().array("a", GgufType::Array, 1, std::string(12, '\0')).bytes()),
            "m.gguf: at byte 49: key a is an array of arrays, which is not supported");
}

TEST(GgufHostile, RefusesBadAlignment) {
  const std::string rule = ", it must be a power of two of at most 1048576";
  EXPECT_EQ(message(GgufBuilder().u32("general.alignment", 0).bytes()),
            "m.gguf: general.alignment is 0" + rule);
  EXPECT_EQ(message(GgufBuilder().u32("general.alignment", 48).bytes()),
            "m.gguf: general.alignment is 48" + rule);
  EXPECT_EQ(message(GgufBuilder().f32("general.alignment", 32.5F).bytes()),
            "m.gguf: general.alignment is 32.5" + rule);
  EXPECT_EQ(message(GgufBuilder().f32("general.alignment", NAN).bytes()),
            "m.gguf: general.alignment is nan" + rule);
  EXPECT_EQ(message(GgufBuilder().text("general.alignment", "32").bytes()),
            "m.gguf: key general.alignment is a text, expected a number");
}

TEST(GgufHostile, RefusesTensorsThatDoNotFit) {
  EXPECT_EQ(message(GgufBuilder().entry("t", {4}, 0, 0).data(15).bytes()),
            "m.gguf: tensor t of 16 bytes at offset 0 lies outside the file's 15 data bytes; the "
            "file may be cut short");
  EXPECT_EQ(message(GgufBuilder().entry("t", {4}, 0, ~uint64_t{31}).data(16).bytes()),
            "m.gguf: tensor t of 16 bytes at offset 18446744073709551584 lies outside the file's "
            "16 data bytes; the file may be cut short");
  EXPECT_EQ(message(GgufBuilder().entry("t", {4}, 0, 4).data(64).bytes()),
            "m.gguf: tensor t starts at offset 4, no multiple of 32");
  EXPECT_EQ(message(GgufBuilder().entry("a", {16}, 0, 0).entry("b", {8}, 0, 32).data(96).bytes()),
            "m.gguf: tensors a and b overlap at offset 32");
  EXPECT_EQ(message(GgufBuilder().entry("a", {8}, 0, 0).entry("a", {8}, 0, 32).data(96).bytes()),
            "m.gguf: tensor a stands twice");
  const std::string item = "m.gguf: at byte ";
  EXPECT_EQ(message(GgufBuilder().entry("t", {1U << 31U, 1U << 31U, 8}, 0, 0).data(64).bytes()),
            item + "73: tensor t has more items than 64 bits count");
  EXPECT_EQ(message(GgufBuilder().entry("t", {uint64_t{1} << 62U}, 0, 0).data(64).bytes()),
            item + "57: tensor t has more bytes than 64 bits count");
  EXPECT_EQ(message(GgufBuilder().entry("t", {100}, 12, 0).data(64).bytes()),
            item + "57: tensor t has rows of 100 items, Q4_K packs them by 256");
  EXPECT_EQ(message(GgufBuilder().entry("t", {1, 1, 1, 1, 1}, 0, 0).data(64).bytes()),
            item + "37: tensor t has 5 dimensions, at most 4 are allowed");
}

TEST(GgufHostile, RefusesEveryCutOfAFile) {
  const std::string bytes =
      GgufBuilder().u32("a", 1).texts("v", {"x", "y"}).floats("t", {1, 2, 3}).bytes();
  EXPECT_EQ(message(bytes), "");
  for (size_t n = 0; n < bytes.size(); ++n) {
    const std::string cut = bytes.substr(0, n);
    EXPECT_NE(message(cut), "") << n << " bytes";
  }
}

TEST(GgufHostile, LoadsNoQuantisedOrHugeTable) {
  const std::string bytes = GgufBuilder()
                                .tensor("q", {32}, 8, std::string(34, 'q'))
                                .tensor("big", {1000001}, 1, std::string(2000002, '\0'))
                                .entry("odd", {4}, 99, 0)
                                .bytes();
  const GgufFile file = gguf_of(bytes);
  const auto load = [&](const char* name) {
    try {
      file.load_small(*file.find(name));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(load("q"), "m.gguf: tensor q has type Q8_0, expected F32, F16, BF16 or F64");
  EXPECT_EQ(load("odd"), "m.gguf: tensor odd has type 99, expected F32, F16, BF16 or F64");
  EXPECT_EQ(load("big"),
            "m.gguf: tensor big has 1000001 items, a table of positions has at most 1000000");
}

TEST(GgufHostile, RefusesFoldersAndPipesWithoutWaiting) {
  const auto folder =
      std::filesystem::temp_directory_path() / str("gyre-gguf-hostile-", ::getpid());
  std::filesystem::create_directory(folder);
  const auto text = [](const std::filesystem::path& path) {
    try {
      const GgufFile file(path);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(text(folder), folder.string() + ": not a regular file");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(text(folder / "pipe"), (folder / "pipe").string() + ": not a regular file");
  write_file_atomic(folder / "empty", "");
  EXPECT_EQ(text(folder / "empty"), (folder / "empty").string() +
                                        ": at byte 0: no GGUF file: it does not start with the "
                                        "letters GGUF");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace gyre::tensor
