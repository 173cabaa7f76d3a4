// The folder of an acceptance run: run.json (what decides the run, written before anything is
// sent), samples.jsonl (append-only, one line per attempt), prompts/<sid>.txt.gz (full prompt of
// every item that did not end ok).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "gyre/accept/item.h"

namespace gyre::accept {

/// Reads and writes one line of samples.jsonl, schema gyre.accept_sample/1. The prompt itself is
/// not in it, only its hash. throws Error(Format) on a line that is none.
std::string to_line(const Sample& sample, const std::string& run);
Sample sample_of(const std::string& line);

class Record {
 public:
  /// In memory only: nothing is kept (tests, accept plan).
  Record();
  /// Opens or begins the folder. `settings` decide the run: flag -> value.
  ///
  /// throws  Error(Usage) naming the first setting that differs from the folder's; when the folder
  ///         holds something else; when another run is at work in it
  Record(const std::filesystem::path& dir, const std::map<std::string, std::string>& settings,
         bool force);
  ~Record();
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  /// The final sample of an item, when there is one: the first final one counts, later ones don't.
  std::optional<Sample> find(const std::string& sid) const;
  int64_t attempts(const std::string& sid) const;
  /// Appends an attempt; `final` = it will not be asked again. Writes the prompt when it is final
  /// and not ok. Safe from several threads.
  void add(const Sample& sample, bool final);
  /// All final samples in the order of their lines.
  std::vector<Sample> samples() const;
  const std::string& run() const;  // hash of the settings

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The text of a prompt as it was sent: role lines and contents; what prompts/<sid>.txt.gz holds.
std::string prompt_text(const Ask& ask);
std::string read_prompt(const std::filesystem::path& dir, const std::string& sid);

}  // namespace gyre::accept
