// `gyre bench`: a tiny run end to end, what each benchmark runs by default, faults of usage.
#include <gtest/gtest.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/cli/program.h"
#include "gyre/cli/test_verb.h"
#include "gyre/model/load/load_testing.h"
#include "gyre/report/bench_page.h"

namespace gyre::cli {

Action add_bench(CLI::App& app);

namespace {

std::string message_of(const std::string& arguments) {
  return cli::message_of(add_bench, arguments);
}

std::string output_of(const std::string& arguments) {
  CLI::App app;
  const Action action = add_bench(app);
  app.parse(arguments);
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(action(), 0);
  return ::testing::internal::GetCapturedStdout();
}

TEST(CmdBench, TrainWithoutAPeerWritesTheRecord) {
  const auto json = nlohmann::json::parse(output_of("train --no-peer --quick --json -"));
  EXPECT_EQ(json["schema"], "gyre.bench/1");
  EXPECT_EQ(json["what"], "train");
  EXPECT_GT(json["tokens_per_s"], 0.0);
  EXPECT_GT(json["peak_gflops"], 0.0);
  EXPECT_GT(json["mfu"], 0.0);
  EXPECT_GT(json["peak_rss_mib"], 10.0);  // of a process that loads libtorch
  EXPECT_TRUE(json["peak_rss_mib_peer"].is_null());
  EXPECT_GT(json["learned_over_fixed"], 0.0);
  for (const auto& row : json["rows"]) {
    for (const char* key : {"what", "ours", "peer", "ratio", "unit"}) {
      EXPECT_TRUE(row.contains(key)) << row.dump();
    }
    EXPECT_TRUE(row["ours"].is_number()) << row.dump();
    EXPECT_TRUE(row["peer"].is_null()) << row.dump();
  }
}

TEST(CmdBench, MemoryIsThatOfProcessesOfItsOwn) {
  const auto json = nlohmann::json::parse(
      output_of("memory --no-peer --quick --kinds causal --lengths 16 --json -"));
  ASSERT_EQ(json["rows"].size(), 2U);
  for (const auto& row : json["rows"]) {
    EXPECT_GT(row["ours"], 10.0) << row.dump();
    EXPECT_TRUE(row["note"].get<std::string>().starts_with("ours started with ")) << row.dump();
  }
}

using CmdBenchInfer = model::LoadTest;

TEST_F(CmdBenchInfer, TimesPrefillAndDecodingAndTheirMemory) {
  const auto tiny = model::tiny_case("llama");
  model::write_checkpoint(folder_, tiny.at("config"), model::tiny_tensors(tiny));
  const auto json = nlohmann::json::parse(output_of(
      "infer --no-peer --quick --new 2 --lengths 16 --json - --model " + folder_.string()));
  EXPECT_EQ(json["what"], "infer");
  ASSERT_EQ(json["rows"].size(), 3U);
  for (const auto& row : json["rows"]) {
    EXPECT_GT(row["ours"].get<double>(), 0.0) << row.dump();
    EXPECT_TRUE(row["peer"].is_null()) << row.dump();
  }
  EXPECT_TRUE(json["rows"][0]["what"].get<std::string>().starts_with("prefill of 16 tokens"));
  EXPECT_TRUE(json["rows"][1]["what"].get<std::string>().starts_with("one token after 16"));
  EXPECT_EQ(json["rows"][2]["what"], "peak memory, decode 16");
  // 2 x 96 x 48 of embedding and head, per layer 2 x 48 x 48 + 2 x 48 x 24 + 3 x 48 x 56, norms;
  // bfloat16 is 2 bytes.
  EXPECT_NEAR(json["weights_mib"].get<double>(), 2.0 * 54480 / (1 << 20), 0.01);
  EXPECT_GT(json["cache_mib"].get<double>(), 0.0);
}

TEST(CmdBench, EachBenchmarkHasItsOwnDefaults) {
  const std::string train = output_of("train --preset large --print-config");
  EXPECT_NE(train.find("width = 512  (large)"), std::string::npos) << train;
  EXPECT_NE(train.find("batch = 8  (large)"), std::string::npos) << train;
  const std::string attention = output_of("attention --print-config");
  EXPECT_NE(attention.find("batch = 1 "), std::string::npos) << attention;
  EXPECT_NE(attention.find("head-dim = [64,128] "), std::string::npos) << attention;
  const std::string length = output_of("length --print-config");
  EXPECT_NE(length.find("lengths = [512,1024,2048,4096,8192,16384,32768] "), std::string::npos)
      << length;
  const std::string given = output_of("attention --head-dim 32,96 --lengths 7 --print-config");
  EXPECT_NE(given.find("head-dim = [32,96]  (flag)"), std::string::npos) << given;
  EXPECT_NE(given.find("lengths = [7]  (flag)"), std::string::npos) << given;
}

TEST(CmdBench, NamesWhatIsWrong) {
  EXPECT_EQ(message_of("speed"),
            "bench: no benchmark 'speed'; known: train, attention, memory, length, infer");
  EXPECT_EQ(
      message_of("infer --no-peer"),
      "bench infer: which model? give --model with a folder with config.json, a .gguf file or a "
      "run");
  EXPECT_EQ(message_of("infer --model x --device cuda"),
            "bench infer measures the CPU; use --device cpu");
  EXPECT_EQ(message_of("train --head-dim 64,128"), "bench train takes one --head-dim, got 2");
  EXPECT_EQ(message_of("train --preset huge"), "--preset must be small or large, got 'huge'");
  EXPECT_EQ(message_of("memory --device cuda"),
            "bench memory measures resident memory; use --device cpu");
  EXPECT_EQ(message_of("train --report no/such/page.html"),
            "--report no/such/page.html: there is no folder no/such; make it or give another path");
  EXPECT_EQ(message_of("train --python /bin/false"),
            "--python /bin/false has no torch; install it there, give another Python, or "
            "--no-peer");
}

TEST(CmdBench, RefusesShapesThatCannotFitBeforeItStarts) {
  for (const char* arguments :
       {"train --batch 1000000000000", "train --vocab 100000000000000000",
        "train --layers 1000000000000", "attention --lengths 16,1000000000000000",
        "attention --heads 1000000000000 --head-dim 1000000000000", "memory --batch 1000000000000",
        "length --lengths 1000000000000000"}) {
    const std::string text = message_of(std::string(arguments) + " --no-peer --quick");
    EXPECT_NE(text.find(" needs at least "), std::string::npos) << arguments << ": " << text;
    EXPECT_NE(text.find(" are free; lower --batch, "), std::string::npos) << text;
  }
}

TEST(CmdBench, ThreadsOutOfRangeAreNamedInALine) {
  for (const char* bad : {"-1", "1025", "x", "1.5"}) {
    CLI::App app;
    const Action action = add_bench(app);
    try {
      app.parse(str("train --threads ", bad));
      ADD_FAILURE() << bad << " was taken";
    } catch (const CLI::ParseError& fault) {
      EXPECT_EQ(fault.what(), str("--threads: must be 0 (all cores) to 1024, got '", bad, "'"));
    }
  }
}

TEST(OutOfMemory, IsAFaultOfUsage) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(out_of_memory(""), 2);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "gyre: out of memory; lower --batch, --length or the model's size\n");
}

