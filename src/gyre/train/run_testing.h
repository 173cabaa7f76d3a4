// For tests of runs: a small corpus, a small setup, losses of a run.
#pragma once

#include <ATen/Parallel.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "gyre/base/files.h"
#include "gyre/data/test_folder.h"
#include "gyre/train/trainer.h"

namespace gyre::train {

/// Two layers of width 32 on numbered lines, 24 steps.
inline RunSetup small_setup(const data::TestFolder& folder, const std::string& name,
                            const std::string& scheme = "lerope") {
  for (int i = 0; i < 10; ++i) {
    folder.write(str("corpus/", i, ".txt"), data::numbered_text(1500, str("text", i)));
  }
  RunSetup setup;
  setup.data.data = {(folder / "corpus").string()};
  setup.model.layout = position::PairLayout::Halves;
  setup.model.vocab = 0;
  setup.model.width = 32;
  setup.model.layers = 2;
  setup.model.heads = 2;
  setup.model.head_dim = 16;
  setup.model.hidden = 48;
  setup.train.length = 32;
  setup.train.batch = 4;
  setup.train.tokens = 24 * 4 * 32;
  setup.train.log_every = 1;
  setup.train.eval_tokens = 256;
  setup.scheme = scheme;
  setup.out = folder / name;
  setup.quiet = true;
  return setup;
}

/// The logged losses of a run, in order.
inline std::vector<double> losses_of(const std::filesystem::path& run) {
  std::istringstream lines(read_file(run / "metrics.jsonl"));
  std::vector<double> out;
  int64_t step = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto metric = nlohmann::json::parse(line);
    EXPECT_EQ(metric.at("step").get<int64_t>(), ++step);
    out.push_back(metric.at("loss").get<double>());
  }
  return out;
}

}  // namespace gyre::train
