// The header read without torch: every type listed by name, every lie refused in one line.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/tensor/safetensors.h"
#include "gyre/tensor/safetensors_testing.h"

namespace gyre::tensor {
namespace {

std::string message(const std::string& bytes) {
  try {
    const SafetensorsHeader header = header_of(bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::Format);
    const std::string text = error.what();
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    return text.starts_with("m.safetensors: ") ? text.substr(15) : "?" + text;
  }
  return "";
}

/// One tensor "a" with this object as its entry, over `data`.
std::string entry(const std::string& object, const std::string& data = "") {
  return message(safetensors_bytes("{\"a\":" + object + "}", data));
}

TEST(SafetensorsHeader, ListsEveryTypeByName) {
  // Bits a type takes: huggingface/safetensors, tensor.rs. Eight items of each.
  const std::pair<const char*, int> types[] = {
      {"BOOL", 8},        {"F4", 4},          {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},
      {"I8", 8},          {"F8_E5M2", 8},     {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"I16", 16},
      {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"U16", 16},    {"F16", 16},    {"BF16", 16},
      {"I32", 32},        {"U32", 32},        {"F32", 32},    {"C64", 64},    {"F64", 64},
      {"I64", 64},        {"U64", 64}};
  for (const auto& [name, bits] : types) {
    const std::string bytes = safetensors_bytes(
        str(R"({"a":{"dtype":")", name, R"(","shape":[8],"data_offsets":[0,)", bits, "]}}"),
        std::string(static_cast<size_t>(bits), '\0'));
    const SafetensorsHeader header = header_of(bytes);
    EXPECT_EQ(header.tensors().at(0).dtype, name);
    EXPECT_EQ(entry(str(R"({"dtype":")", name, R"(","shape":[8],"data_offsets":[0,1]})"), "x"),
              str("tensor a holds 1 bytes, its shape and type need ", bits));
  }
  EXPECT_EQ(entry(R"({"dtype":"Q9","shape":[8],"data_offsets":[0,1]})", "x"), "");
  EXPECT_EQ(entry(R"({"dtype":"F4","shape":[3],"data_offsets":[0,2]})", "xy"),
            "tensor a of type F4 ends within a byte");
}

TEST(SafetensorsHeader, LoadRefusesForeignTypesInOneLine) {
  const auto path =
      std::filesystem::temp_directory_path() / str("gyre-safetensors-foreign-", ::getpid());
  for (const std::string type : {"F8_E4M3", "U16", "I8", "Q9"}) {
    const int n_items = type == "U16" ? 2 : 4;
    write_file_atomic(path, safetensors_bytes(str(R"({"a":{"dtype":")", type, R"(","shape":[)",
                                                  n_items, R"(],"data_offsets":[0,4]}})"),
                                              "abcd"));
    const SafetensorsFile file(path);
    EXPECT_EQ(file.header().find("a")->dtype, type);
    try {
      file.load("a");
      ADD_FAILURE() << type;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()),
                path.string() + ": tensor a has type " + type +
                    ", which cannot be loaded; convert it to BF16 or F32 first");
    }
  }
  std::filesystem::remove(path);
}

TEST(SafetensorsHeader, ReadsSmallTablesWithoutTorch) {
  // F32 1.0, BF16 3.140625, F16 -5: 00 00 80 3f, 49 40, 00 c5.
  const std::string bytes =
      safetensors_bytes(R"({"f":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                        R"("b":{"dtype":"BF16","shape":[1],"data_offsets":[4,6]},)"
                        R"("h":{"dtype":"F16","shape":[1],"data_offsets":[6,8]},)"
                        R"("i":{"dtype":"I8","shape":[1],"data_offsets":[8,9]},)"
                        R"("__metadata__":{"format":"pt"}})",
                        std::string("\x00\x00\x80\x3f\x49\x40\x00\xc5\x07", 9));
  const SafetensorsHeader header = header_of(bytes);
  EXPECT_EQ(header.load_small(*header.find("f")), std::vector<double>{1.0});
  EXPECT_EQ(header.load_small(*header.find("b")), std::vector<double>{3.140625});
  EXPECT_EQ(header.load_small(*header.find("h")), std::vector<double>{-5.0});
  EXPECT_EQ(header.metadata().at("format"), "pt");
  try {
    header.load_small(*header.find("i"));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "m.safetensors: tensor i has type I8, expected F64, F32, F16 or BF16");
  }
}

TEST(SafetensorsHeader, LoadsNoHugeTable) {
  const std::string bytes =
      safetensors_bytes(R"({"big":{"dtype":"F16","shape":[1000001],"data_offsets":[0,2000002]}})",
                        std::string(2000002, '\0'));
  const SafetensorsHeader header = header_of(bytes);
  try {
    header.load_small(*header.find("big"));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "m.safetensors: tensor big has 1000001 items, a table of positions has at most "
              "1000000");
  }
}

