#include "gyre/study/cells.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/progress.h"
#include "gyre/study/process.h"
#include "gyre/train/trainer.h"

namespace gyre::study {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

fs::path beside(const fs::path& dir, const char* ending) {
  return dir.string() + ending;
}

void write_record(const CellPlan& plan, const CellResult& result) {
  const Json record{{"schema", "gyre.cell/1"},   {"status", status_name(result.status)},
                    {"seconds", result.seconds}, {"peak_rss_mib", result.peak_rss_mib},
                    {"error", result.error},     {"train", plan.train},
                    {"eval", plan.eval}};
  write_file_atomic(beside(plan.dir, ".json"), record.dump(1) + "\n");
}

// Runs the cells of one study; a cell moves from waiting over its two stages to a result.
class Loop {
 public:
  Loop(const CellRunner& runner, const std::vector<CellPlan>& plans)
      : runner_(runner), plans_(plans), results_(plans.size()), ended_(plans.size()) {}

  std::vector<CellResult> run() {
    for (size_t i = 0; i < plans_.size(); ++i) {
      if (read_finished(plans_[i], results_[i])) {
        finish(i);
      }
    }
    while (count_ended() < plans_.size()) {
      if (interrupted() && !stopping_) {
        stopping_ = true;
        std::for_each(active_.begin(), active_.end(),
                      [](const Active& a) { a.process.interrupt(); });
      }
      if (stopping_ && active_.empty()) {
        throw train::Interrupted(
            Code::CheckFailed, "interrupted with ", count_ended(), " of ", plans_.size(),
            " cells finished; the rest is saved and goes on with the same command");
      }
      start_more();
      collect();
      report();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    report();
    return results_;
  }

 private:
  struct Active {
    size_t cell;
    bool evaluating;
    Process process;
  };
  const CellRunner& runner_;
  const std::vector<CellPlan>& plans_;
  std::vector<CellResult> results_;
  std::vector<bool> ended_;
  std::vector<Active> active_;
  bool stopping_ = false;

  size_t count_ended() const {
    return static_cast<size_t>(std::count(ended_.begin(), ended_.end(), true));
  }

  void finish(size_t i) {
    ended_[i] = true;
    if (results_[i].status != CellStatus::Skipped) {
      write_record(plans_[i], results_[i]);
    }
    if (runner_.finished) {
      runner_.finished(plans_[i], results_[i]);
    }
  }

  void fail(size_t i, const std::string& error) {
    results_[i].status = CellStatus::Failed;
    results_[i].error = error;
    finish(i);
  }

  bool is_active(size_t i) const {
    return std::any_of(active_.begin(), active_.end(),
                       [i](const Active& a) { return a.cell == i; });
  }

  // The first cell that may start now.
  std::optional<size_t> next_cell() {
    for (size_t i = 0; i < plans_.size(); ++i) {
      const int64_t after = plans_[i].after;
      if (ended_[i] || is_active(i)) {
        continue;
      }
      if (after < 0) {
        return i;
      }
      const auto source = static_cast<size_t>(after);
      if (ended_[source] && results_[source].status == CellStatus::Failed) {
        fail(i, str("not run: it reads the run of ", plans_[source].label, ", which failed"));
      } else if (ended_[source]) {
        return i;
      }
    }
    return std::nullopt;
  }

  void start(size_t i, bool evaluating) {
    std::vector<std::string> args = evaluating ? plans_[i].eval : plans_[i].train;
    args.push_back("--threads=" + std::to_string(runner_.threads));
    active_.push_back(
        {i, evaluating, Process(runner_.program, args, beside(plans_[i].dir, ".log"))});
  }

  void start_more() {
    while (!stopping_ && static_cast<int64_t>(active_.size()) < runner_.jobs) {
      const auto cell = next_cell();
      if (!cell) {
        return;
      }
      fs::create_directories(plans_[*cell].dir.parent_path());
      start(*cell, false);
    }
  }

  void collect() {
    std::vector<size_t> trained;
    for (size_t a = 0; a < active_.size();) {
      Ended ended;
      if (!active_[a].process.poll(ended)) {
        ++a;
        continue;
      }
      const size_t cell = active_[a].cell;
      const bool evaluated = active_[a].evaluating;
      active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(a));
      results_[cell].seconds += ended.seconds;
      if (!evaluated) {
        results_[cell].peak_rss_mib = ended.peak_rss_mib;
      }
      if (stopping_) {
        continue;  // stopped on request: neither done nor failed
      }
      if (ended.status != 0) {
        fail(cell, failure_line(ended, beside(plans_[cell].dir, ".log")));
      } else if (evaluated) {
        results_[cell].status = CellStatus::Done;
        finish(cell);
      } else {
        trained.push_back(cell);
      }
    }
    for (const size_t cell : trained) {
      start(cell, true);
    }
  }

  void report() const {
    if (!runner_.progress) {
      return;
    }
    int64_t tokens = static_cast<int64_t>(count_ended()) * runner_.tokens;
    std::string note;
    for (const Active& a : active_) {
      tokens += a.evaluating
                    ? runner_.tokens
                    : std::min(runner_.tokens, tokens_so_far(plans_[a.cell].dir / "metrics.jsonl"));
      note += (note.empty() ? "" : " | ") + plans_[a.cell].label + (a.evaluating ? " (eval)" : "");
    }
    runner_.progress(tokens, str(count_ended(), "/", plans_.size(), " cells  ", note));
  }
};

}  // namespace

const char* status_name(CellStatus status) {
  switch (status) {
    case CellStatus::Done:
      return "done";
    case CellStatus::Skipped:
      return "skipped";
    case CellStatus::Failed:
      break;
  }
  return "failed";
}

std::vector<CellResult> CellRunner::run(const std::vector<CellPlan>& plans) const {
  return Loop(*this, plans).run();
}

bool read_finished(const CellPlan& plan, CellResult& result) {
  const fs::path record = beside(plan.dir, ".json");
  if (!fs::exists(record) || !fs::exists(plan.dir / "train.json") ||
      !fs::exists(plan.dir / "eval.json")) {
    return false;
  }
  const Json json = Json::parse(read_file(record), nullptr, false);
  if (!json.is_object() || json.value("status", "") != "done" ||
      json.value("train", Json()) != Json(plan.train) ||
      json.value("eval", Json()) != Json(plan.eval)) {
    return false;
  }
  result.status = CellStatus::Skipped;
  result.seconds = json.value("seconds", 0.0);
  result.peak_rss_mib = json.value("peak_rss_mib", 0.0);
  return true;
}

int64_t tokens_so_far(const fs::path& metrics) {
  std::ifstream file(metrics, std::ios::binary | std::ios::ate);
  if (!file) {
    return 0;
  }
  constexpr std::streamoff kTail = 4096;
  const std::streamoff size = file.tellg();
  file.seekg(std::max<std::streamoff>(0, size - kTail));
  const std::string tail((std::istreambuf_iterator<char>(file)), {});
  const size_t end = tail.rfind('\n');  // the line after it may be half written
  if (end == std::string::npos) {
    return 0;
  }
  const size_t begin = end == 0 ? std::string::npos : tail.rfind('\n', end - 1);
  const size_t first = begin == std::string::npos ? 0 : begin + 1;
  const Json line = Json::parse(tail.substr(first, end - first), nullptr, false);
  return line.is_object() ? line.value("tokens", int64_t{0}) : 0;
}

}  // namespace gyre::study
