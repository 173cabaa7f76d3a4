// What a right header says, with bytes laid out by hand from the GGUF specification
// (ggml/docs/gguf.md); what a wrong one says is in gguf_hostile_test.cpp.
#include "gyre/tensor/gguf.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <limits>

#include "gyre/base/error.h"
#include "gyre/tensor/ggml_types.h"
#include "gyre/tensor/gguf_testing.h"
#include "gyre/tensor/header_text.h"
#include "gyre/tensor/small_floats.h"

namespace gyre::tensor {
namespace {

TEST(Gguf, ReadsBytesWrittenByHand) {
  // version 3, 1 tensor, 1 key: "a.n" = u32 7; tensor "t" of 2 F32 at offset 0, data at 96.
  std::string bytes("GGUF\x03\0\0\0", 8);
  bytes += std::string("\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0", 16);
  bytes += std::string("\x03\0\0\0\0\0\0\0a.n\x04\0\0\0\x07\0\0\0", 19);
  bytes += std::string("\x01\0\0\0\0\0\0\0t\x01\0\0\0\x02\0\0\0\0\0\0\0", 21);
  bytes += std::string("\0\0\0\0\0\0\0\0\0\0\0\0", 12);
  bytes.resize(96);                                             // 76 bytes so far, alignment 32
  bytes += std::string("\x00\x00\x80\x3f\x00\x00\x20\xc1", 8);  // 1.0, -10.0
  const GgufFile file = gguf_of(bytes);
  EXPECT_EQ(file.version(), 3U);
  EXPECT_EQ(file.metadata().at("a.n").number, 7.0);
  ASSERT_NE(file.find("t"), nullptr);
  EXPECT_EQ(file.find("t")->n_bytes, 8U);
  EXPECT_EQ(file.load_small(*file.find("t")), (std::vector<double>{1.0, -10.0}));
  EXPECT_EQ(file.find("u"), nullptr);
}

TEST(Gguf, ReadsEveryValueType) {
  GgufBuilder builder;
  builder.version = 2;
  const auto bytes = builder.key("u8", GgufType::U8, raw_bytes(uint8_t{200}))
                         .key("i8", GgufType::I8, raw_bytes(int8_t{-3}))
                         .key("u16", GgufType::U16, raw_bytes(uint16_t{60000}))
                         .key("i16", GgufType::I16, raw_bytes(int16_t{-300}))
                         .u32("u32", 4000000000U)
                         .key("i32", GgufType::I32, raw_bytes(int32_t{-70000}))
                         .f32("f32", 0.5F)
                         .boolean("yes", true)
                         .text("text", "grün\nzwei")
                         .key("u64", GgufType::U64, raw_bytes(uint64_t{1} << 40U))
                         .key("i64", GgufType::I64, raw_bytes(-(int64_t{1} << 40)))
                         .key("f64", GgufType::F64, raw_bytes(0.1))
                         .u32s("list", {1, 2, 3})
                         .texts("vocabulary", {"a", "", "bc"})
                         .bytes();
  const GgufFile file = gguf_of(bytes);
  EXPECT_EQ(file.version(), 2U);
  EXPECT_EQ(file.number("u8", 0), 200.0);
  EXPECT_EQ(file.number("i8", 0), -3.0);
  EXPECT_EQ(file.number("u16", 0), 60000.0);
  EXPECT_EQ(file.number("i16", 0), -300.0);
  EXPECT_EQ(file.number("u32", 0), 4e9);
  EXPECT_EQ(file.number("i32", 0), -70000.0);
  EXPECT_EQ(file.number("f32", 0), 0.5);
  EXPECT_EQ(file.number("yes", 0), 1.0);
  EXPECT_EQ(file.number("u64", 0), 1099511627776.0);
  EXPECT_EQ(file.number("i64", 0), -1099511627776.0);
  EXPECT_EQ(file.number("f64", 0), 0.1);
  EXPECT_EQ(file.number("absent", 9), 9.0);
  EXPECT_EQ(file.text("text", ""), "grün\nzwei");
  EXPECT_EQ(file.text("absent", "x"), "x");
  EXPECT_EQ(file.metadata().at("list").numbers, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(file.metadata().at("vocabulary").count, 3U);
  EXPECT_TRUE(file.metadata().at("vocabulary").numbers.empty());
}

TEST(Gguf, KeepsNoCopyOfLongTextsAndArrays) {
  const auto bytes = GgufBuilder()
                         .text("template", std::string(70000, 'x'))
                         .u32s("scores", std::vector<uint32_t>(65537, 1))
                         .u32("after", 5)
                         .bytes();
  const GgufFile file = gguf_of(bytes);
  EXPECT_EQ(file.metadata().at("template").text, "");
  EXPECT_EQ(file.metadata().at("template").count, 70000U);
  EXPECT_EQ(file.metadata().at("scores").count, 65537U);
  EXPECT_TRUE(file.metadata().at("scores").numbers.empty());
  EXPECT_EQ(file.number("after", 0), 5.0);
}

TEST(Gguf, CountsTheBytesOfBlocks) {
  // Q4_K: 256 items in 144 bytes; Q8_0: 32 in 34; 512 x 3 and 64 x 2 items.
  const auto bytes = GgufBuilder()
                         .tensor("k", {512, 3}, 12, std::string(3 * 2 * 144, 'k'))
                         .tensor("q", {64, 2}, 8, std::string(std::size_t{2} * 2 * 34, 'q'))
                         .bytes();
  const GgufFile file = gguf_of(bytes);
  EXPECT_EQ(file.find("k")->n_bytes, 864U);
  EXPECT_EQ(file.find("q")->n_bytes, 136U);
  EXPECT_EQ(ggml_type_name(12), "Q4_K");
  EXPECT_EQ(ggml_type_name(99), "type 99");
}

TEST(Gguf, HonoursTheAlignmentKey) {
  GgufBuilder builder;
  builder.alignment = 256;
  const auto bytes =
      builder.u32("general.alignment", 256).floats("a", {1.0F}).floats("b", {2.0F}).bytes();
  const GgufFile file = gguf_of(bytes);
  EXPECT_EQ(file.find("b")->offset, 256U);
  EXPECT_EQ(file.load_small(*file.find("b")), std::vector<double>{2.0});
}

TEST(Gguf, DecodesSmallFloats) {
  EXPECT_EQ(half_to_double(0x3C00), 1.0);
  EXPECT_EQ(half_to_double(0xC500), -5.0);
  EXPECT_EQ(half_to_double(0x0001), std::ldexp(1.0, -24));  // smallest subnormal
  EXPECT_EQ(half_to_double(0x7BFF), 65504.0);               // largest
  EXPECT_TRUE(std::isnan(half_to_double(0x7E00)));
  EXPECT_EQ(half_to_double(0xFC00), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(bfloat16_to_double(0x3F80), 1.0);
  EXPECT_EQ(bfloat16_to_double(0x4049), 3.140625);
  const auto bytes = GgufBuilder().tensor("h", {2}, 1, std::string("\x00\x3c\x00\xc5", 4)).bytes();
  const GgufFile file = gguf_of(bytes);
  EXPECT_EQ(file.load_small(*file.find("h")), (std::vector<double>{1.0, -5.0}));
}

TEST(Gguf, AFileWithoutTensorsMayEndWithItsHeader) {
  const auto bytes = GgufBuilder().u32("a", 1).bytes();  // a vocabulary-only file
  EXPECT_TRUE(gguf_of(bytes).tensors().empty());
}

TEST(HeaderText, KnowsUtf8) {
  EXPECT_TRUE(is_utf8("plain grün \xF0\x9F\x8C\x8D"));
  EXPECT_FALSE(is_utf8("\xC0\x80"));          // overlong
  EXPECT_FALSE(is_utf8("\xED\xA0\x80"));      // surrogate
  EXPECT_FALSE(is_utf8("\xF4\x90\x80\x80"));  // past U+10FFFF
  EXPECT_FALSE(is_utf8("\xE2\x82"));          // cut
  EXPECT_FALSE(is_name("two\nlines"));
  EXPECT_EQ(printable("a\nb"), "a\\x0ab");
  EXPECT_EQ(printable("\xFF"), "\\xff");
  EXPECT_EQ(printable(std::string(100, 'a')), std::string(80, 'a') + "...");
}

}  // namespace
}  // namespace gyre::tensor
