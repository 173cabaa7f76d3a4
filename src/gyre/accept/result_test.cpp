// accept.json, JUnit and the terminal, from one result with something of everything.
#include <gtest/gtest.h>
#include <stdio.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "gyre/accept/result_testing.h"
#include "gyre/accept/result_words.h"
#include "gyre/accept/worst_bucket.h"
#include "gyre/base/files.h"

namespace gyre::accept {
namespace {

using Json = nlohmann::json;
using testing::a_result;

TEST(AcceptJson, HasTheKeysThatOthersRelyOn) {
  const Json json = Json::parse(to_json(a_result()));
  EXPECT_EQ(json.at("schema"), "gyre.accept/1");
  EXPECT_EQ(json.at("verdict"), "FAIL");
  EXPECT_EQ(json.at("effective_length"), 4096);
  EXPECT_EQ(json.at("levels").at(1).at("status"), "UNDECIDED");
  EXPECT_EQ(json.at("findings").at(0).at("id"), "TRUNC_HEAD");
  EXPECT_EQ(json.at("findings").at(0).at("evidence").at(0), "aaaa");
  EXPECT_EQ(json.at("findings").at(0).at("severity"), "fault");
  EXPECT_TRUE(json.at("findings").at(0).at("look_at").contains("llama.cpp"));
  EXPECT_EQ(json.at("cells").size(), 3u);
  EXPECT_EQ(json.at("cells").at(0).at("buckets").at(1).at("errors"), 1);
  EXPECT_EQ(json.at("worst_bucket").at("bucket"), 2);
  EXPECT_EQ(json.at("worst_bucket").at("correct"), 10);
  EXPECT_EQ(json.at("options").at("lengths").at(1), "8192");
}

// Accuracy stands twice: over what was answered, and over what was asked, errors as failures.
TEST(AcceptJson, HasBothAccuracies) {
  const Json cell = Json::parse(to_json(a_result())).at("cells").at(0);
  EXPECT_DOUBLE_EQ(cell.at("accuracy_answered").get<double>(), 26.0 / 31.0);
  EXPECT_DOUBLE_EQ(cell.at("accuracy_planned").get<double>(), 26.0 / 32.0);
}

TEST(AcceptJson, UnknownNumbersAreNull) {
  const Json json = Json::parse(to_json(a_result()));
  EXPECT_TRUE(json.at("level_one").at("flip_rate").is_null());
  EXPECT_TRUE(json.at("cost").at("money").is_null());
  EXPECT_TRUE(json.at("level_one").at("rungs").at(1).at("reported").is_null());
  EXPECT_TRUE(json.at("regression").is_null());
  EXPECT_TRUE(Json::parse(to_json(Acceptance{})).at("worst_bucket").is_null());
}

TEST(AcceptJson, FailuresCarryTheirPromptFile) {
  const Acceptance a = a_result();
  const Json failure = Json::parse(to_json(a)).at("failures").at(0);
  EXPECT_EQ(failure.at("verdict"), "distractor");
  EXPECT_EQ(failure.at("prompt_file"), "prompts/" + a.failures[0].item.sid + ".txt.gz");
}

TEST(WorstBucket, IsOfTheMainArmAlone) {
  Acceptance a = a_result();
  a.cells[2].buckets[0] = {16, 0, 0, 0.0, 0.1};  // a control: right answers are none there
  const auto worst = worst_bucket(a.cells);
  ASSERT_TRUE(worst);
  EXPECT_EQ(worst->cell, &a.cells[0]);
  EXPECT_EQ(worst->bucket, 1u);
  EXPECT_FALSE(worst_bucket({}));
}

/// What Python's XML parser reads: "suite|case|outcome|message" a line.
std::string parsed(const std::string& xml) {
  const testing::TempFolder temp;
  const auto file = temp / "junit.xml";
  write_file_atomic(file, xml);
  const std::string program =
      "python3 -c \"import sys, xml.etree.ElementTree as E\n"
      "root = E.parse(sys.argv[1]).getroot()\n"
      "print(root.tag, root.get('tests'), root.get('failures'), root.get('skipped'))\n"
      "for s in root:\n"
      "  for c in s:\n"
      "    k = c[0] if len(c) else None\n"
      "    print(s.get('name'), c.get('name'), '-' if k is None else k.tag,\n"
      "          '' if k is None else k.get('message') or k.text, sep='|')\" " +
      file.string();
  std::string out;
  FILE* pipe = ::popen(program.c_str(), "r");
  char text[512];
  while (::fgets(text, sizeof text, pipe) != nullptr) {
    out += text;
  }
  EXPECT_EQ(::pclose(pipe), 0);
  return out;
}

TEST(Junit, IsXmlWithACasePerRungCellAndFinding) {
  const std::string seen = parsed(to_junit(a_result()));
  EXPECT_NE(seen.find("testsuites 6 3 1\n"), std::string::npos) << seen;
  EXPECT_NE(seen.find("level 1, length kept|4096 tokens, chat|system-out|16 of 16 stripes\n"),
            std::string::npos)
      << seen;
  EXPECT_NE(seen.find("level 1, length kept|8192 tokens, completions|failure|stripes 1-7 <lost> & "
                      "gone \\x01\n"),
            std::string::npos)
      << seen;
  EXPECT_NE(seen.find("level 2, retrieval|needle, 4096 tokens, k 7, s 2|failure|26 of 32 right (31 "
                      "answered), worst bucket 2 of 2: 0.62 (0.40-0.80), wanted 0.80, needs about "
                      "40 more a bucket\n"),
            std::string::npos)
      << seen;
  EXPECT_NE(seen.find("level 2, retrieval|plain, 8192 tokens|skipped|level 1 failed at 8192 "
                      "tokens\n"),
            std::string::npos)
      << seen;
  EXPECT_NE(seen.find("findings|TRUNC_HEAD|failure|fault: only the last"), std::string::npos)
      << seen;
  EXPECT_NE(seen.find("findings|USAGE_MISSING|"), std::string::npos) << seen;
}

TEST(Junit, ALevelWithoutRowsStillHasItsVerdict) {
  Acceptance a = a_result();
  a.cells.clear();
  a.levels[1].status = Status::NotRun;
  EXPECT_NE(parsed(to_junit(a)).find("level 2, retrieval|verdict|skipped|needs more\n"),
            std::string::npos);
}

TEST(Junit, AnyBytesOfAServerStayXml) {
  Acceptance a = a_result();
  std::string bytes;
  for (int i = 1; i < 256; ++i) {
    bytes += static_cast<char>(i);
  }
  a.findings[0].says = bytes + "]]>\xef\xbf\xbf\xed\xa0\x80\xf0\x9f\x98\x80";
  EXPECT_NE(parsed(to_junit(a)).find("\xf0\x9f\x98\x80"), std::string::npos);
}

TEST(ResultText, KeepsToAHundredColumnsAndSaysTheVerdictFirst) {
  const std::string text = to_text(a_result());
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 100u) << line;
    EXPECT_EQ(std::count_if(line.begin(), line.end(), [](unsigned char c) { return c < 0x20; }), 0);
  }
  EXPECT_TRUE(text.starts_with("http://127.0.0.1:8080/v1 qwen\nFAIL\n  FAIL: kept to")) << text;
}