TEST(SafetensorsHeader, RefusesWhatIsNoHeader) {
  EXPECT_EQ(message(""), "0 bytes is too short for safetensors");
  EXPECT_EQ(message(std::string(8, '\xFF')), "header of 18446744073709551615 bytes in a file of 8");
  EXPECT_EQ(message(safetensors_bytes("")), "malformed header: no JSON in UTF-8 at byte 1 of it");
  EXPECT_EQ(message(safetensors_bytes("[1]")), "header is not a JSON object");
  EXPECT_EQ(message(safetensors_bytes("7")), "header is not a JSON object");
  EXPECT_EQ(message(safetensors_bytes("{} {}")),
            "malformed header: no JSON in UTF-8 at byte 4 of it");
  EXPECT_EQ(message(safetensors_bytes("{\"\xFF\":{}}")),
            "malformed header: no JSON in UTF-8 at byte 3 of it");
  EXPECT_EQ(message(safetensors_bytes(std::string(100000, '['))), "header is not a JSON object");
  EXPECT_EQ(message(safetensors_bytes("{}   ")), "");  // padded, as written by the reference
}

TEST(SafetensorsHeader, RefusesRepeatedNames) {
  const std::string a = R"("a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  EXPECT_EQ(message(safetensors_bytes("{" + a + "," + a + "}")), "tensor a stands twice");
  EXPECT_EQ(entry(R"({"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]})"),
            "tensor a has dtype twice");
  EXPECT_EQ(message(safetensors_bytes(R"({"__metadata__":{"x":"1","x":"2"}})")),
            "tensor __metadata__ has x twice");
  EXPECT_EQ(message(safetensors_bytes(R"({"a\nb":{}})")),
            "tensor name 'a\\x0ab' is empty or has control characters");
}

TEST(SafetensorsHeader, RefusesBadFields) {
  EXPECT_EQ(entry(R"({"dtype":"U8"})"), "tensor a needs dtype, shape and two data_offsets");
  EXPECT_EQ(entry(R"({"dtype":"U8","shape":[0],"data_offsets":[0]})"),
            "tensor a needs dtype, shape and two data_offsets");
  EXPECT_EQ(entry(R"({"dtype":"U8","shape":[0],"data_offsets":[0,0,0]})"),
            "tensor a needs dtype, shape and two data_offsets");
  EXPECT_EQ(entry(R"({"dtype":8})"), "tensor a has a number where the format has a text");
  EXPECT_EQ(entry(R"({"dtype":"","shape":[]})"), "tensor a has type '', which is no type name");
  EXPECT_EQ(entry(R"({"shape":4})"), "tensor a has a number where the format has a list");
  EXPECT_EQ(entry(R"({"shape":["4"]})"), "tensor a has a text where the format has a size");
  EXPECT_EQ(entry(R"({"shape":[-4]})"),
            "tensor a has -4 in shape, sizes and offsets are not negative");
  EXPECT_EQ(entry(R"({"shape":[4.5]})"),
            "tensor a has 4.5 in shape, which is no whole number of 64 bits");
  EXPECT_EQ(entry(R"({"shape":[1e400]})"), "malformed header: no JSON in UTF-8 at byte 20 of it");
  EXPECT_EQ(entry(R"({"shape":[18446744073709551616]})"),
            "tensor a has 18446744073709551616 in shape, which is no whole number of 64 bits");
  EXPECT_EQ(entry(R"({"shape":[18446744073709551615]})"), "tensor a has an impossible shape");
  EXPECT_EQ(entry(R"({"shape":[NaN]})"), "malformed header: no JSON in UTF-8 at byte 16 of it");
  EXPECT_EQ(entry(R"({"shape":[[4]]})"), "tensor a has a list where the format has none");
  EXPECT_EQ(entry(R"({"x":{"y":1}})"), "tensor a is nested deeper than the format is");
  EXPECT_EQ(entry("4"), "tensor a has a number where the format has an object");
  EXPECT_EQ(entry(R"({"dtype":"U8","shape":[0],"data_offsets":[0,0],"note":"x"})"), "");
  EXPECT_EQ(message(safetensors_bytes(R"({"__metadata__":{"x":1}})")),
            "tensor __metadata__ has a number where the format has a text");
}

TEST(SafetensorsHeader, RefusesEveryCutOfAFile) {
  const std::string bytes =
      safetensors_bytes(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "abcd");
  EXPECT_EQ(message(bytes), "");
  for (size_t n = 0; n < bytes.size(); ++n) {
    const std::string cut = bytes.substr(0, n);
    EXPECT_NE(message(cut), "") << n << " bytes";
  }
}

TEST(SafetensorsHeader, RefusesFoldersAndPipesWithoutWaiting) {
  const auto folder =
      std::filesystem::temp_directory_path() / str("gyre-safetensors-pipe-", ::getpid());
  std::filesystem::create_directory(folder);
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const auto& path : {folder, folder / "pipe"}) {
    try {
      const SafetensorsFile file(path);
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()), path.string() + ": not a regular file");
    }
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace gyre::tensor
