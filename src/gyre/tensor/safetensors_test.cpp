// Round trips, the byte layout by hand, and how a file can lie about places; what lies a header's
// JSON can hold is in safetensors_hostile_test.cpp.
#include "gyre/tensor/safetensors.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>

#include "gyre/base/error.h"

namespace gyre::tensor {
namespace {

class Safetensors : public ::testing::Test {
 protected:
  Safetensors()
      : path_(std::filesystem::temp_directory_path() /
              str("gyre-safetensors-", ::getpid(), "-",
                  ::testing::UnitTest::GetInstance()->current_test_info()->name())) {}
  ~Safetensors() override { std::filesystem::remove(path_); }

  /// A file with this header and data.
  void write(const std::string& header, const std::string& data) const {
    std::string bytes;
    for (int i = 0; i < 8; ++i) {
      bytes += static_cast<char>((header.size() >> (8 * i)) & 0xFFU);
    }
    write_file_atomic(path_, bytes + header + data);
  }

  std::string message(const std::function<void()>& action) const {
    try {
      action();
    } catch (const Error& error) {
      std::string text = error.what();
      const size_t at = text.find(path_.string() + ": ");
      return at == 0 ? text.substr(path_.string().size() + 2) : text;
    }
    return "";
  }
  std::string read_message() const {
    return message([&] { const SafetensorsFile file(path_); });
  }
  std::string read_message(const std::string& header, const std::string& data) const {
    write(header, data);
    return read_message();
  }

  std::filesystem::path path_;
};

TEST_F(Safetensors, ReadsBackEveryType) {
  NamedTensors tensors;
  for (const at::ScalarType type : {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kLong,
                                    at::kInt, at::kByte, at::kBool}) {
    tensors.emplace_back(c10::toString(type), at::arange(6).view({2, 3}).to(type));
  }
  tensors.emplace_back("transposed", at::arange(6).view({2, 3}).t());
  tensors.emplace_back("empty", at::zeros({0, 4}));
  tensors.emplace_back("scalar", at::ones({}));
  write_safetensors(path_, tensors, {{"format", "pt"}});
  const SafetensorsFile file(path_);
  for (const auto& [name, value] : tensors) {
    const at::Tensor found = file.load(name);
    EXPECT_EQ(found.scalar_type(), value.scalar_type()) << name;
    EXPECT_TRUE(at::equal(found, value)) << name;
  }
  EXPECT_EQ(file.names().size(), tensors.size());
  EXPECT_EQ(file.metadata().at("format"), "pt");
}

TEST_F(Safetensors, ReadsBytesWrittenByHand) {
  // Two U8 tensors; little-endian F32 1.0 = 00 00 80 3f.
  write(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
        R"("b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})",
        std::string("\x05\x07\x00\x00\x80\x3f", 6));
  const SafetensorsFile file(path_);
  EXPECT_EQ(file.load("a")[1].item<int64_t>(), 7);
  EXPECT_EQ(file.load("b")[0].item<float>(), 1.0F);
}

TEST_F(Safetensors, ViewsLieInTheFileAndOutliveTheirReader) {
  at::Tensor view;
  {
    write_safetensors(path_, {{"a", at::arange(6, at::kFloat).view({2, 3})}});
    const SafetensorsFile file(path_);
    view = file.view("a");
    EXPECT_EQ(view.const_data_ptr(), file.view("a").const_data_ptr());
    EXPECT_NE(view.const_data_ptr(), file.load("a").const_data_ptr());
  }
  std::filesystem::remove(path_);
  EXPECT_TRUE(at::equal(view, at::arange(6, at::kFloat).view({2, 3})));
}

TEST_F(Safetensors, ViewsOfItemsThatLieAskewAreCopies) {
  write(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
        R"("b":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}})",
        std::string("\x05\x00\x00\x80\x3f", 5));
  EXPECT_EQ(SafetensorsFile(path_).view("b")[0].item<float>(), 1.0F);
}

TEST_F(Safetensors, RefusesLies) {
  EXPECT_EQ(read_message(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", "ab"),
            "tensor a lies outside the file's 2 data bytes");
  EXPECT_EQ(read_message(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,2]}})", "ab"),
            "tensor a holds 2 bytes, its shape and type need 4");
  EXPECT_EQ(read_message(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                         R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
                         "abc"),
            "tensor b overlaps another");
  EXPECT_EQ(read_message(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", "ab"),
            "tensor a follows a gap");
  EXPECT_EQ(read_message(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "ab"),
            "1 bytes after the last tensor");
  EXPECT_EQ(
      read_message(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,1]}})",
                   "a"),
      "tensor a: impossible shape");
  EXPECT_EQ(read_message(R"({"a":{"dtype":"F32","shape":[0,4294967296,4294967296],)"
                         R"("data_offsets":[0,0]}})",
                         ""),
            "tensor a: impossible shape");
}

TEST_F(Safetensors, RefusesCutFiles) {
  write_file_atomic(path_, "abc");
  EXPECT_EQ(read_message(), "3 bytes is too short for safetensors");
  write_file_atomic(path_, std::string("\xff\x00\x00\x00\x00\x00\x00\x00{}", 10));
  EXPECT_EQ(read_message(), "header of 255 bytes in a file of 10");
}

TEST_F(Safetensors, NamesMissingRepeatedAndForeignTensors) {
  write_safetensors(path_, {{"a", at::ones({2})}});
  const SafetensorsFile file(path_);
  EXPECT_EQ(message([&] { file.load("b"); }), "tensor b is missing");
  EXPECT_EQ(file.header().find("b"), nullptr);
  EXPECT_EQ(message([&] {
              write_safetensors(path_, {{"a", at::ones({1})}, {"a", at::ones({1})}});
            }),
            "safetensors: tensor name 'a' is given twice");
  EXPECT_EQ(message([&] {
              write_safetensors(path_, {{"z", at::ones({1}, at::kComplexFloat)}});
            }),
            "safetensors: tensor z has type ComplexFloat, which the format does not hold; "
            "convert it first");
}

}  // namespace
}  // namespace gyre::tensor
