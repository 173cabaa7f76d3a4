// Whole arrays of metadata, of any length, against what the test wrote.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "gyre/base/error.h"
#include "gyre/tensor/gguf_testing.h"

namespace gyre::tensor {
namespace {

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(GgufArrays, GivesEveryTextAsStored) {
  const std::vector<std::string> pieces = {"a", "", "two words", std::string("\0\xff", 2)};
  const auto bytes = GgufBuilder().u32("n", 3).texts("pieces", pieces).u32("after", 1).bytes();
  EXPECT_EQ(gguf_of(bytes).texts("pieces"), pieces);
  EXPECT_TRUE(gguf_of(bytes).texts("absent").empty());
}

TEST(GgufArrays, GivesNumbersOfAnyLengthAndType) {
  std::vector<uint32_t> many(70000);  // more than the header's reader keeps
  std::iota(many.begin(), many.end(), 5U);
  const auto bytes = GgufBuilder()
                         .u32s("many", many)
                         .booleans("flags", {0, 1, 1})
                         .array("reals", GgufType::F32, 2, raw_bytes(0.5F) + raw_bytes(-2.0F))
                         .array("signed", GgufType::I64, 1, raw_bytes(int64_t{-7}))
                         .bytes();
  const GgufFile file = gguf_of(bytes);
  EXPECT_EQ(file.numbers("many"), std::vector<double>(many.begin(), many.end()));
  EXPECT_EQ(file.numbers("flags"), (std::vector<double>{0, 1, 1}));
  EXPECT_EQ(file.numbers("reals"), (std::vector<double>{0.5, -2.0}));
  EXPECT_EQ(file.numbers("signed"), (std::vector<double>{-7}));
  EXPECT_TRUE(file.numbers("absent").empty());
}

TEST(GgufArrays, SayWhatAKeyIsInstead) {
  const auto bytes = GgufBuilder().texts("t", {"a"}).u32s("n", {1}).u32("one", 1).bytes();
  const GgufFile file = gguf_of(bytes);
  EXPECT_EQ(message_of([&] { file.numbers("t"); }),
            "m.gguf: key t is an array of texts, expected an array of numbers");
  EXPECT_EQ(message_of([&] { file.texts("n"); }),
            "m.gguf: key n is an array of numbers, expected an array of texts");
  EXPECT_EQ(message_of([&] { file.texts("one"); }),
            "m.gguf: key one is a number, expected an array of texts");
}

}  // namespace
}  // namespace gyre::tensor
