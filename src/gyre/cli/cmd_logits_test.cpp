// `gyre logits` on a tiny checkpoint and on a run; faults of usage.
#include <gtest/gtest.h>

#include <cstring>

#include "gyre/base/files.h"
#include "gyre/cli/test_verb.h"
#include "gyre/model/load/load_testing.h"

namespace gyre::cli {

Action add_logits(CLI::App& app);

namespace {

class CmdLogits : public model::LoadTest {
 protected:
  CmdLogits() : tiny_(model::tiny_case("llama")) {
    model::write_checkpoint(folder_, tiny_.at("config"), model::tiny_tensors(tiny_));
    for (const auto& id : tiny_.at("tokens")) {
      tokens_ += (tokens_.empty() ? "" : ",") + id.dump();
    }
  }
  static std::string output_of(const std::string& arguments) {
    CLI::App app;
    const Action action = add_logits(app);
    app.parse(arguments);
    ::testing::internal::CaptureStdout();
    EXPECT_EQ(action(), 0);
    return ::testing::internal::GetCapturedStdout();
  }
  std::string fault(const std::string& arguments) const {
    return cli::message_of(add_logits, arguments);
  }
  model::Json tiny_;
  std::string tokens_;
};

TEST_F(CmdLogits, GivesTheLogitsOfTransformers) {
  const auto json = model::Json::parse(
      output_of(folder_.string() + " --tokens " + tokens_ + " --all --top 3 --json -"));
  EXPECT_EQ(json["schema"], "gyre.logits/1");
  EXPECT_EQ(json["family"], "Llama");
  EXPECT_EQ(json["tokens"], tiny_["tokens"]);
  ASSERT_EQ(json["logits"].size(), 24U);
  for (size_t i = 0; i < tiny_["positions"].size(); ++i) {
    const auto& row = json["logits"][tiny_["positions"][i].get<size_t>()];
    for (size_t v = 0; v < 96; ++v) {
      EXPECT_NEAR(row[v].get<double>(), tiny_["logits"][i][v].get<double>(), 1e-4);
    }
  }
  const auto last = tiny_["logits"].back().get<std::vector<double>>();
  const auto best = std::max_element(last.begin(), last.end()) - last.begin();
  ASSERT_EQ(json["top"].size(), 3U);
  EXPECT_EQ(json["top"][0]["id"], best);
  EXPECT_NEAR(json["top"][0]["logit"].get<double>(), last[static_cast<size_t>(best)], 1e-4);
  EXPECT_GE(json["top"][0]["logit"].get<double>(), json["top"][1]["logit"].get<double>());
}

// The layout is that of numpy.lib.format, version 1.0.
TEST_F(CmdLogits, WritesANumpyFile) {
  const auto path = folder_ / "logits.npy";
  const auto json = model::Json::parse(output_of(folder_.string() + " --tokens " + tokens_ +
                                                 " --all --json - --npy " + path.string()));
  const std::string bytes = read_file(path);
  ASSERT_EQ(bytes.size(), 128U + 24 * 96 * 4);
  EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_TRUE(bytes.substr(10).starts_with(
      "{'descr': '<f4', 'fortran_order': False, 'shape': (24, 96), }  "));
  EXPECT_EQ(bytes[127], '\n');
  float value = 0;
  std::memcpy(&value, bytes.data() + 128 + (5 * 96 + 7) * sizeof value, sizeof value);
  EXPECT_FLOAT_EQ(value, json["logits"][5][7].get<float>());
  const std::string nowhere = (folder_ / "no" / "x.npy").string();
  EXPECT_EQ(fault(folder_.string() + " --tokens 1 --npy " + nowhere),
            str("--npy ", nowhere, ": there is no folder ", (folder_ / "no").string(),
                "; make it or give another path"));
}

TEST_F(CmdLogits, PrintsTheLargest) {
  const std::string text = output_of(folder_.string() + " --tokens 3,4 --dtype bf16 --top 2");
  EXPECT_TRUE(text.starts_with("after 2 tokens\n")) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
}

TEST_F(CmdLogits, TheJsonPathIsCheckedBeforeTheModelIsRead) {
  EXPECT_EQ(fault("no/model --tokens 1 --json nowhere/a.json"),
            "--json nowhere/a.json: there is no folder nowhere; make it or give another path");
}

TEST_F(CmdLogits, FaultsOfUsage) {
  EXPECT_EQ(fault("--text a"),
            "logits: which model? give a folder with config.json, a .gguf file or a run");
  EXPECT_EQ(fault(folder_.string()), "logits: give --text or --tokens, one of them");
  EXPECT_EQ(fault(folder_.string() + " --tokens 1 --dtype fp8"),
            "--dtype must be fp32 or bf16, got 'fp8'");
  EXPECT_EQ(fault(folder_.string() + " --tokens 1 --top 0"), "--top must be at least 1, got 0");
  EXPECT_EQ(fault(folder_.string() + " --tokens 1,x"),
            "--tokens: expected token ids between commas, got 'x'");
  EXPECT_EQ(fault(folder_.string() + " --tokens 1,96"),
            "logits: token 96 is outside the vocabulary of 96");
  EXPECT_EQ(fault(folder_.string() + " --text a"),
            str("logits: ", folder_.string(),
                " has no tokenizer, and texts need one; gyre logits --tokens takes "
                "ids"));
}

}  // namespace
}  // namespace gyre::cli
