// The page of an acceptance run: every figure has its data, every cell its row, failures are there
// to be read, nothing that a server says can break the page.
#include "gyre/report/accept_page.h"

#include <gtest/gtest.h>

#include "gyre/report/test_files.h"

namespace gyre::report {
namespace {

using accept::Acceptance;
using accept::Cell;
using accept::Sample;
using accept::Status;

Cell cell_of(int64_t level, const std::string& task, int64_t length, int64_t k, int64_t correct) {
  Cell cell;
  cell.level = level;
  cell.task = task;
  cell.length = length;
  cell.dials = {{"k", std::to_string(k)}};
  cell.planned = 640;
  cell.asked = 80;
  cell.answered = 79;
  cell.correct = 5 * correct;
  cell.verdicts = {{"ok", 5 * correct}, {"distractor", 80 - 5 * correct}};
  cell.buckets.assign(5, {16, correct, 0, 0.6, 0.98});
  cell.worst = 2;
  cell.threshold = 0.81;
  cell.status = correct > 14 ? Status::Pass : Status::Fail;
  return cell;
}

Sample failure_of(const std::string& sid, const std::string& answer) {
  Sample sample;
  sample.item.sid = sid;
  sample.item.level = 2;
  sample.item.task = "needle";
  sample.item.arm = "main";
  sample.item.length = 4096;
  sample.item.gold = {"KX7-3QD"};
  sample.item.evidence = {{0.35, 1400, 2600}};
  sample.reply.text = answer;
  sample.verdict = accept::Verdict::WrongCode;
  return sample;
}

Acceptance acceptance() {
  Acceptance a;
  a.subject = "http://127.0.0.1:8080/v1 small";
  a.command = "gyre accept --endpoint http://127.0.0.1:8080/v1 --out run";
  a.facts.server = "llama.cpp";
  a.facts.claims = {{"/props n_ctx", 8192}};
  a.one.ran = a.one.able = true;
  accept::Rung rung;
  rung.length = 4096;
  rung.predicted = 4080;
  rung.reported = 2048;
  rung.stripes = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, -1};
  rung.read.assign(16, -1);
  rung.read[0] = 0;
  rung.status = Status::Fail;
  rung.says = "sixteenths 1 to 8 lost";
  a.one.rungs = {rung};
  a.one.window.fits = 2048;
  a.one.window.fails = 4096;
  a.one.concurrency = {{4, 4, 3, 1, {}}};
  a.findings = {
      {"TRUNC_HEAD", "of 4080 tokens 2048 were read", {"sid-of-one-1"}, {{"window", "2048"}}}};
  a.cells = {cell_of(2, "needle", 1024, 0, 16), cell_of(2, "needle", 1024, 7, 15),
             cell_of(2, "needle", 4096, 0, 9), cell_of(3, "join", 1024, 0, 12)};
  a.cells[2].failures = {"abcdef0123456789"};
  a.measures = {{"guess_rate", "withheld code said all the same", 2, 1024, 16, 0.0, 0.0, 0.2,
                 accept::kUnknown, "needle", "none"}};
  a.ranking = {{"gain", 1024, 500, 16, 1.25, 0.9, 1.6, 0.8, 0.9},
               {"copy", 1024, 500, 6, 4.0, 3.5, 4.5, accept::kUnknown, accept::kUnknown}};
  a.curves = {{1024, 80.0, 85.0, 30.0, 512.0, 0}, {4096, 300.0, 310.0, 28.0, 640.0, 0}};
  a.levels = {{1, Status::Fail, 1024, "not kept at 4096", ""}};
  a.verdict = Status::Fail;
  a.says = {"FAIL: the text is not kept.", "line two", "line three"};
  a.failures = {failure_of("abcdef0123456789", "QQ2-222")};
  return a;
}

class AcceptPage : public ReportFolder {
 protected:
  static std::string page_of(const Acceptance& a) { return accept_page(a, "window.Plotly = {};"); }
};

TEST_F(AcceptPage, EveryFigureHasItsDataBesideIt) {
  write_accept_report(acceptance(), dir_ / "out");
  const std::string page = read_file(dir_ / "out" / "report.html");
  int figures = 0;
  for (size_t at = page.find("<figure id=\"fig-"); at != std::string::npos;
       at = page.find("<figure id=\"fig-", at + 1)) {
    const size_t begin = at + std::string("<figure id=\"fig-").size();
    const std::string id = page.substr(begin, page.find('"', begin) - begin);
    EXPECT_GT(count(read_file(dir_ / "out" / "figures" / (id + ".csv")), "\r\n"), 1) << id;
    ++figures;
  }
  EXPECT_EQ(figures, 7);  // stripes, tokens, retrieval, distractors, composition, gain, resources
  for (const char* file : {"findings", "failures"}) {
    EXPECT_GT(count(read_file(dir_ / "out" / "figures" / (std::string(file) + ".csv")), "\r\n"), 1);
  }
}

TEST_F(AcceptPage, SaysWhatToLookAtOnTheServerAtHandFirst) {
  const std::string page = page_of(acceptance());
  const size_t own = page.find("<b>llama.cpp:</b>"), other = page.find("<b>vLLM:</b>");
  ASSERT_NE(own, std::string::npos);
  ASSERT_NE(other, std::string::npos);
  EXPECT_LT(own, page.find("other servers"));
  EXPECT_GT(other, page.find("other servers"));
  EXPECT_NE(page.find("of 4080 tokens 2048 were read"), std::string::npos);
}

TEST_F(AcceptPage, HoldsEveryCellAndLinksItsFailures) {
  const std::string page = page_of(acceptance());
  EXPECT_EQ(count(page, ">part 3 of 5: "), 4);  // in the tables
  EXPECT_NE(page.find("<a href=\"#sid-abcdef0123456789\">"), std::string::npos);
  EXPECT_NE(page.find("id=\"sid-abcdef0123456789\""), std::string::npos);
  EXPECT_NE(page.find("FAIL: the text is not kept."), std::string::npos);
}

TEST_F(AcceptPage, WritesTheNumbersOfEachCellIntoTheMap) {
  Acceptance a = acceptance();
  a.cells[2].buckets.assign(5, {});  // not asked
  const std::string page = page_of(a);
  EXPECT_EQ(count(page, "1.00\\n0.60\u20130.98"), 5);
  EXPECT_EQ(count(page, R"("not asked")"), 5);
  EXPECT_NE(page.find(R"("quality":true)"), std::string::npos);
}

TEST_F(AcceptPage, ControlsHaveNoVerdictAndNoMap) {
  Acceptance a = acceptance();
  a.cells.push_back(cell_of(2, "needle", 4096, 7, 3));
  a.cells.back().arm = "noev";
  a.cells.back().status = Status::NotRun;
  const std::string page = page_of(a);
  EXPECT_NE(page.find("needle, no evidence, 7 distractors</th>"), std::string::npos);
  EXPECT_EQ(page.find("NOT RUN</span></td><td>"), std::string::npos);
  EXPECT_EQ(count(page, "<p class=\"panel-title\">needle, no evidence"), 0);
}

TEST_F(AcceptPage, OnlyListedRequestsAreLinks) {
  Acceptance a = acceptance();
  a.findings[0].evidence = {"abcdef0123456789", "0123456789abcdef"};
  const std::string page = page_of(a);
  EXPECT_EQ(page.find("href=\"#sid-0123456789abcdef\""), std::string::npos);
  EXPECT_NE(page.find("0123456789abcdef, not in the list of failures"), std::string::npos);
}

TEST_F(AcceptPage, OfManyFailuresThoseThatItNamesAreListed) {
  Acceptance a = acceptance();
  a.failures.clear();
  for (int i = 0; i < 500; ++i) {
    a.failures.push_back(failure_of("sid-number-" + std::to_string(i), "QQ2-222"));
  }
  a.findings[0].evidence = {"sid-number-499"};
  const std::string page = page_of(a);
  EXPECT_EQ(count(page, "<details class=\"failure\""), 400);
  EXPECT_NE(page.find("id=\"sid-sid-number-499\""), std::string::npos);
  EXPECT_NE(page.find("500 items were not answered right; 400 are here"), std::string::npos);
}

TEST_F(AcceptPage, ShowsBothEndsOfAPromptAndItsEvidence) {
  Acceptance a = acceptance();
  const std::string filler(5000, 'x'), evidence = "The record <b> carries code KX7-3QD.";
  a.failures[0].item.sentences = {evidence};
  const std::string prompt = "begin " + filler + " " + evidence + " " + filler + " the question?";
  const std::string page = accept_page(a, "window.Plotly = {};", [&](const std::string& sid) {
    return sid == "abcdef0123456789" ? prompt : std::string();
  });
  EXPECT_NE(page.find("<pre class=\"prompt\">begin "), std::string::npos);
  EXPECT_NE(page.find("<mark>The record &lt;b&gt; carries code KX7-3QD.</mark>"),
            std::string::npos);
  EXPECT_NE(page.find("the question?</pre>"), std::string::npos);
  EXPECT_EQ(count(page, "bytes \u2026</span>"), 2);  // left out between
  EXPECT_EQ(page.find(std::string(1000, 'x')), std::string::npos);
}

TEST_F(AcceptPage, CurvesOfAFullGridHoldLikenessFixed) {
  Acceptance a = acceptance();
  a.cells.clear();
  for (const int64_t length : {1024, 4096}) {
    a.cells.push_back(cell_of(2, "needle", length, 0, 16));
    a.cells.back().dials["s"] = "-";
    for (const int64_t k : {1, 7}) {
      for (const char* s : {"0", "4"}) {
        a.cells.push_back(cell_of(2, "needle", length, k, 12));
        a.cells.back().dials["s"] = s;
      }
    }
  }
  write_accept_report(a, dir_ / "grid");
  const std::string csv = read_file(dir_ / "grid" / "figures" / "distractors.csv");
  EXPECT_EQ(count(csv, "\r\n"), 1 + 2 * 2 * 3);  // lengths, likenesses, 0 1 7
  EXPECT_EQ(count(csv, "likeness 4 of 5\",1024,"), 3);
  EXPECT_EQ(count(read_file(dir_ / "grid" / "figures" / "similarity.csv"), "\r\n"), 1 + 2 * 2 * 2);
}

TEST_F(AcceptPage, NothingThatAServerSaysIsMarkup) {
  Acceptance a = acceptance();
  const std::string hostile = "</script><img src=x onerror=alert(1)>";
  a.failures = {failure_of(hostile, hostile + std::string(2000, 'x'))};
  a.subject = a.facts.model = a.facts.other[hostile] = a.findings[0].says = hostile;
  a.one.rungs[0].says = a.cells[0].says = a.measures[0].says = hostile;
  const std::string page = page_of(a);
  EXPECT_EQ(page.find("<img src=x"), std::string::npos);
  EXPECT_EQ(page.find(std::string(1000, 'x')), std::string::npos);  // answers are shortened
}

TEST_F(AcceptPage, PartsThatWereNotMeasuredSaySo) {
  Acceptance a;
  a.subject = "small";
  const std::string page = page_of(a);
  for (const char* reason : {"level 1 was not asked for", "level 2 was not asked for",
                             "level 3 was not asked for", "no latency pass was made"}) {
    EXPECT_NE(page.find(reason), std::string::npos) << reason;
  }
  EXPECT_NE(page.find("No finding."), std::string::npos);
}

}  // namespace
}  // namespace gyre::report
