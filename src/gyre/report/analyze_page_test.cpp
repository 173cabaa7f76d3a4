// The page of an analysis: figures with their CSV files, words on what does not hold, nothing that
// text of a model could break.
#include "gyre/report/analyze_page.h"

#include <gtest/gtest.h>

#include "gyre/analyze/constructed_testing.h"
#include "gyre/base/log.h"
#include "gyre/report/test_files.h"

namespace gyre::report {
namespace {

class AnalyzePage : public ReportFolder {
 protected:
  analyze::Analysis analysis(const std::string& name = "some/model") {
    const model::Transformer model = analyze::constructed_model();
    const auto tokenizer = model::byte_tokenizer();
    const analyze::Subject subject{.name = name,
                                   .identity = "",
                                   .model = model,
                                   .tokenizer = *tokenizer,
                                   .train_length = 64,
                                   .begin_token = analyze::kBegin};
    const analyze::AnalyzeOptions options{.tokens = 64,
                                          .windows = 2,
                                          .random_rows = 1,
                                          .ablation_rows = 2,
                                          .ablation_items = 8,
                                          .spectrum = true,
                                          .spectrum_tokens = 16};
    const LogSink old = set_log_sink([](Level, std::string_view) {});
    analyze::Analysis out = analyze::analyze({subject, {}, options, dir_ / "out", false});
    set_log_sink(old);
    return out;
  }
  std::string page_of(const analyze::Analysis& a) {
    return analyze_page(a, "gyre analyze some/model", "window.Plotly = {};");
  }
};

TEST_F(AnalyzePage, EveryFigureHasItsDataBesideIt) {
  const analyze::Analysis a = analysis();
  write_analyze_report(a, "gyre analyze some/model", dir_ / "out");
  const std::string page = read_file(dir_ / "out" / "report.html");
  int figures = 0;
  for (size_t at = page.find("<figure id=\"fig-"); at != std::string::npos;
       at = page.find("<figure id=\"fig-", at + 1)) {
    const size_t begin = at + std::string("<figure id=\"fig-").size();
    const std::string id = page.substr(begin, page.find('"', begin) - begin);
    const std::string csv = read_file(dir_ / "out" / "figures" / (id + ".csv"));
    EXPECT_GT(count(csv, "\r\n"), 1) << id;
    ++figures;
  }
  EXPECT_EQ(figures, 12);
}

TEST_F(AnalyzePage, SaysWhatHoldsAndWhatDoesNot) {
  const std::string page = page_of(analysis());
  EXPECT_GT(count(page, "<span class=\"finding better\">holds</span>"), 0);
  EXPECT_GT(count(page, "<span class=\"finding worse\">does not hold</span>"), 0);
  EXPECT_NE(page.find("layer 0 head 0 (diagonal"), std::string::npos);
}

TEST_F(AnalyzePage, MapsAndExportsAreInTheData) {
  const std::string page = page_of(analysis());
  EXPECT_GT(count(page, "\"heat\":{"), 10);
  EXPECT_GT(count(page, "\"exports\":true"), 10);
  EXPECT_NE(page.find("class=\"sortable\""), std::string::npos);
}

TEST_F(AnalyzePage, NamesAreShownAsText) {
  const std::string page = page_of(analysis("<img src=x onerror=alert(1)></script>"));
  EXPECT_EQ(page.find("<img src=x"), std::string::npos);
}

TEST_F(AnalyzePage, PartsThatWereNotMeasuredSaySo) {
  analyze::Analysis a = analysis();
  a.ablation.reset();
  a.spectrum.reset();
  const std::string page = page_of(a);
  EXPECT_NE(page.find("Left out: --no-ablation."), std::string::npos);
  EXPECT_NE(page.find("Left out: asked for with --spectrum."), std::string::npos);
}

}  // namespace
}  // namespace gyre::report
