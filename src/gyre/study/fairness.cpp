#include "gyre/study/fairness.h"

#include <algorithm>

#include "gyre/base/error.h"

namespace gyre::study {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

// Everything that must be equal in every cell, as name and text.
Values fixed_values(const CellRecord& cell) {
  const train::RunManifest& m = cell.manifest;
  Values out = {{"tokens", str(m.tokens)},
                {"train_length", str(m.train_length)},
                {"batch", str(m.batch)},
                {"dtype", m.dtype},
                {"corpus_hash", m.corpus_hash},
                {"tokenizer_hash", m.tokenizer_hash},
                {"truncation_policy", m.truncation_policy},
                {"eval corpus_hash", cell.eval_corpus_hash},
                {"eval tokenizer_hash", cell.eval_tokenizer_hash},
                {"eval n_tokens", str(cell.val_tokens)},
                {"eval blocks", str(cell.blocks.size())},
                {"eval options", cell.eval_options}};
  model::ModelConfig config = m.model;
  for (const Field& field : fields_of(config)) {
    out.emplace_back("model " + field.name, field.get());
  }
  for (const auto& [flag, value] : cell.options) {
    const bool own = flag == "scheme" || flag == "mask" || flag == "seed";
    // Where a run logs does not change it.
    const bool harmless = flag == "log-every" || flag == "checkpoint-every";
    if (!own && !harmless) {
      out.emplace_back("option " + flag, value);
    }
  }
  return out;
}

[[noreturn]] void refuse(const std::string& field, const std::string& a, const std::string& x,
                         const std::string& b, const std::string& y) {
  throw Error(Code::CheckFailed, "unfair comparison: '", field, "' is ", x, " in ", a, " and ", y,
              " in ", b, "; arms may differ in positions and mask only");
}

void check_values(const CellRecord& a, const CellRecord& b, const std::string& a_name,
                  const std::string& b_name) {
  const Values x = fixed_values(a), y = fixed_values(b);
  for (const auto& [field, value] : x) {
    const auto found =
        std::find_if(y.begin(), y.end(), [&](const auto& entry) { return entry.first == field; });
    const std::string other = found == y.end() ? "missing" : found->second;
    if (other != value) {
      refuse(field, a_name, value, b_name, other);
    }
  }
  if (x.size() != y.size()) {
    throw Error(Code::CheckFailed, "unfair comparison: ", a_name, " and ", b_name,
                " have different lists of options; train them with the same version");
  }
}

}  // namespace

void check_comparable(const std::vector<CellRecord>& cells, const std::vector<std::string>& arms,
                      const std::set<std::pair<size_t, int64_t>>& failed) {
  const auto name = [&](const CellRecord& cell) {
    return str(arms.at(cell.arm), " seed ", cell.seed);
  };
  std::set<int64_t> seeds;
  std::set<size_t> present;
  std::set<std::pair<size_t, int64_t>> known = failed;
  for (const CellRecord& cell : cells) {
    seeds.insert(cell.seed);
    present.insert(cell.arm);
    if (!known.emplace(cell.arm, cell.seed).second) {
      throw Error(Code::CheckFailed, "unfair comparison: ", name(cell), " is there twice");
    }
    if (cell.manifest.seed != cell.seed) {
      throw Error(Code::CheckFailed, "unfair comparison: ", name(cell), " was trained with seed ",
                  cell.manifest.seed);
    }
    check_values(cells.front(), cell, name(cells.front()), name(cell));
  }
  for (const size_t arm : present) {
    for (const int64_t seed : seeds) {
      if (!known.contains({arm, seed})) {
        throw Error(Code::CheckFailed, "unfair comparison: seed set: ", arms.at(arm),
                    " has no run with seed ", seed,
                    ", other arms have; add it or leave that seed out");
      }
    }
  }
}

}  // namespace gyre::study
