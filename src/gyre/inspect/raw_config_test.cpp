// Flattened keys of a JSON text: paths, types, doubled keys, what Python writes, hostile texts.
#include "gyre/inspect/raw_config.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gyre/base/error.h"

namespace gyre::inspect {
namespace {

std::string fault(const std::string& text) {
  try {
    RawConfig::from_json(text, "c.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::Format);
    return error.what();
  }
  return "";
}

TEST(RawConfig, FlattensNestedKeys) {
  const auto config = RawConfig::from_json(
      R"({"a": 1, "rope": {"x": 2.50, "y": {"z": "t"}}, "l": [1, 2.5], "s": ["p", "q"], "n": null})",
      "c.json");
  EXPECT_EQ(config.find("a")->number, 1.0);
  EXPECT_EQ(config.find("rope")->type, RawType::Object);
  EXPECT_EQ(config.find("rope.x")->text, "2.50");
  EXPECT_EQ(config.find("rope.y.z")->text, "t");
  EXPECT_EQ(config.find("l")->numbers, (std::vector<double>{1, 2.5}));
  EXPECT_EQ(config.find("l")->text, "[1, 2.5]");
  EXPECT_EQ(config.find("s")->texts, (std::vector<std::string>{"p", "q"}));
  EXPECT_EQ(config.find("n")->type, RawType::Null);
  EXPECT_FALSE(config.has("rope.z"));
}

TEST(RawConfig, ADoubledKeyKeepsItsLastValueWhole) {
  const auto config =
      RawConfig::from_json(R"({"r": {"a": 1, "b": 2}, "x": 3, "r": {"a": 7}, "x": 4})", "c.json");
  EXPECT_TRUE(config.find("r")->repeated);
  EXPECT_EQ(config.find("r.a")->number, 7.0);
  EXPECT_FALSE(config.find("r.a")->repeated);
  EXPECT_FALSE(config.has("r.b"));
  EXPECT_EQ(config.find("x")->number, 4.0);
}

TEST(RawConfig, ReadsWhatPythonWrites) {
  const auto config = RawConfig::from_json(
      R"({"a": NaN, "b": Infinity, "c": -Infinity, "d": "NaN \" Infinity", "e": [1, NaN]})", "c");
  EXPECT_TRUE(std::isnan(config.find("a")->number));
  EXPECT_EQ(config.find("a")->type, RawType::Number);
  EXPECT_TRUE(std::isinf(config.find("b")->number));
  EXPECT_LT(config.find("c")->number, 0);
  EXPECT_EQ(config.find("d")->text, "NaN \" Infinity");
  EXPECT_TRUE(std::isnan(config.find("e")->numbers[1]));
}

TEST(RawConfig, ADotInANameIsNoNesting) {
  const auto config = RawConfig::from_json(R"({"rope.x": 1})", "c.json");
  EXPECT_FALSE(config.has("rope.x"));
  EXPECT_TRUE(config.has("rope\\.x"));
}

TEST(RawConfig, UseMarks) {
  auto config = RawConfig::from_json(R"({"a": 1, "b": 1})", "c.json");
  EXPECT_NE(config.use("a"), nullptr);
  EXPECT_EQ(config.use("c"), nullptr);
  EXPECT_TRUE(config.find("a")->used);
  EXPECT_FALSE(config.find("b")->used);
}

TEST(RawConfig, HostileTextsAreRefusedInOneLine) {
  EXPECT_EQ(fault(""), "c.json: the file is empty; expected a JSON object");
  EXPECT_EQ(fault("[1]"), "c.json: expected a JSON object, found a list");
  EXPECT_EQ(fault("12"), "c.json: expected a JSON object, found a single value");
  EXPECT_EQ(fault("{\"a\":\n {\"b\": 1"),
            "c.json: the JSON text ends inside a value at line 2; the file is truncated");
  EXPECT_EQ(fault("{\"a\": 1,\n oops}"), "c.json: line 2: no valid JSON near 'oops}'");
  EXPECT_EQ(fault("{\"a\": \"\xff\"}"), "c.json: line 1 is not UTF-8 text");
  EXPECT_EQ(fault("{\"a\": 1e999}"), "c.json: line 1: number out of range: 1e999");
  std::string deep;
  for (int i = 0; i < 100000; ++i) {
    deep += "{\"a\":";
  }
  EXPECT_EQ(fault(deep), "c.json: nested deeper than 64 levels");
  EXPECT_EQ(fault(std::string(100000, '[')), "c.json: nested deeper than 64 levels");
  std::string many = "{";
  for (int i = 0; i < 300001; ++i) {
    many += "\"k" + std::to_string(i) + "\":0,";
  }
  EXPECT_EQ(fault(many + "\"z\":0}"),
            "c.json: more than 300000 keys; no model's config.json has so many");
}

}  // namespace
}  // namespace gyre::inspect