TEST(ResultText, ShowsFindingsForTheServerAndEveryPlannedCell) {
  const std::string text = to_text(a_result());
  EXPECT_NE(text.find("fault TRUNC_HEAD: the beginning of long prompts is not read"),
            std::string::npos);
  EXPECT_NE(text.find("look at (llama.cpp): "), std::string::npos);
  EXPECT_EQ(text.find("vLLM"), std::string::npos);
  EXPECT_NE(text.find("16/16 10/16"), std::string::npos);
  EXPECT_NE(text.find("level 1 failed at 8192 tokens"), std::string::npos);
}

TEST(ResultText, LongNamesCutNoNumber) {
  Acceptance a = a_result();
  a.cells[0].dials["qpos"] = std::string(200, 'q');
  Measure m;
  m.title = std::string(200, 't');
  m.task = "needle";
  m.value = 0.25;
  m.lo = 0.125;
  m.hi = 0.5;
  a.measures.push_back(m);
  const std::string text = to_text(a);
  EXPECT_NE(text.find("0.25 (0.12-0.50)"), std::string::npos) << text;
  EXPECT_NE(text.find("16/16 10/16"), std::string::npos);
}

TEST(ResultWords, CleanAndWrap) {
  EXPECT_EQ(grouped(16384), "16,384");
  EXPECT_EQ(grouped(-1234567), "-1,234,567");
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(clean_utf8("a\xff\xc3\xa9\xc3"), "a?\xc3\xa9?");
  EXPECT_EQ(clean_utf8("\x1b[31mred\a\n"), "\\x1b[31mred\\x07\n");  // a terminal would obey it
  EXPECT_EQ(clean_utf8("a\u202Eb\u009Bc\u2066d"), "a\\xe2\\x80\\xaeb\\xc2\\x9bc\\xe2\\x81\\xa6d");
  EXPECT_EQ(clean_utf8("\u00E9\u2013\u2028"), "\u00E9\u2013\u2028");
  EXPECT_EQ(one_line("a\nb\x1b[31m"), "a b\\x1b[31m");
  EXPECT_EQ(one_line("abcdef", 3), "abc...");
  EXPECT_EQ(wrapped("aa bb cc", "  ", 7), "  aa bb\n  cc\n");
  EXPECT_EQ(wrapped("", "  "), "");
}

TEST(ExitStatus, OnlyAPassIsZero) {
  Acceptance a;
  for (const Status status : {Status::Fail, Status::Undecided, Status::NotRun}) {
    a.verdict = status;
    EXPECT_EQ(exit_status(a), 1);
  }
  a.verdict = Status::Pass;
  EXPECT_EQ(exit_status(a), 0);
}

}  // namespace
}  // namespace gyre::accept
