// Reading compare.json: every key of the contract is missed by name, wrong types are named.
#include "gyre/report/comparison.h"

#include <cmath>

#include "gyre/base/error.h"
#include "gyre/report/test_files.h"

namespace gyre::report {
namespace {

std::string fault(const Json& json) {
  try {
    parse_comparison(json.dump(), "x/compare.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::Format);
    return error.what();
  }
  return "no fault";
}

TEST(Comparison, NamesEveryMissingTopLevelKey) {
  const Json whole = fixture();
  for (const auto& [key, value] : whole.items()) {
    Json json = whole;
    json.erase(key);
    EXPECT_EQ(fault(json),
              "x/compare.json: missing key '" + key + "'; make the file again with: gyre compare");
  }
}

TEST(Comparison, NamesEveryMissingKeyInsideLists) {
  const Json whole = fixture();
  for (const char* list : {"arms", "pairs", "length_curve", "needle", "frequencies", "overhead",
                           "quoted", "cells", "sources"}) {
    for (const auto& [key, value] : whole.at(list).at(0).items()) {
      if (key == "ours") {
        continue;  // the one optional key
      }
      Json json = whole;
      json[list][0].erase(key);
      EXPECT_NE(fault(json).find("missing key '" + std::string(list) + "[0]." + key + "'"),
                std::string::npos)
          << fault(json);
    }
  }
}

TEST(Comparison, NamesTheKeyOfAWrongType) {
  Json json = fixture();
  json["pairs"][1]["delta_nats"] = "much";
  EXPECT_EQ(fault(json),
            "x/compare.json: key 'pairs[1].delta_nats' is string, expected a number; see "
            "docs/file-formats.md");
  json = fixture();
  json["pairs"][0]["ci95"] = {1};
  EXPECT_NE(fault(json).find("key 'pairs[0].ci95' is array, expected [lo, hi]"), std::string::npos);
  json = fixture();
  json["arms"] = 3;
  EXPECT_NE(fault(json).find("key 'arms' is number, expected an array"), std::string::npos);
}

TEST(Comparison, RefusesOtherFilesAndNoArms) {
  EXPECT_THROW(parse_comparison("not json", "x"), Error);
  Json json = fixture();
  json["schema"] = "gyre.eval/1";
  EXPECT_EQ(fault(json), "x/compare.json: schema is 'gyre.eval/1', expected 'gyre.compare/1'");
  json = fixture();
  json["arms"] = Json::array();
  EXPECT_EQ(fault(json), "x/compare.json: key 'arms' is empty; a report needs at least one arm");
}

TEST(Comparison, NullNumbersAreUnknown) {
  Json json = fixture();
  json["pairs"][0]["ci95"] = nullptr;
  json["pairs"][0]["seeds_needed"] = nullptr;
  json["arms"][0]["val_loss_sd"] = nullptr;
  const Comparison c = parse_comparison(json.dump(), "x");
  EXPECT_TRUE(std::isnan(c.pairs[0].ci95.lo));
  EXPECT_FALSE(c.pairs[0].seeds_needed.has_value());
  EXPECT_TRUE(std::isnan(c.arms[0].val_loss_sd));
}

}  // namespace
}  // namespace gyre::report
