// Dequantisation against gguf-py on blocks of random bytes (testdata/gguf_blocks.json says how they
// were made), bit for bit; and what lies as it is asked for is not copied.
#include "gyre/tensor/gguf_tensor.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/tensor/dequantize.h"
#include "gyre/tensor/gguf_testing.h"

namespace gyre::tensor {
namespace {

std::string from_hex(const std::string& hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    out += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return out;
}

nlohmann::json test_blocks() {
  const auto path =
      std::filesystem::path(GYRE_SOURCE_DIR) / "src/gyre/tensor/testdata/gguf_blocks.json";
  return nlohmann::json::parse(read_file(path)).at("types");
}

std::vector<float> floats_of(const std::string& bytes) {
  std::vector<float> out(bytes.size() / sizeof(float));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

/// A file of one tensor; the builder's bytes live as long as the file.
struct OneTensor {
  std::string bytes;
  std::shared_ptr<const GgufFile> file;
  OneTensor(const std::vector<uint64_t>& dims, uint32_t type, const std::string& data)
      : bytes(GgufBuilder().tensor("t", dims, type, data).bytes()),
        file(std::make_shared<const GgufFile>(std::as_bytes(std::span(bytes)), "m.gguf")) {}
  at::Tensor load(at::ScalarType dtype) const { return gguf_tensor(file, *file->find("t"), dtype); }
};

TEST(GgufTensor, DequantisesAsGgufPyToTheLastBit) {
  const nlohmann::json types = test_blocks();
  EXPECT_EQ(types.size(), 8U);
  for (const auto& each : types) {
    SCOPED_TRACE(each.at("type").get<std::string>());
    const std::vector<float> expected = floats_of(from_hex(each.at("float32")));
    const auto row = each.at("items").get<uint64_t>();
    const OneTensor one({row, expected.size() / row}, each.at("id"), from_hex(each.at("bytes")));
    const at::Tensor actual = one.load(at::kFloat);
    ASSERT_EQ(actual.numel(), static_cast<int64_t>(expected.size()));
    EXPECT_EQ(std::memcmp(actual.const_data_ptr(), expected.data(), actual.nbytes()), 0);
    // bfloat16 is the rounded float32, nothing else
    EXPECT_TRUE(at::equal(one.load(at::kBFloat16), actual.to(at::kBFloat16)));
    // as one row of several blocks
    const OneTensor joined({expected.size()}, each.at("id"), from_hex(each.at("bytes")));
    EXPECT_TRUE(at::equal(joined.load(at::kFloat), actual.flatten()));
  }
}

TEST(GgufTensor, ReadsManyRowsOnAllThreads) {
  const nlohmann::json types = test_blocks();
  const std::string block = from_hex(types.at(0).at("bytes")).substr(0, 34);  // Q8_0
  std::string data;
  for (int i = 0; i < 5000; ++i) {
    data += block;
  }
  const at::Tensor rows = OneTensor({32, 5000}, 8, data).load(at::kFloat);
  EXPECT_TRUE(at::equal(rows, rows.slice(0, 0, 1).expand({5000, 32})));
}

TEST(GgufTensor, PlainTypesAreViewsOfTheFileThatOutliveIt) {
  const std::vector<float> values = {1.0F, -2.5F, 3.0F, 4.0F, 0.0F, 6.0F};
  std::string data;
  for (const float each : values) {
    data += raw_bytes(each);
  }
  const auto path = std::filesystem::temp_directory_path() / str("gyre-tensor-", ::getpid());
  write_file_atomic(path, GgufBuilder().tensor("t", {3, 2}, 0, data).bytes());
  auto file = std::make_shared<const GgufFile>(path);
  const void* stored = file->data(*file->find("t")).data();
  const at::Tensor view = gguf_tensor(file, *file->find("t"), at::kFloat);
  EXPECT_EQ(view.const_data_ptr(), stored);
  EXPECT_EQ(view.sizes(), at::IntArrayRef({2, 3}));
  const at::Tensor rounded = gguf_tensor(file, *file->find("t"), at::kBFloat16);
  file.reset();
  std::filesystem::remove(path);
  EXPECT_EQ(view[1][2].item<float>(), 6.0F);
  EXPECT_EQ(rounded[0][1].item<float>(), -2.5F);
}

TEST(GgufTensor, ReadsHalfAndBfloat16) {
  EXPECT_EQ(OneTensor({2}, 1, std::string("\x00\x3c\x00\xc5", 4)).load(at::kFloat)[1].item<float>(),
            -5.0F);
  EXPECT_EQ(OneTensor({1}, 30, std::string("\x49\x40", 2)).load(at::kFloat).item<float>(),
            3.140625F);
}

TEST(GgufTensor, RefusesOtherTypesWithWhatToDo) {
  const OneTensor one({256}, 10, std::string(84, 'x'));
  std::string message;
  try {
    one.load(at::kFloat);
  } catch (const Error& error) {
    message = error.what();
    EXPECT_EQ(error.code(), Code::Format);
  }
  EXPECT_EQ(
      message,
      "m.gguf: tensor t has type Q2_K, expected F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, "
      "Q4_K, Q5_K or Q6_K; convert with: llama-quantize --allow-requantize FILE OUT Q8_0");
}

}  // namespace
}  // namespace gyre::tensor
