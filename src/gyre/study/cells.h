// The cells of a comparison (arm x seed): each is `gyre train` and then `gyre eval` in child
// processes of the same program, several at a time. A cell that fails is kept with its error line
// and the others go on; a cell that is complete is not run again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace gyre::study {

enum class CellStatus { Done, Failed, Skipped };
const char* status_name(CellStatus status);

/// What to run. Arguments leave out --threads, which does not decide what a cell is.
struct CellPlan {
  size_t arm = 0;
  int64_t seed = 0;
  std::string label;          // "rope, seed 1"
  std::filesystem::path dir;  // run directory; dir + ".json" is the record, dir + ".log" the output
  std::vector<std::string> train, eval;  // arguments, the verb first
  int64_t after = -1;                    // index of the cell whose run this one reads; -1 = none
};

/// dir + ".json", schema gyre.cell/1.
struct CellResult {
  CellStatus status = CellStatus::Failed;
  double seconds = 0.0;       // training and evaluation
  double peak_rss_mib = 0.0;  // of the training process
  std::string error;
};

struct CellRunner {
  std::filesystem::path program;
  int64_t jobs = 1;
  int64_t threads = 1;                                               // per job
  int64_t tokens = 0;                                                // of one cell, for progress
  std::function<void(const CellPlan&, const CellResult&)> finished;  // may be empty
  std::function<void(int64_t tokens, const std::string& note)> progress;

  /// Runs what is not complete; results in the order of `plans`, in which a cell comes after the
  /// one it reads. After Ctrl-C the children are told to save, waited for, and
  /// train::Interrupted says how many cells are complete.
  std::vector<CellResult> run(const std::vector<CellPlan>& plans) const;
};

/// The stored result when the cell is complete and was made by the same arguments; status Skipped.
bool read_finished(const CellPlan& plan, CellResult& result);

/// The last "tokens" in a metrics.jsonl that is being written; 0 when there is none yet.
int64_t tokens_so_far(const std::filesystem::path& metrics);

}  // namespace gyre::study
