// The page and its CSV files, made from the synthetic fixture. What they look like in a browser is
// tested by testing/browser/report_test.py.
#include "gyre/report/report.h"

#include <cmath>
#include <sstream>

#include "gyre/base/error.h"
#include "gyre/report/figure.h"
#include "gyre/report/sections/bands.h"
#include "gyre/report/test_files.h"

namespace gyre::report {
namespace {

using Report = ReportFolder;

// Cells of a CSV without quoted cells, by row.
std::vector<std::vector<std::string>> cells(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line.pop_back();  // the carriage return of RFC 4180
    std::vector<std::string>& row = rows.emplace_back();
    std::istringstream parts(line + ",");
    for (std::string cell; std::getline(parts, cell, ',');) {
      row.push_back(cell);
    }
  }
  return rows;
}

// Every script element, as a browser would cut them.
std::vector<std::string> scripts(const std::string& page) {
  std::vector<std::string> out;
  for (size_t at = page.find("<script"); at != std::string::npos; at = page.find("<script", at)) {
    const size_t end = page.find("</script", at);
    out.push_back(page.substr(at, end - at));
    at = end;
  }
  return out;
}

TEST_F(Report, SameFileGivesSameBytes) {
  const std::string first = page(fixture());
  const std::string training = csv("training");
  EXPECT_EQ(page(fixture()), first);
  EXPECT_EQ(csv("training"), training);
}

TEST_F(Report, CsvNumbersEqualTheJson) {
  const Json json = fixture();
  put(json);
  write_report(dir_);
  const auto pairs = cells(csv("difference"));
  ASSERT_EQ(pairs.size(), json["pairs"].size() + 1);
  for (size_t i = 0; i < json["pairs"].size(); ++i) {
    EXPECT_EQ(std::stod(pairs[i + 1][2]), json["pairs"][i]["delta_nats"].get<double>());
    EXPECT_EQ(std::stod(pairs[i + 1][3]), json["pairs"][i]["ci95"][0].get<double>());
    EXPECT_EQ(std::stod(pairs[i + 1][11]), json["pairs"][i]["p_value"].get<double>());
  }
  const auto lengths = cells(csv("extrapolation"));
  ASSERT_EQ(lengths.size(), json["length_curve"].size() + 1);
  for (size_t i = 0; i < json["length_curve"].size(); ++i) {
    EXPECT_EQ(std::stod(lengths[i + 1][3]), json["length_curve"][i]["loss"].get<double>());
  }
  const auto curve = cells(csv("training"));
  const Json& first = json["arms"][0]["curve"][0];
  for (size_t i = 0; i < first["loss"].size(); ++i) {
    EXPECT_EQ(std::stod(curve[i + 1][3]), first["loss"][i].get<double>());
  }
}

TEST_F(Report, EveryFigureHasCaptionLimitFormulaTagAndCsv) {
  const std::string text = page(fixture());
  const int figures = count(text, "<figure id=\"fig-");
  EXPECT_EQ(figures, 7);
  for (const char* part : {"<figcaption><p><b>Figure ", "<b>Not shown:</b> ", "<b>Formula:</b> ",
                           "<b>Command:</b> <code>gyre compare --arms"}) {
    EXPECT_EQ(count(text, part), figures) << part;
  }
  for (size_t at = text.find("<figure id=\"fig-"); at != std::string::npos;
       at = text.find("<figure id=\"fig-", at + 1)) {
    const size_t start = at + 16;
    const std::string id = text.substr(start, text.find('"', start) - start);
    const std::string body = text.substr(at, text.find("</figure>", at) - at);
    EXPECT_NE(body.find("<a href=\"figures/" + id + ".csv\">"), std::string::npos) << id;
    EXPECT_NE(body.find("<span class=\"tag measured\">"), std::string::npos) << id;
    EXPECT_TRUE(std::filesystem::is_regular_file(dir_ / "figures" / (id + ".csv"))) << id;
  }
}

TEST_F(Report, LoadsNothingFromOutside) {
  const std::string text = page(fixture());
  for (const char* part : {"src=", "rel=\"stylesheet\"", "@import", "url(", "<iframe", "<object"}) {
    EXPECT_EQ(count(text, part), 0) << part;
  }
  EXPECT_NE(text.find("content=\"default-src 'none'; script-src 'unsafe-inline'"),
            std::string::npos);
}

TEST_F(Report, HostileNamesStayText) {
  Json json = fixture();
  const std::string name = "</script><script>alert(1)</script>\"'&<!--";
  json["title"] = name;
  json["verdict"][0] = name;
  json["limits"][0] = name;
  json["sources"][0]["source"] = name;
  json["quoted"][0]["what"] = name;
  json["settings"]["data"][0] = name;
  json["arms"][1]["name"] = name;
  json["pairs"][0]["b"] = name;
  json["cells"].back()["error"] = name;
  for (const char* list : {"length_curve", "needle", "frequencies"}) {
    for (Json& row : json[list]) {
      row["arm"] = row["arm"] == "prope:p=0.75" ? Json(name) : row["arm"];
    }
  }
  const std::string text = page(json);
  EXPECT_EQ(text.find("<script>alert"), std::string::npos);
  EXPECT_EQ(text.find("<!--"), std::string::npos);
  EXPECT_EQ(scripts(text).size(), 3U);
  EXPECT_NE(text.find("<h1>&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;"),
            std::string::npos);
}

TEST_F(Report, FigureDataReadsBackAsJson) {
  const std::string data = scripts(page(fixture())).front();
  const Json panels = Json::parse(data.substr(data.find('>') + 1));
  ASSERT_GE(panels.size(), 12U);
  const Json json = fixture();
  // The first trace of the first panel is the interval over seeds of the arm with the lowest loss.
  const Json& forest = panels[0]["traces"][0];
  EXPECT_EQ(forest["x"][0], json["pairs"][0]["delta_nats"]);
  EXPECT_NEAR(forest["error"]["minus"][0].get<double>(), 0.0142, 1e-9);  // by hand
}

TEST_F(Report, LeavesOutWhatIsNotThereAndSaysSo) {
  Json json = fixture();
  json["needle"] = Json::array();
  json["frequencies"] = Json::array();
  json["overhead"] = Json::array();
  json["pairs"] = Json::array();
  json["length_curve"] = nullptr;
  json["quoted"] = Json::array();
  page(fixture());
  const std::string text = page(json);
  for (const char* reason : {"needle ranking was not run", "no arm rotates queries and keys",
                             "no arm learns its frequencies", "at least two arms",
                             "evaluated at other lengths", "no published number"}) {
    EXPECT_NE(text.find(reason), std::string::npos) << reason;
  }
  EXPECT_EQ(count(text, "<figure id="), 2);
  EXPECT_FALSE(std::filesystem::exists(dir_ / "figures/needle.csv")) << "left from before";
  EXPECT_EQ(report_files(dir_).size(), 4U);  // page, arms, training, position
}

TEST_F(Report, FixedFrequenciesAloneHaveASpectrumButNoTrajectory) {
  Json json = fixture();
  for (Json& row : json["frequencies"]) {
    row["learned"] = false;
  }
  const std::string text = page(json);
  EXPECT_NE(text.find("id=\"fig-spectra\""), std::string::npos);
  EXPECT_EQ(text.find("id=\"fig-trajectories\""), std::string::npos);
  EXPECT_NE(text.find("because no arm learns its frequencies"), std::string::npos);
}

TEST_F(Report, OneArmAndTwelveArmsWork) {
  Json json = fixture();
  json["arms"] = Json::array({json["arms"][0]});
  json["pairs"] = Json::array();
  EXPECT_NE(page(json).find("id=\"fig-position\""), std::string::npos);
  json = fixture();
  while (json["arms"].size() < 12) {
    Json arm = json["arms"][1];
    arm["name"] = "arm" + std::to_string(json["arms"].size());
    json["arms"].push_back(arm);
  }
  const std::string text = page(json);
  EXPECT_NE(text.find("data-arm=\"11\""), std::string::npos);
  EXPECT_NE(text.find("stroke-dasharray=\"4 3\""), std::string::npos);
}

// Keys that gyre compare writes beyond the contract.
TEST_F(Report, PooledIntervalsCorrectedPAndTheRuleAreShown) {
  Json json = fixture();
  json["pairs"][0]["interval_over"] = "seeds, pooled sd";
  for (Json& pair : json["pairs"]) {
    pair["p_value_holm"] = 0.0625;
  }
  json["verdict_rule"] = "better: p < 0.05";
  const std::string text = page(json);
  EXPECT_NE(text.find("[\u22120.0313, \u22120.0029]</td>"), std::string::npos);
  EXPECT_NE(text.find(">p (Holm)</th>"), std::string::npos);
  EXPECT_EQ(count(text, "<td class=\"num\">0.062</td>"), 4);
  EXPECT_NE(text.find("<b>Finding:</b> better: p &lt; 0.05"), std::string::npos);
}

TEST_F(Report, ShowsEveryFailedCell) {
  const std::string text = page(fixture());
  EXPECT_NE(text.find("11 runs: 10 done, 1 failed."), std::string::npos);
  EXPECT_NE(text.find("loss became NaN at step 212"), std::string::npos);
  EXPECT_NE(text.find("<code>cells/lerope-s3</code>"), std::string::npos);
}

TEST_F(Report, StatesStatusSourcesAndTags) {
  const std::string text = page(fixture());
  for (const char* part : {"has not been peer reviewed", "with the help of AI", "measured here",
                           "CC BY 4.0", "not seen or endorsed", "<span class=\"tag quoted\">",
                           "<span class=\"tag analytic\">", "no attention weight"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}

TEST_F(Report, MissingInputIsNamed) {
  try {
    write_report(dir_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("compare.json: cannot open"), std::string::npos);
  }
  EXPECT_FALSE(std::filesystem::exists(dir_ / "figures"));
}

TEST_F(Report, MissingChartingLibraryIsNamed) {
  ::setenv("GYRE_PLOTLY_JS", (dir_ / "none.js").c_str(), 1);
  try {
    find_plotly(dir_ / "bin");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::File);
    EXPECT_EQ(error.what(),
              str("plotly.min.js not found; looked for ",
                  (dir_ / "bin/share/gyre/plotly.min.js").string(), ", ",
                  (dir_ / "share/gyre/plotly.min.js").string(), ", ", (dir_ / "none.js").string(),
                  "; set GYRE_PLOTLY_JS to the file of the PyPI package plotly "
                  "(plotly/package_data/plotly.min.js)"));
  }
}

TEST_F(Report, ChartingLibraryIsFoundBesideOrAboveTheProgramFirst) {
  EXPECT_EQ(find_plotly(dir_ / "bin"), dir_ / "stub.js");  // from the environment
  std::filesystem::create_directories(dir_ / "share/gyre");
  write_file_atomic(dir_ / "share/gyre/plotly.min.js", "above");
  EXPECT_EQ(find_plotly(dir_ / "bin"), dir_ / "share/gyre/plotly.min.js");
  std::filesystem::create_directories(dir_ / "bin/share/gyre");
  write_file_atomic(dir_ / "bin/share/gyre/plotly.min.js", "beside");
  EXPECT_EQ(find_plotly(dir_ / "bin"), dir_ / "bin/share/gyre/plotly.min.js");
}

TEST(Bands, CountsByHand) {
  // Length 100: 0.05 turn is a wavelength of 2000; gathered is 180 to 240.
  const double turn = 2 * 3.14159265358979323846;
  const std::vector<double> inv_freq = {turn / 10,   turn / 200,  turn / 239,
                                        turn / 1999, turn / 2001, 0};
  EXPECT_EQ(count_gathered(inv_freq, 100), 2);
  EXPECT_EQ(count_suppressed(inv_freq, 100), 2);
  EXPECT_NEAR(wavelength_of(turn / 200), 200, 1e-9);
  EXPECT_TRUE(std::isinf(wavelength_of(0)));
}

}  // namespace
}  // namespace gyre::report