TEST(CmdBench, DoesNotOverwriteAPage) {
  const auto path =
      std::filesystem::temp_directory_path() / str("gyre-bench-", ::getpid(), ".html");
  std::ofstream(path) << "x";
  EXPECT_EQ(message_of("train --no-peer --quick --report " + path.string()),
            path.string() + " exists; give another --report or --force");
  std::filesystem::remove(path);
}

TEST(BenchPage, HoldsTheTableTheCurvesAndTheCommand) {
  bench::Record record;
  record.what = "length";
  record.title = "Cost <against> length";
  record.command = "gyre bench length";
  for (const double length : {512.0, 1024.0}) {
    bench::Row row = bench::time_row("causal", "SDPA", {1.0, 2.0}, {length, length});
    row.series = "causal, D 64";
    row.x = length;
    record.rows.push_back(row);
    row.unit = "MiB";
    record.rows.push_back(row);
  }
  record.profile = {{"aten::mm", 4.0, 2.5, 0.9, 120.0, 3.0, 0.5}};
  const std::string page = report::bench_page(record, "/*plotly*/");
  for (const char* part : {"Cost &lt;against&gt; length", "fig-time", "fig-memory", "causal, D 64",
                           "aten::mm", "gyre bench length", "/*plotly*/"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
}

}  // namespace
}  // namespace gyre::cli
