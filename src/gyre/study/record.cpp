#include "gyre/study/record.h"

#include <cmath>
#include <sstream>

#include "gyre/study/json_reader.h"

namespace gyre::study {
namespace {

namespace fs = std::filesystem;

NeedleCount read_needle(const Source& s) {
  NeedleCount out;
  out.distractors = s.at("distractors").integer();
  out.n = s.at("n").integer();
  out.correct = s.at("correct").integer();
  out.chance = s.at("chance").number();
  const Source control = s.at("no_evidence");
  out.control_n = control.at("n").integer();
  out.control_correct =
      std::llround(control.at("accuracy").number() * static_cast<double>(out.control_n));
  for (const Source& bucket : s.at("buckets").items()) {
    const int64_t n = bucket.at("n").integer();
    out.bucket_range.emplace_back(bucket.at("begin").number(), bucket.at("end").number());
    out.bucket_n.push_back(n);
    const double accuracy = bucket.at("accuracy").number();
    out.bucket_correct.push_back(n > 0 ? std::llround(accuracy * static_cast<double>(n)) : 0);
  }
  return out;
}

Bands read_bands(const Source& s) {
  Bands out;
  if (s.json.is_null()) {
    return out;
  }
  out.known = true;
  if (s.has("dominant") && !s.json.at("dominant").empty()) {
    const Source dominant = s.at("dominant");
    out.has_dominant = true;
    out.dominant = {dominant.at("band").integer(), dominant.at("wavelength").number(),
                    dominant.at("over_train_length").number(), dominant.at("ratio").number()};
  }
  for (const Source& pair : s.at("suppressed").items()) {
    out.suppressed.push_back(pair.integer());
  }
  out.gathered = s.at("gathered").integer();
  out.effective_bands = s.has("effective_bands") ? s.at("effective_bands").number() : kUnknown;
  out.cancellation = s.has("cancellation") ? s.at("cancellation").number() : kUnknown;
  return out;
}

void read_eval(const fs::path& file, CellRecord& cell) {
  const Json json = parse_file(file);
  const Source s{json, file.string()};
  const Source val = s.at("val");
  cell.val_loss = val.at("loss").number();
  cell.bits_per_byte = val.has("bits_per_byte") ? val.at("bits_per_byte").number() : kUnknown;
  cell.val_tokens = val.at("n_tokens").integer();
  cell.val_block = val.has("block") ? val.at("block").integer() : 0;
  cell.blocks = val.at("blocks").numbers();
  cell.eval_corpus_hash = s.at("corpus_hash").text();
  cell.eval_tokenizer_hash = s.at("tokenizer_hash").text();
  cell.eval_options = s.at("options").json.dump();
  for (const Source& p : s.at("positions").items()) {
    cell.positions.push_back(
        {p.at("begin").integer(), p.at("end").integer(), p.at("loss").number()});
  }
  for (const Source& length : s.at("lengths").items()) {
    if (const double loss = length.at("loss").number(); std::isfinite(loss)) {
      cell.lengths.push_back({length.at("length").integer(), length.at("windows").text(), loss});
    }
  }
  for (const Source& needle : s.at("needle").items()) {
    cell.needle.push_back(read_needle(needle));
  }
  cell.bands = read_bands(s.at("bands"));
}

// Calls use(line, place) for every whole line of a JSON-lines file.
template <class Use>
void each_line(const fs::path& file, const Use& use) {
  std::istringstream lines(read_file(file));
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) {
      throw Error(Code::Format, file.string(), ": line ", number, " is no JSON object");
    }
    use(Source{json, str(file.string(), ":", number)});
  }
}

// Geometric mean over layers and groups; 0 where any of them stands still.
std::vector<double> mean_bands(const Source& inv_freq) {
  std::vector<double> logs;
  double count = 0;
  for (const Source& layer : inv_freq.items()) {
    for (const Source& group : layer.items()) {
      const std::vector<double> bands = group.numbers();
      logs.resize(std::max(logs.size(), bands.size()), 0.0);
      for (size_t m = 0; m < bands.size(); ++m) {
        logs[m] += std::log(bands[m]);
      }
      count += bands.empty() ? 0 : 1;
    }
  }
  for (double& value : logs) {
    value = std::exp(value / count);
  }
  return logs;
}

void read_config(const fs::path& file, CellRecord& cell) {
  const Json json = parse_file(file);
  for (const auto& [group, values] : Source{json, file.string()}.at("options").json.items()) {
    for (const auto& [flag, value] : values.items()) {
      const bool wrapped = value.is_object() && value.contains("value");
      cell.options[flag] = (wrapped ? value.at("value") : value).dump();
    }
  }
}

}  // namespace

CellRecord read_cell(size_t arm, int64_t seed, const fs::path& dir) {
  CellRecord cell;
  cell.arm = arm;
  cell.seed = seed;
  cell.dir = dir;
  const fs::path manifest = dir / "manifest.json";
  cell.manifest = train::manifest_from_json(read_file(manifest), manifest.string());
  read_config(dir / "config.json", cell);
  const Json train = parse_file(dir / "train.json");
  const Source result{train, (dir / "train.json").string()};
  cell.tokens_per_s = result.at("tokens_per_s").number();
  cell.peak_rss_mib = result.at("peak_rss_mib").number();
  read_eval(dir / "eval.json", cell);
  each_line(dir / "metrics.jsonl", [&](const Source& line) {
    cell.curve_step.push_back(line.at("step").integer());
    cell.curve_loss.push_back(line.at("loss").number());
  });
  each_line(dir / "frequencies.jsonl", [&](const Source& line) {
    cell.frequencies.push_back({line.at("step").integer(), mean_bands(line.at("inv_freq"))});
  });
  return cell;
}

std::vector<size_t> thinned(size_t n, size_t limit) {
  std::vector<size_t> out;
  const size_t count = std::min(n, limit);
  for (size_t i = 0; i < count; ++i) {
    out.push_back(count < 2 ? 0 : (i * (n - 1) + (count - 1) / 2) / (count - 1));
  }
  return out;
}

}  // namespace gyre::study
