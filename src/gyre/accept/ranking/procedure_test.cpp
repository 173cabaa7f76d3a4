// The whole ranking mode against a subject whose truth is known: it reads the last `window` bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gyre/accept/acceptance.h"
#include "gyre/accept/ranking/scores.h"

namespace gyre::accept {
namespace {

constexpr double kTokensPerByte = 0.25;

/// The likeliest value is the one that the text gives to the asked name, if that was read.
class Reader : public Subject {
 public:
  explicit Reader(size_t window) : window_(window) {}
  std::string name() const override { return "reader"; }
  Facts discover() override { return {}; }
  bool concurrent() const override { return false; }
  bool can(Api api) const override { return api == Api::Completions; }
  std::optional<int64_t> count_tokens(const std::string&) override { return std::nullopt; }

  Reply ask(const Ask& ask) override {
    const std::string& text = ask.messages[0].content;
    longest = std::max(longest, text.size());
    shortest = std::min(shortest, text.size());
    Reply reply;
    reply.finish = "length";
    const std::string stem = text.substr(text.rfind("The code for ")) + " ";
    const std::string read = text.substr(text.size() - std::min(window_, text.size()));
    const size_t at = read.find(stem);
    for (const std::string& candidate : ask.candidates) {
      const bool said = at != std::string::npos && read[at + stem.size()] == candidate[1];
      reply.candidates.emplace_back(at == std::string::npos ? std::log(0.1)
                                    : said                  ? std::log(0.91)
                                                            : std::log(0.01));
    }
    return reply;
  }

  size_t longest = 0, shortest = SIZE_MAX;

 private:
  size_t window_;
};

struct RankedRun {
  Reader reader;
  Record record;
  Session session{reader, record, {}};
  AcceptOptions options;
  Acceptance result;

  explicit RankedRun(size_t window, std::vector<int64_t> lengths) : reader(window) {
    options.lengths = std::move(lengths);
    options.levels = {2};
    options.looks = {24};
    options.threshold = 0.7;
    result.options = options;
    result.calibration.tokens_per_byte = kTokensPerByte;
    result.calibration.source = "usage";
    result.answer_tokens = 4096;  // a budget for answers in words, which ranking has no use for
    Bench bench{session, options, result};
    run_ranking(bench);
  }

  const Cell& cell(int64_t length) const {
    const auto at = std::find_if(result.cells.begin(), result.cells.end(),
                                 [&](const Cell& one) { return one.length == length; });
    EXPECT_NE(at, result.cells.end()) << length;
    return *at;
  }
};

TEST(Ranking, PromptsAreAsLongAsAskedWhateverAnAnswerInWordsWouldTake) {
  const RankedRun run(SIZE_MAX, {2000});
  EXPECT_LE(run.reader.longest, 2000 / kTokensPerByte);
  EXPECT_GE(run.reader.longest, 1980 / kTokensPerByte);
  EXPECT_LE(run.reader.shortest, 512 / kTokensPerByte);
}

TEST(Ranking, AReaderOfEverythingPassesAndGainsAlike) {
  const RankedRun run(SIZE_MAX, {2000});
  EXPECT_EQ(run.cell(512).arm, "short");
  EXPECT_EQ(run.cell(512).status, Status::Pass);
  const Cell& cell = run.cell(2000);
  EXPECT_EQ(cell.status, Status::Pass);
  EXPECT_EQ(cell.correct, 5 * 24);
  EXPECT_NEAR(cell.gain_nats, std::log(0.91 / 0.01), 1e-9);
  ASSERT_EQ(run.result.measures.size(), 1U);
  EXPECT_EQ(run.result.measures[0].id, "guess_rate");
  EXPECT_EQ(run.result.measures[0].n, 16);
  EXPECT_EQ(run.result.measures[0].value, 0.0);  // ten equal candidates: a tie is no first place
}

TEST(Ranking, EvidenceBeyondAWindowGainsNothing) {
  const RankedRun run(4000, {2000});  // 1000 tokens
  const Cell& cell = run.cell(2000);
  EXPECT_EQ(cell.status, Status::Fail);
  ASSERT_EQ(cell.buckets.size(), 5U);
  EXPECT_EQ(cell.buckets[0].correct, 0);
  EXPECT_EQ(cell.buckets[4].correct, 24);
  for (const RankingPoint& point : run.result.ranking) {
    if (point.length == 2000) {
      const bool far = point.distance > 1200, near = point.distance < 800;
      EXPECT_TRUE(!far || point.nats == 0.0) << point.distance;
      EXPECT_TRUE(!near || point.nats > 4.0) << point.distance;
    }
  }
}

TEST(Ranking, WithoutLogProbabilitiesNothingIsDecided) {
  class Silent : public Reader {
   public:
    Silent() : Reader(0) {}
    Reply ask(const Ask&) override { return {}; }
  } silent;
  Record record;
  Session session(silent, record, {});
  AcceptOptions options;
  options.lengths = {2000};
  options.looks = {4};
  Acceptance result;
  result.options = options;
  result.calibration.source = "usage";
  Bench bench{session, options, result};
  run_ranking(bench);
  for (const Cell& cell : result.cells) {
    EXPECT_EQ(cell.status, Status::NotRun);
    EXPECT_EQ(cell.asked, 0);  // no request failed
    EXPECT_EQ(cell.why_not_run, "no answer told log-probabilities");
  }
  EXPECT_EQ(result.cells.size(), 2U);
  EXPECT_EQ(session.requests(), 2 * 5 * 4);  // one look at one length, no more
  EXPECT_TRUE(result.ranking.empty());
}

}  // namespace
}  // namespace gyre::accept
