// Whole analyses of the constructed model: planted bands, ablation, resuming, refusals, spectrum.
#include "gyre/analyze/analysis.h"

#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "gyre/analyze/constructed_testing.h"
#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/log.h"
#include "gyre/base/progress.h"
#include "gyre/evaluate/fixtures.h"
#include "gyre/model/model_testing.h"
#include "gyre/train/trainer.h"

namespace gyre::analyze {
namespace {

using evaluate::testing::TempFolder;
using Json = nlohmann::json;

AnalyzeOptions small_options() {
  return {.tokens = 64,
          .windows = 2,
          .random_rows = 2,
          .ablation_rows = 4,
          .ablation_items = 8,
          .spectrum_tokens = 24};
}

class AnalysisOf {
 public:
  explicit AnalysisOf(model::Transformer model, int64_t begin_token = kBegin)
      : model_(std::move(model)),
        subject_{.name = "a model",
                 .identity = "1",
                 .model = model_,
                 .tokenizer = *tokenizer_,
                 .train_length = 64,
                 .begin_token = begin_token} {}
  Analysis run(const std::filesystem::path& out, const AnalyzeOptions& options,
               bool force = false) {
    const LogSink old = set_log_sink([](Level, std::string_view) {});
    try {
      Analysis analysis = analyze({subject_, {}, options, out, force});
      set_log_sink(old);
      return analysis;
    } catch (...) {
      set_log_sink(old);
      throw;
    }
  }
  std::string message(const std::filesystem::path& out, const AnalyzeOptions& options) {
    try {
      run(out, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

 private:
  model::Transformer model_;
  std::unique_ptr<model::Tokenizer> tokenizer_ = model::byte_tokenizer();
  Subject subject_;
};

const GroupEffect& effect(const Analysis& a, const std::string& task, BandGroup group) {
  for (const TaskEffect& each : a.ablation->tasks) {
    if (each.task == task) {
      return each.groups.at(static_cast<size_t>(group));
    }
  }
  throw std::out_of_range(task);
}

TEST(Analysis, WithoutThePlantedPairsCopyingIsLost) {
  // The previous-token head, without which induction has nothing to look for, uses the four
  // rotating pairs alone: they are in the fast third. The others hold codes with room to spare.
  const TempFolder folder("analyze-ablation");
  const Analysis a = AnalysisOf(constructed_model()).run(folder.path / "out", small_options());
  ASSERT_EQ(a.ablation->tasks.size(), 3U);
  EXPECT_LT(a.ablation->tasks[0].loss, 0.2);
  EXPECT_GT(effect(a, "copy", BandGroup::Fast).increase.lo, 2.0);
  EXPECT_LT(effect(a, "copy", BandGroup::Slow).increase.hi,
            effect(a, "copy", BandGroup::Fast).increase.lo);
  EXPECT_GT(*a.ablation->tasks[1].accuracy, 0.7);  // retrieval: key, value, key again
}

TEST(Analysis, ResumesAfterAStopAndAddsParts) {
  const TempFolder folder("analyze-resume");
  const auto out = folder.path / "out";
  AnalyzeOptions options = small_options();
  options.ablation = false;
  AnalysisOf analysis(constructed_model());
  const Analysis whole = analysis.run(out, options);
  const std::string lines = read_file(out / "layers.jsonl");
  write_file_atomic(out / "layers.jsonl", lines.substr(0, lines.find('\n') + 40));  // cut in line 2
  const Analysis again = analysis.run(out, options);
  EXPECT_EQ(read_file(out / "layers.jsonl"), lines);
  EXPECT_EQ(to_text(again), to_text(whole));
  options.ablation = true;
  const Analysis more = analysis.run(out, options);
  EXPECT_TRUE(more.ablation.has_value());
  EXPECT_EQ(read_file(out / "layers.jsonl"), lines);
  EXPECT_EQ(Json::parse(read_file(out / "analyze.json")).at("schema"), "gyre.analyze/1");
}

TEST(Analysis, SecondsOfAResumedAnalysisAddUp) {
  const TempFolder folder("analyze-seconds");
  const auto out = folder.path / "out";
  AnalyzeOptions options = small_options();
  options.ablation = false;
  AnalysisOf analysis(constructed_model());
  const double first = analysis.run(out, options).seconds.at("layers");
  EXPECT_GT(first, 0.0);
  EXPECT_EQ(analysis.run(out, options).seconds.at("layers"), first);  // nothing was left to do
  write_file_atomic(out / "seconds.jsonl", R"({"part":"layers","seconds":1000.0})"
                                           "\nno JSON\n");
  const std::string lines = read_file(out / "layers.jsonl");
  write_file_atomic(out / "layers.jsonl", lines.substr(0, lines.find('\n') + 1));
  const double again = analysis.run(out, options).seconds.at("layers");
  EXPECT_GT(again, 1000.0);
  EXPECT_LT(again, 1060.0);
}

TEST(Analysis, RefusesALineThatIsNotItsOwn) {
  const TempFolder folder("analyze-line");
  const auto out = folder.path / "out";
  AnalyzeOptions options = small_options();
  options.ablation = false;
  AnalysisOf analysis(constructed_model());
  analysis.run(out, options);
  write_file_atomic(out / "layers.jsonl", "{\"layer\": 0}\n");
  EXPECT_EQ(analysis.message(out, options),
            (out / "layers.jsonl").string() +
                ": not a line of gyre analyze: key 'wavelength' not found; --force starts over");
  write_file_atomic(out / "layers.jsonl", "{\"layer\": \n");
  const std::string text = analysis.message(out, options);
  EXPECT_NE(text.find(": not a line of gyre analyze: line 1, column 11: "), std::string::npos)
      << text;
}

TEST(Analysis, RefusesPartsWhoseSettingsAreGone) {
  const TempFolder folder("analyze-lone");
  const auto out = folder.path / "out";
  AnalyzeOptions options = small_options();
  options.ablation = false;
  AnalysisOf analysis(constructed_model());
  analysis.run(out, options);
  std::filesystem::remove(out / "settings.json");
  EXPECT_EQ(analysis.message(out, options),
            out.string() +
                " holds layers.jsonl of an analysis, and settings.json, which says of what, is "
                "gone; put it back, use another --out, or --force to start over");
  EXPECT_NO_THROW(analysis.run(out, options, true));
}

TEST(Analysis, StopsOnCtrlCAndKeepsNothingHalf) {
  const TempFolder folder("analyze-stop");
  AnalysisOf analysis(constructed_model());
  set_interrupted(true);
  EXPECT_THROW(analysis.run(folder.path / "out", small_options()), train::Interrupted);
  set_interrupted(false);
  EXPECT_NO_THROW(analysis.run(folder.path / "out", small_options()));
}

TEST(Analysis, RefusesAnotherConfiguration) {
  const TempFolder folder("analyze-other");
  const auto out = folder.path / "out";
  AnalyzeOptions options = small_options();
  options.ablation = false;
  AnalysisOf analysis(constructed_model());
  analysis.run(out, options);
  options.windows = 1;
  EXPECT_EQ(analysis.message(out, options),
            out.string() +
                " holds an analysis with --windows 2, this one has 1; use another --out, "
                "or --force to start over");
  EXPECT_NO_THROW(analysis.run(out, options, true));
  EXPECT_EQ(analysis.message(out, options), "");
}

/// Every head has the same constant q and k: amplitude 1 in pair `planted`, 0.2 in the other three.
model::Transformer planted_model(int64_t planted) {
  model::Transformer model = constructed_model();
  const c10::NoGradGuard no_grad;
  at::Tensor qkv = model.weight("blocks.0.attention.qkv.weight");
  qkv.zero_();
  for (int64_t part = 0; part < 2; ++part) {
    for (int64_t head = 0; head < 4; ++head) {
      for (int64_t m = 0; m < kRotating; ++m) {
        set(projection_row(model, 0, part, head, m), 0, m == planted ? 0.3 : 0.06);
      }
    }
  }
  return model;
}

TEST(Analysis, FindsThePlantedBandAndItsSignChange) {
  // Pair 2: theta 0.1, wavelength 62.83, cos falls below 0 and rises above it again at 0.75 of
  // that, 47.1 tokens: the first whole distance is 48. Range 2 against 0.04 x 2 of the next.
  const TempFolder folder("analyze-planted");
  AnalyzeOptions options = small_options();
  options.ablation = false;
  const Analysis a = AnalysisOf(planted_model(2)).run(folder.path / "out", options);
  ASSERT_TRUE(a.positions && a.positions->bands.dominant);
  EXPECT_EQ(a.positions->bands.dominant->band, 2);
  EXPECT_NEAR(a.positions->bands.dominant->wavelength, 62.83, 0.01);
  EXPECT_NEAR(a.positions->bands.dominant->ratio, 25.0, 0.5);
  ASSERT_TRUE(a.positions->sign_change && a.positions->sign_change->measured);
  EXPECT_NEAR(a.positions->sign_change->predicted, 47.12, 0.01);
  EXPECT_EQ(*a.positions->sign_change->measured, 48);
  EXPECT_NEAR(a.positions->sign_change->phase, 0.0, 1e-5);
}

TEST(Analysis, FindingsSayWhatDoesNotHold) {
  const TempFolder folder("analyze-findings");
  AnalyzeOptions options = small_options();
  options.ablation = false;
  const Analysis a = AnalysisOf(planted_model(2)).run(folder.path / "out", options);
  const auto verdict = [&](const std::string& id) {
    for (const Finding& finding : a.findings) {
      if (finding.id == id) {
        return finding.verdict;
      }
    }
    return Verdict::Open;
  };
  EXPECT_EQ(verdict("dominant"), Verdict::Holds);
  EXPECT_EQ(verdict("positional-heads"), Verdict::Fails);
  EXPECT_EQ(verdict("sign-change"), Verdict::Holds);
  EXPECT_EQ(verdict("ablation"), Verdict::Open);
}

TEST(Analysis, WithoutRotationHeadsAreStillMeasured) {
  const TempFolder folder("analyze-plain");
  const model::ModelConfig config = [] {
    model::ModelConfig c = model::small_config();
    c.vocab = 257;
    return c;
  }();
  AnalysisOf analysis(model::make_model(config, "nope"), -1);
  const Analysis a = analysis.run(folder.path / "out", small_options());
  EXPECT_FALSE(a.positions.has_value());
  EXPECT_FALSE(a.ablation.has_value());
  EXPECT_EQ(a.catalogue.heads.size(), 8U);
  EXPECT_EQ(Json::parse(read_file(folder.path / "out" / "analyze.json")).at("dominant"), nullptr);
}

TEST(Spectrum, SlopeOfTheSurrogateIsTheMeasuredGradient) {  // claim L13
  model::ModelConfig config = model::small_config();
  config.vocab = 257;
  AnalyzeOptions options = small_options();
  options.ablation = false;
  options.spectrum = true;
  for (const char* scheme : {"rope", "prope:p=0.5"}) {
    const TempFolder folder("analyze-spectrum");
    AnalysisOf analysis(model::make_model(config, scheme), -1);
    const Analysis a = analysis.run(folder.path / "out", options);
    ASSERT_TRUE(a.spectrum.has_value());
    ASSERT_EQ(a.spectrum->tables.size(), 1U);
    EXPECT_EQ(a.spectrum->tables[0].layers, "0-1");
    EXPECT_LT(a.spectrum->worst, 1e-10) << scheme;
    EXPECT_GT(std::abs(a.spectrum->tables[0].pairs[0].gradient), 1e-9);
    const Analysis again = analysis.run(folder.path / "out", options);  // from spectrum.json
    EXPECT_EQ(to_json(*again.spectrum), to_json(*a.spectrum));
  }
}

/// Values of another model's parameters, as a checkpoint would give them.
class CopiedWeights : public model::WeightSource {
 public:
  explicit CopiedWeights(const model::Transformer& model) : model_(model) {}
  at::ScalarType dtype() const override { return at::kFloat; }
  at::Tensor load(const std::string& name) override { return model_.weight(name).detach(); }

 private:
  const model::Transformer& model_;
};

TEST(Spectrum, WorksOnAModelThatIsOnlyRun) {
  const model::Transformer trained = constructed_model();
  const auto source = std::make_shared<CopiedWeights>(trained);
  AnalyzeOptions options = small_options();
  options.spectrum = true;
  const TempFolder folder("analyze-source");
  const Analysis from = AnalysisOf(trained).run(folder.path / "a", options);
  const Analysis run = AnalysisOf(model::Transformer(trained.config(), trained.plan(), source))
                           .run(folder.path / "b", options);
  EXPECT_EQ(to_json(*run.spectrum), to_json(*from.spectrum));
  EXPECT_EQ(to_text(run), to_text(from));
}

}  // namespace
}  // namespace gyre::analyze
