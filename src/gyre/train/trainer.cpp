#include "gyre/train/trainer.h"

#include "gyre/base/files.h"
#include "gyre/base/log.h"
#include "gyre/train/run_record.h"
#include "gyre/train/session.h"

namespace gyre::train {
namespace {

namespace fs = std::filesystem;

/// What is in the output folder already.
enum class Found { Nothing, Started, Finished };

Found look(const fs::path& out) {
  if (fs::exists(out / "train.json")) {
    return Found::Finished;
  }
  return fs::exists(out / "config.json") ? Found::Started : Found::Nothing;
}

void refuse_foreign_folder(const fs::path& out) {
  if (fs::exists(out) && (!fs::is_directory(out) || !fs::is_empty(out))) {
    throw Error(Code::Usage, out.string(),
                ": exists and is not a run directory; choose another --out");
  }
}

void discard(const fs::path& out) {
  for (const char* name : {"config.json", "manifest.json", "metrics.jsonl", "frequencies.jsonl",
                           "checkpoints", "train.json", "eval.json", "failures"}) {
    fs::remove_all(out / name);
  }
}

}  // namespace

RunResult run(const RunSetup& setup) {
  if (setup.out.empty()) {
    throw Error(Code::Usage, "--out is needed: the folder of the run");
  }
  check(setup.train);
  Found found = look(setup.out);
  if (setup.force && found != Found::Nothing) {
    discard(setup.out);
    found = Found::Nothing;
  } else if (found == Found::Nothing) {
    refuse_foreign_folder(setup.out);
  }
  if (setup.resume && found == Found::Nothing) {
    throw Error(Code::Usage, setup.out.string(), ": nothing to resume here; run without --resume");
  }
  if (found != Found::Nothing) {
    check_same_config(setup, setup.out / "config.json");
  }
  if (found == Found::Finished) {
    const fs::path file = setup.out / "train.json";
    RunResult result = result_from_json(read_file(file), file.string());
    result.finished_before = true;
    return result;
  }
  return Session(setup).run();
}

}  // namespace gyre::train
