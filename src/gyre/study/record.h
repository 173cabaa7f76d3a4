// What one finished cell left behind, as plain values: read from a run directory
// (docs/file-formats.md), never from memory, so that a study can be put together again later.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "gyre/study/statistics.h"
#include "gyre/train/run_dir.h"

namespace gyre::study {

struct PositionLoss {
  int64_t begin = 0, end = 0;  // tokens
  double loss = kUnknown;
};

struct LengthLoss {
  int64_t length = 0;
  std::string windows;  // disjoint | sliding
  double loss = kUnknown;
};

struct NeedleCount {
  int64_t distractors = 0, n = 0, correct = 0;
  double chance = kUnknown;
  int64_t control_n = 0, control_correct = 0;           // without the evidence
  std::vector<std::pair<double, double>> bucket_range;  // depth, [begin, end)
  std::vector<int64_t> bucket_n, bucket_correct;
};

struct DominantBand {
  int64_t band = 0;
  double wavelength = kUnknown, over_train_length = kUnknown, ratio = kUnknown;
};

struct Bands {
  bool known = false;  // false when nothing rotates
  bool has_dominant = false;
  DominantBand dominant;
  std::vector<int64_t> suppressed;
  int64_t gathered = 0;
  double effective_bands = kUnknown, cancellation = kUnknown;
};

struct FrequencyPoint {
  int64_t step = 0;
  std::vector<double> inv_freq;  // per pair; geometric mean over layers and groups
};

struct CellRecord {
  size_t arm = 0;
  int64_t seed = 0;
  std::filesystem::path dir;
  train::RunManifest manifest;
  std::map<std::string, std::string> options;  // config.json, "group.flag" -> value as JSON text
  double tokens_per_s = kUnknown;
  double peak_rss_mib = kUnknown;
  double val_loss = kUnknown, bits_per_byte = kUnknown;
  int64_t val_tokens = 0, val_block = 0;
  std::vector<double> blocks;  // validation loss per block
  std::string eval_corpus_hash, eval_tokenizer_hash, eval_options;
  std::vector<PositionLoss> positions;
  std::vector<LengthLoss> lengths;
  std::vector<NeedleCount> needle;
  Bands bands;
  std::vector<FrequencyPoint> frequencies;
  std::vector<int64_t> curve_step;
  std::vector<double> curve_loss;

  bool learned() const { return manifest.plan.learning.sharing != position::Sharing::None; }
};

/// Error(File | Format) names the file and the key that is missing.
CellRecord read_cell(size_t arm, int64_t seed, const std::filesystem::path& dir);

/// At most `limit` points, the first and the last always among them, evenly spread.
std::vector<size_t> thinned(size_t n, size_t limit);

}  // namespace gyre::study
